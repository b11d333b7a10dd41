"""Pure exploration: every order of the items is as likely as any other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seeker.display import keys
from seeker.display.base import Ranking, Scene, Strategy
from seeker.types import Doubles, Rows


@dataclass(frozen=True)
class Random(Strategy):
    """All items in an order drawn anew at every step."""

    name = "random"

    def rank(self, scene: Scene) -> Ranking:
        return scene.shuffled()

    def bolder(self, level: float) -> Strategy:
        """Return itself: there is nothing bolder, and nothing to be less bold with."""
        return self


def shuffled(scene: Scene, rows: Rows | None = None) -> Doubles:
    """Return the noise by which all items, or some rows, are ordered, (items,) or (rows,)."""
    key = keys.key(scene.seed, scene.step, keys.RANKING)
    places = np.arange(scene.scores.count) if rows is None else rows
    return keys.uniforms_at(key, places + scene.first)
