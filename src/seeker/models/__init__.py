"""Models: how clicks become a log-likelihood for every item."""

from seeker.models.base import Evidence, Judged, Model, Said, Spoken
from seeker.models.bipartite import Bipartite
from seeker.models.choice import Choice
from seeker.models.pairwise import Pairwise
from seeker.models.registry import DEFAULT, from_json, named, to_json
from seeker.models.relative import Relative

__all__ = [
    "DEFAULT",
    "Bipartite",
    "Choice",
    "Evidence",
    "Judged",
    "Model",
    "Pairwise",
    "Relative",
    "Said",
    "Spoken",
    "from_json",
    "named",
    "to_json",
]
