"""Strategies: how a belief becomes a ranking of the whole catalog."""

from seeker.display.base import RankingContext, Strategy
from seeker.display.first_page import POOL_PAGES
from seeker.display.ranking import Ranking, Shortlist, ShortlistExhausted
from seeker.display.strategies import (
    Boltzmann,
    CorrelatedBoltzmann,
    Diverse,
    EpsilonGreedy,
    Greedy,
    Random,
)
from seeker.registry import Registry

STRATEGIES: Registry[Strategy] = Registry(
    "strategy", Strategy, (Boltzmann, Greedy, EpsilonGreedy, Random, Diverse, CorrelatedBoltzmann)
)
"""The strategies by name, and as plain JSON."""

DEFAULT = "boltzmann"
named = STRATEGIES.named
to_json = STRATEGIES.to_json
from_json = STRATEGIES.from_json

__all__ = [
    "DEFAULT",
    "POOL_PAGES",
    "Boltzmann",
    "CorrelatedBoltzmann",
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
