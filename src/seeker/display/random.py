"""Pure exploration: every order of the items is as likely as any other."""

from __future__ import annotations

from dataclasses import dataclass

from seeker.display import keys
from seeker.display.base import Ranking, Scene, Strategy
from seeker.display.order import Sorted


@dataclass(frozen=True)
class Random(Strategy):
    """All items in an order drawn anew at every step."""

    name = "random"

    def rank(self, scene: Scene) -> Ranking:
        key = keys.key(scene.seed, scene.step, keys.RANKING)
        return Sorted(scene, keys.uniforms(key, scene.scores.count))

    def bolder(self, level: float) -> Strategy:
        """Return itself: there is nothing bolder, and nothing to be less bold with."""
        return self
