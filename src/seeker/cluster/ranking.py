"""Rankings whose first items come from shards: the best of all is the best of the shards' best."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from seeker.cluster.messages import Found
from seeker.display.order import best
from seeker.types import Doubles, Rows

Ask: TypeAlias = Callable[[int], list[Found]]
"""ask(count): what every shard that answers has first, (count,) items each."""


class Merged:
    """All items of a scene by some values, ties by row; those that come later, by the same values.

    value(rows): the values of some items, (rows,), computed at the front.
    """

    def __init__(
        self, total: int, later: tuple[Rows, ...], ask: Ask, value: Callable[[Rows], Doubles]
    ) -> None:
        self.total = total
        self._later = later
        self._early = total - sum(len(rows) for rows in later)
        self._ask = ask
        self._value = value
        self._rows: Rows = np.empty(0, np.int64)

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,)."""
        if count > len(self._rows) < self.total:
            wanted = min(max(count, 2 * len(self._rows)), self.total)
            groups = [self._first(min(wanted, self._early))]
            for rows in self._later:
                if sum(map(len, groups)) < wanted:
                    groups.append(best(rows, self._value(rows)))
            self._rows = np.concatenate(groups)
        return self._rows[:count]

    def _first(self, count: int) -> Rows:
        """Return the first items of those that need not come later, (count,)."""
        if not count:
            return np.empty(0, np.int64)
        found = self._ask(count)
        rows = np.concatenate([one.rows for one in found])
        return best(rows, np.concatenate([one.values for one in found]), count)
