"""Strategies: how a belief becomes a ranking of the whole catalog."""

from seeker.display.base import RankingContext, Strategy
from seeker.display.first_page import POOL_PAGES
from seeker.display.informative import Informative
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
    "strategy",
    Strategy,
    (Boltzmann, Greedy, EpsilonGreedy, Random, Diverse, CorrelatedBoltzmann, Informative),
)
"""The strategies by name, and as plain JSON."""

DEFAULT = "boltzmann"
LEARNED = "informative"
"""What sessions begin with in catalogs that have learned from past searches,"""
LEARNED_ITEMS = 10_000
"""of so many items at most: in larger ones a page would cost many times what it does."""
named = STRATEGIES.named
to_json = STRATEGIES.to_json
from_json = STRATEGIES.from_json

__all__ = [
    "DEFAULT",
    "LEARNED",
    "LEARNED_ITEMS",
    "POOL_PAGES",
    "Boltzmann",
    "CorrelatedBoltzmann",
    "Diverse",
    "EpsilonGreedy",
    "Greedy",
    "Informative",
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
