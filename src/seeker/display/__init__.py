"""Strategies: how a belief becomes a ranking of the whole catalog."""

from seeker.display.base import Strategy
from seeker.display.boltzmann import Boltzmann
from seeker.display.context import RankingContext
from seeker.display.diverse import Diverse
from seeker.display.ranking import Ranking
from seeker.display.registry import DEFAULT, from_json, named, to_json
from seeker.display.simple import EpsilonGreedy, Greedy, Random
from seeker.display.topk import Shortlist, ShortlistExhausted

__all__ = [
    "DEFAULT",
    "Boltzmann",
    "Diverse",
    "EpsilonGreedy",
    "Greedy",
    "Random",
    "Ranking",
    "RankingContext",
    "Shortlist",
    "ShortlistExhausted",
    "Strategy",
    "from_json",
    "named",
    "to_json",
]
