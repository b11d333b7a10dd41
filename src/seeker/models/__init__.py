"""Models: how clicks become a log-likelihood for every item."""

from seeker.models.base import ClickEvidence, Evidence, Model, TextEvidence, TextTerm
from seeker.models.choice import Choice, Relative
from seeker.models.pairwise import Bipartite, Pairwise
from seeker.registry import Registry

MODELS: Registry[Model] = Registry("model", Model, (Choice, Relative, Pairwise, Bipartite))
"""The models by name, and as plain JSON."""

DEFAULT = "choice"
named = MODELS.named
to_json = MODELS.to_json
from_json = MODELS.from_json

__all__ = [
    "DEFAULT",
    "Bipartite",
    "Choice",
    "ClickEvidence",
    "Evidence",
    "Model",
    "Pairwise",
    "Relative",
    "TextEvidence",
    "TextTerm",
    "from_json",
    "named",
    "to_json",
]
