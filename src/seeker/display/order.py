"""Items by score and keyed noise, best first, exactly, looking closely at as few as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seeker.display.ranking import ByValue, best
from seeker.display.values import Noise, noisy_scores
from seeker.models.batch import scratch
from seeker.types import Doubles, Floats, Rows

if TYPE_CHECKING:
    from seeker.display.scene import Scene

SMALL = 4096
"""Catalogs up to this size are simply sorted."""

_FIRST_LOOK = 256
_SECOND_LOOK = 4096
_FARTHER = 8
_SAMPLE = 50_000


class Order(ByValue):
    """All items of a scene by z = score + width · noise / √(1 + clicks), ties by row.

    To fill the first places, the items are walked by an upper bound of z that needs no vectors;
    only those that could still be among the best are evaluated. What comes out is what sorting
    all items by z would give.
    """

    def __init__(self, scene: Scene, width: float, per_click: bool = True) -> None:
        super().__init__(scene.total, scene.later)
        self.scene = scene
        self._noise = Noise(scene, width, per_click)

    def values(self, rows: Rows) -> Doubles:
        """Return the exact z of some items, (rows,)."""
        return noisy_scores(self.scene.scores, self._noise, rows)

    def _best(self, count: int) -> Rows:
        if self._early <= SMALL or 4 * count > self._early:
            self.scene.scores.settle()
            return self._in_full(count)
        later = {row for rows in self.scene.later for row in rows.tolist()}
        apart = np.array(
            [row for row in self._noise.clicked.tolist() if row not in later], np.int64
        )
        upper = self.scene.scores.bounds()
        aside = np.concatenate([*self.scene.later, apart])
        held = upper[aside]
        upper[aside] = -np.inf
        try:
            found = self._close_look(upper, apart, count)
        finally:
            upper[aside] = held
        if found is None:
            self.scene.scores.settle()
            return self._best(count)
        return found

    def _in_full(self, count: int) -> Rows:
        """Return the best after evaluating all items that need not come later."""
        rows = self.scene.candidates()
        return best(rows, self.values(rows), count)

    def _close_look(self, upper: Floats, apart: Rows, count: int) -> Rows | None:
        """Return the best by bounds first and exact values then; None if too many come close."""
        from seeker.kernels.noise import bound
        from seeker.kernels.threads import in_parts

        bounds = scratch("bounds", upper.shape, upper.dtype)
        keep = max(_FIRST_LOOK, 2 * count)
        width = np.float32(self._noise.width * (1.0 + 1e-6))

        def scan(start: int, stop: int) -> Rows:
            part = slice(start, stop)
            number = self.scene.first + start
            places: Rows = bound(upper[part], number, self._noise.key, width, bounds[part], keep)
            return places + start

        found = np.concatenate(in_parts(len(upper), scan))
        likely = found[np.argsort(-bounds[found], kind="stable")[:keep]]
        likely = np.concatenate([likely, apart])
        if len(likely) < count:
            if self.scene.scores.pending:
                return None
            return self._in_full(count)
        return self._deeper(bounds, likely, count)

    def _deeper(self, bounds: Floats, rows: Rows, count: int) -> Rows | None:
        """Evaluate some items, then those whose bounds come up to the best of them.

        Where these are many, the most promising come first: they raise what the others must reach.
        """
        from seeker.kernels.noise import above

        scores, values = self.scene.scores, self.values(rows)
        most = len(bounds) // 10 if scores.pending else len(bounds)
        straining = len(bounds) // 500
        while True:
            bounds[rows] = -np.inf
            enough = float(np.partition(values, len(values) - count)[len(values) - count])
            slack = 1e-6 * (1.0 + abs(enough) + 40.0 * self._noise.width)
            limit = np.float32(enough - slack - scores.ceiling())
            few = max(_SECOND_LOOK, straining, _FARTHER * len(rows))
            close = above(bounds, limit, few)
            scores.strained |= scores.pending and len(close) > straining
            if len(close) == 0:
                return best(rows, values, count)
            if len(close) <= few:
                values = np.concatenate([values, self.values(close)])
                return best(np.concatenate([rows, close]), values, count)
            if len(rows) + few > most:
                return None
            close = above(bounds, max(limit, _reached_by(bounds, few)), 2 * few)
            values = np.concatenate([values, self.values(close)])
            rows = np.concatenate([rows, close])


def _reached_by(bounds: Floats, count: int) -> np.float32:
    """Return a number that about so many bounds reach, as an even sample tells."""
    sample = bounds[:: max(1, len(bounds) // _SAMPLE)]
    place = min(len(sample) - 1, int(len(sample) * count / len(bounds)))
    return np.float32(np.partition(sample, len(sample) - 1 - place)[len(sample) - 1 - place])
