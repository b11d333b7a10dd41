"""Strategies: how a belief becomes a ranking of the whole catalog."""

from seeker.display.base import Strategy
from seeker.display.boltzmann import Boltzmann
from seeker.display.diverse import Diverse
from seeker.display.epsilon import EpsilonGreedy
from seeker.display.greedy import Greedy
from seeker.display.random import Random
from seeker.display.ranking import Ranking
from seeker.display.registry import DEFAULT, from_json, named, to_json
from seeker.display.scene import Scene
from seeker.display.shortlist import Shortlist, TooShort

__all__ = [
    "DEFAULT",
    "Boltzmann",
    "Diverse",
    "EpsilonGreedy",
    "Greedy",
    "Random",
    "Ranking",
    "Scene",
    "Shortlist",
    "Strategy",
    "TooShort",
    "from_json",
    "named",
    "to_json",
]
