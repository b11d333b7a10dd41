"""Everything that searches, under one contract: Seeker itself and its rivals."""

from seeker.lab.rivals.base import Feedback, Rival, Search, Searcher
from seeker.lab.rivals.control import Chance, NoFeedback
from seeker.lab.rivals.exquisitor import LinearSVM
from seeker.lab.rivals.gausssearch import GaussSearch
from seeker.lab.rivals.infogain import InfoGain
from seeker.lab.rivals.pichunter import PicHunter
from seeker.lab.rivals.qdrant import AverageVector, BestScore, Context, Discovery, SumScores
from seeker.lab.rivals.rocchio import Rocchio
from seeker.lab.rivals.seeker import Seeker
from seeker.lab.rivals.somhunter import SOMHunter

RIVALS: tuple[Searcher, ...] = (
    NoFeedback(),
    Chance(),
    Rocchio(),
    AverageVector(),
    BestScore(),
    SumScores(),
    Context(),
    Discovery(),
    LinearSVM(),
    PicHunter(),
    SOMHunter(),
    GaussSearch(),
    InfoGain(),
)

__all__ = [
    "RIVALS",
    "AverageVector",
    "BestScore",
    "Chance",
    "Context",
    "Discovery",
    "Feedback",
    "GaussSearch",
    "InfoGain",
    "LinearSVM",
    "NoFeedback",
    "PicHunter",
    "Rival",
    "Rocchio",
    "SOMHunter",
    "Search",
    "Searcher",
    "Seeker",
    "SumScores",
]
