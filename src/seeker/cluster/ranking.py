"""A ranking from shards: the best of all are the best of what the shards call their best."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from seeker.cluster.messages import Found
from seeker.display.ranking import ByValue, best
from seeker.types import Doubles, Rows

Ask: TypeAlias = Callable[[int], list[Found]]
"""ask(count): what every shard that answers has first, (count,) items each."""


class Merged(ByValue):
    """All items of a scene by values that the shards compute.

    value(rows): the values of some items, (rows,), computed at the front.
    """

    def __init__(
        self, total: int, later: tuple[Rows, ...], ask: Ask, value: Callable[[Rows], Doubles]
    ) -> None:
        super().__init__(total, later)
        self._ask = ask
        self._value = value

    def values(self, rows: Rows) -> Doubles:
        """Return the values of some items, (rows,)."""
        return self._value(rows)

    def _best(self, count: int) -> Rows:
        found = self._ask(count)
        rows = np.concatenate([one.rows for one in found])
        return best(rows, np.concatenate([one.values for one in found]), count)
