"""Items by score and keyed noise, best first, exactly, looking closely at as few as possible."""

from __future__ import annotations

import numpy as np

from seeker.display import keys
from seeker.display.base import Scene
from seeker.models.batch import scratch
from seeker.types import Doubles, Floats, Rows

SMALL = 4096
"""Catalogs up to this size are simply sorted."""

_FIRST_LOOK = 256
_SECOND_LOOK = 4096
_FARTHER = 8
_SAMPLE = 50_000


class Order:
    """All items of a scene by z = score + width · noise / √(1 + clicks), ties by row.

    To fill the first places, the items are walked by an upper bound of z that needs no vectors;
    only those that could still be among the best are evaluated. What comes out is what sorting
    all items by z would give.
    """

    def __init__(self, scene: Scene, width: float, per_click: bool = True) -> None:
        self.scene = scene
        self.width = width
        self.total = scene.total
        self._key = keys.key(scene.seed, scene.step, keys.RANKING)
        clicks = dict(sorted(scene.clicks.items())) if per_click and width > 0.0 else {}
        self._clicked: Rows = np.fromiter(clicks, np.int64, len(clicks))
        self._calmer: Doubles = np.sqrt(1.0 + np.fromiter(clicks.values(), np.float64, len(clicks)))
        self._rows: Rows = np.empty(0, np.int64)
        self._early = self.total - sum(len(rows) for rows in scene.later)

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,)."""
        if count > len(self._rows) < self.total:
            wanted = min(max(count, 2 * len(self._rows)), self.total)
            groups = [self._best(min(wanted, self._early))]
            for rows in self.scene.later:
                if sum(map(len, groups)) < wanted:
                    groups.append(self._sorted(rows))
            self._rows = np.concatenate(groups)
        return self._rows[:count]

    def early(self, count: int) -> Rows:
        """Return the first items of those that need not come later, (count,) or fewer."""
        return self._best(min(count, self._early)) if self._early else np.empty(0, np.int64)

    def z(self, rows: Rows) -> Doubles:
        """Return the exact z of some items, (rows,)."""
        value = self.scene.scores.at(rows)
        if self.width > 0.0:
            from seeker.kernels.noise import gumbel

            noise = np.empty(len(rows))
            gumbel(self._key, rows + self.scene.first, noise)
            noise *= self.width
            if len(self._clicked):
                place = np.minimum(self._clicked.searchsorted(rows), len(self._clicked) - 1)
                noise /= np.where(self._clicked[place] == rows, self._calmer[place], 1.0)
            value += noise
        return value

    def _sorted(self, rows: Rows, count: int | None = None) -> Rows:
        """Return the best of the rows by z, ties by row."""
        return best(rows, self.z(rows), count)

    def _best(self, count: int) -> Rows:
        """Return the best items that are not later ones."""
        if self._early <= SMALL or 4 * count > self._early:
            self.scene.scores.settle()
            return self._sorted(self.scene.candidates(), count)
        later = {row for rows in self.scene.later for row in rows.tolist()}
        apart = np.array([row for row in self._clicked.tolist() if row not in later], np.int64)
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

    def _close_look(self, upper: Floats, apart: Rows, count: int) -> Rows | None:
        """Return the best by bounds first and exact values then; None if too many come close."""
        from seeker.kernels.noise import bound
        from seeker.kernels.threads import in_parts

        bounds = scratch("bounds", upper.shape, upper.dtype)
        keep = max(_FIRST_LOOK, 2 * count)
        width = np.float32(self.width * (1.0 + 1e-6))

        def scan(start: int, stop: int) -> Rows:
            part = slice(start, stop)
            number = self.scene.first + start
            places: Rows = bound(upper[part], number, self._key, width, bounds[part], keep)
            return places + start

        found = np.concatenate(in_parts(len(upper), scan))
        likely = found[np.argsort(-bounds[found], kind="stable")[:keep]]
        likely = np.concatenate([likely, apart])
        if len(likely) < count:
            if self.scene.scores.pending:
                return None
            return self._sorted(self.scene.candidates(), count)
        return self._deeper(bounds, likely, count)

    def _deeper(self, bounds: Floats, rows: Rows, count: int) -> Rows | None:
        """Evaluate some items, then those whose bounds come up to the best of them.

        Where these are many, the most promising come first: they raise what the others must reach.
        """
        from seeker.kernels.noise import above

        scores, values = self.scene.scores, self.z(rows)
        most = len(bounds) // 10 if scores.pending else len(bounds)
        straining = len(bounds) // 500
        while True:
            bounds[rows] = -np.inf
            enough = float(np.partition(values, len(values) - count)[len(values) - count])
            slack = 1e-6 * (1.0 + abs(enough) + 40.0 * self.width)
            limit = np.float32(enough - slack - scores.ceiling())
            few = max(_SECOND_LOOK, straining, _FARTHER * len(rows))
            close = above(bounds, limit, few)
            scores.strained |= scores.pending and len(close) > straining
            if len(close) == 0:
                return best(rows, values, count)
            if len(close) <= few:
                return best(
                    np.concatenate([rows, close]), np.concatenate([values, self.z(close)]), count
                )
            if len(rows) + few > most:
                return None
            close = above(bounds, max(limit, _reached_by(bounds, few)), 2 * few)
            rows, values = np.concatenate([rows, close]), np.concatenate([values, self.z(close)])


def _reached_by(bounds: Floats, count: int) -> np.float32:
    """Return a number that about so many bounds reach, as an even sample tells."""
    sample = bounds[:: max(1, len(bounds) // _SAMPLE)]
    place = min(len(sample) - 1, int(len(sample) * count / len(bounds)))
    return np.float32(np.partition(sample, len(sample) - 1 - place)[len(sample) - 1 - place])


class Sorted:
    """All items of a scene by given values, (items,), highest first, ties by row."""

    def __init__(self, scene: Scene, values: Doubles) -> None:
        self.scene = scene
        self.values = values
        self.total = scene.total
        self._rows: Rows = np.empty(0, np.int64)

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,)."""
        if count > len(self._rows) < self.total:
            wanted = min(max(count, 2 * len(self._rows)), self.total)
            groups = [self.early(wanted)]
            groups += [best(rows, self.values[rows]) for rows in self.scene.later]
            self._rows = np.concatenate(groups) if wanted > len(groups[0]) else groups[0]
        return self._rows[:count]

    def early(self, count: int) -> Rows:
        """Return the first items of those that need not come later, (count,) or fewer."""
        rows = self.scene.candidates()
        return best(rows, self.values[rows], count)


def best(rows: Rows, values: Doubles, count: int | None = None) -> Rows:
    """Return the rows with the highest values, highest first, ties by row."""
    if count is not None and count < len(rows):
        least = np.partition(values, len(values) - count)[len(values) - count]
        among = values >= least
        rows, values = rows[among], values[among]
    return rows[np.lexsort((rows, -values))][:count]
