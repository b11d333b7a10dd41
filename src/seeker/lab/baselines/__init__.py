"""Everything that searches, under one contract: Seeker itself and its baselines."""

from seeker.lab.baselines.base import Baseline, Feedback, Search, Searcher
from seeker.lab.baselines.bayesian import (
    GaussSearch,
    InfoGain,
    PicHunter,
    SOMHunter,
    SubPerceptions,
)
from seeker.lab.baselines.qdrant import AverageVector, BestScore, Context, Discovery, SumScores
from seeker.lab.baselines.seeker import Seeker
from seeker.lab.baselines.simple import Chance, LinearSVM, NoFeedback, Rocchio

BASELINES: tuple[Searcher, ...] = (
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
    SubPerceptions(),
    GaussSearch(),
    InfoGain(),
)

__all__ = [
    "BASELINES",
    "AverageVector",
    "Baseline",
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
    "Rocchio",
    "SOMHunter",
    "Search",
    "Searcher",
    "Seeker",
    "SubPerceptions",
    "SumScores",
]
