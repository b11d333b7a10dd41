"""Rankings whose first items come from shards: the best of all is the best of the shards' best."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from seeker.cluster.messages import Found
from seeker.display.order import best
from seeker.types import Doubles, Rows

Ask: TypeAlias = Callable[[int], tuple[list[Found], bool]]
"""ask(count): what every shard has first, (count,) items each, and whether all have answered."""


class Merged:
    """All items of a scene by some values, ties by row; those that come later, by the same values.

    value(rows): the values of some items, (rows,), computed at the front.
    """

    def __init__(
        self, total: int, later: tuple[Rows, ...], ask: Ask, value: Callable[[Rows], Doubles]
    ) -> None:
        self.total = total
        self.partial = False
        self._later = later
        self._early = total - sum(len(rows) for rows in later)
        self._ask = ask
        self._value = value
        self._rows: Rows = np.empty(0, np.int64)

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,)."""
        if count <= len(self._rows) or len(self._rows) == self.total:
            return self._rows[:count]
        wanted = min(max(count, 2 * len(self._rows)), self.total)
        rows, whole = self._first(wanted)
        self.partial = not whole
        if whole:
            self._rows = rows
        return rows[:count]

    def _first(self, wanted: int) -> tuple[Rows, bool]:
        groups, whole = [np.empty(0, np.int64)], True
        if self._early:
            count = min(wanted, self._early)
            found, whole = self._ask(count)
            rows = np.concatenate([one.rows for one in found])
            values = np.concatenate([one.values for one in found])
            groups.append(best(rows, values, count))
        for rows in self._later:
            if sum(map(len, groups)) < wanted:
                groups.append(best(rows, self._value(rows)))
        return np.concatenate(groups), whole
