"""Controls: what one finds without listening to anybody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seeker.lab.rivals.base import Feedback, Rival, Turn
from seeker.lab.rivals.joint import Joint
from seeker.types import Doubles, Rows


@dataclass(frozen=True)
class NoFeedback(Rival):
    """Leafs through the catalog in an order fixed beforehand: by nearness to the average item."""

    name = "no feedback"

    def values(self, space: Joint, history: tuple[Feedback, ...]) -> Doubles:
        return np.asarray(-space.squares, np.float64)


@dataclass(frozen=True)
class Chance(Rival):
    """Shows new items at random."""

    name = "random"

    def values(self, space: Joint, history: tuple[Feedback, ...]) -> Doubles:
        return np.zeros(space.count)

    def choose(self, turn: Turn) -> Rows:
        return turn.rng.choice(turn.free, turn.count, replace=False)
