"""Strategies by name, and as plain JSON."""

from __future__ import annotations

from seeker.display.base import Strategy
from seeker.display.boltzmann import Boltzmann
from seeker.display.diverse import Diverse
from seeker.display.simple import EpsilonGreedy, Greedy, Random
from seeker.registry import Registry

_STRATEGIES: Registry[Strategy] = Registry(
    "strategy", Strategy, (Boltzmann, Greedy, EpsilonGreedy, Random, Diverse)
)

DEFAULT = "boltzmann"
named = _STRATEGIES.named
to_json = _STRATEGIES.to_json
from_json = _STRATEGIES.from_json
