"""Models: how clicks become a log-likelihood for every item."""

from seeker.models.base import ClickEvidence, Evidence, Model, TextEvidence, TextTerm
from seeker.models.bipartite import Bipartite
from seeker.models.choice import Choice
from seeker.models.pairwise import Pairwise
from seeker.models.registry import DEFAULT, from_json, named, to_json
from seeker.models.relative import Relative

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
