"""Pure exploitation: the paper's noiseless display."""

from __future__ import annotations

from dataclasses import dataclass

from seeker.display.base import Strategy
from seeker.display.boltzmann import PAPER_C, Boltzmann
from seeker.display.cover import First, check_first, covered
from seeker.display.ranking import Ranking
from seeker.display.scene import Scene


@dataclass(frozen=True)
class Greedy(Strategy):
    """The most probable items first. first="cover": a covering page while nothing is known."""

    name = "greedy"
    first: First = "cover"

    def __post_init__(self) -> None:
        check_first(self.first)

    def rank(self, scene: Scene) -> Ranking:
        return covered(scene, scene.ordered(0.0), self.first)

    def bolder(self, level: float) -> Strategy:
        """Return Boltzmann exploration where some is asked for: greedy by itself has none."""
        return self if level <= 1.0 else Boltzmann(PAPER_C * (level - 1.0), first=self.first)
