"""Epsilon-greedy: the most probable items, some of them replaced by chance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seeker.display import keys
from seeker.display.base import Strategy
from seeker.display.cover import First, check_first
from seeker.display.greedy import Greedy
from seeker.display.ranking import Ranking
from seeker.display.scene import Scene
from seeker.display.shortlist import Shortlist
from seeker.numbers import check_number
from seeker.types import Rows

_TRIES = 64


@dataclass(frozen=True)
class EpsilonGreedy(Strategy):
    """The greedy order, each place given to an item picked evenly with probability epsilon."""

    name = "epsilon"
    epsilon: float = 0.1
    first: First = "cover"

    def __post_init__(self) -> None:
        check_number("epsilon", self.epsilon, 0.0, below=np.nextafter(1.0, 2.0))
        check_first(self.first)

    def rank(self, scene: Scene) -> Ranking:
        return _Replaced(scene, Greedy(self.first).rank(scene), self.epsilon)

    def bolder(self, level: float) -> Strategy:
        return replace(self, epsilon=min(1.0, self.epsilon * level))


class _Replaced:
    """A ranking in which some places were swapped with places picked by chance.

    A picked item and the one it replaces change places, so every item still comes exactly once.
    The picked item's own place need not be known until the walk gets there.
    """

    def __init__(self, scene: Scene, ranking: Ranking, epsilon: float) -> None:
        self.scene = scene
        self.ranking = ranking
        self.epsilon = epsilon
        self.total = ranking.total
        self._candidates = scene.candidates()
        self._rows: list[int] = []
        self._placed: set[int] = set()
        self._instead: dict[int, int] = {}
        self._coins = keys.key(scene.seed, scene.step, keys.PLACE)

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,)."""
        count = min(count, self.total)
        if count > len(self._rows):
            start = len(self._rows)
            coins = keys.uniforms(self._coins, count)
            for place, row in enumerate(self.ranking.head(count)[start:].tolist(), start):
                while row in self._placed:
                    row = self._instead[row]
                if coins[place] < self.epsilon and place < len(self._candidates):
                    row = self._replaced(place, row)
                self._placed.add(row)
                self._rows.append(row)
        return np.array(self._rows[:count], np.int64)

    def shortlist(self) -> Shortlist | None:
        """Return the items that can lead the order after the next click, if that can be told."""
        return self.ranking.shortlist()

    def _replaced(self, place: int, row: int) -> int:
        """Return an item picked evenly among those not placed yet, and note the swap."""
        picks = keys.uniforms(keys.key(self.scene.seed, self.scene.step, keys.PICK, place), _TRIES)
        for pick in picks:
            other = int(self._candidates[int(pick * len(self._candidates))])
            if other not in self._placed:
                self._instead[other] = row
                return other
        return row
