"""Pure exploration: every order of the items is as likely as any other."""

from __future__ import annotations

from dataclasses import dataclass

from seeker.display.base import Strategy
from seeker.display.ranking import Ranking
from seeker.display.scene import Scene


@dataclass(frozen=True)
class Random(Strategy):
    """All items in an order drawn anew at every step."""

    name = "random"

    def rank(self, scene: Scene) -> Ranking:
        return scene.shuffled()

    def bolder(self, level: float) -> Strategy:
        """Return itself: there is nothing bolder, and nothing to be less bold with."""
        return self
