"""Orders of all items, of which no more is sorted than is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

import numpy as np

from seeker.types import Doubles, Rows

if TYPE_CHECKING:
    from seeker.display.context import LocalContext
    from seeker.display.topk import Shortlist


class Ranking(Protocol):
    """One total order of all items of a context; no more of it is sorted than is asked for."""

    @property
    def total(self) -> int:
        """How many items there are in all."""
        ...

    @property
    def strained(self) -> bool:
        """Whether bounds of the scores have left many items to be evaluated."""
        ...

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,) or fewer at the end of the catalog."""
        ...

    def shortlist(self) -> Shortlist | None:
        """Return the items that can lead the order after the next click, if that can be told."""
        ...


class ValueRanking(ABC):
    """Items by values, highest first, ties by row; then those that come later, group by group.

    total: how many items there are, with the later ones. strained: as in `Ranking`.
    """

    strained: bool = False

    def __init__(self, total: int, later: tuple[Rows, ...]) -> None:
        self.total = total
        self._later = later
        self._early = total - sum(map(len, later))
        self._rows: Rows = np.empty(0, np.int64)

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,)."""
        if count > len(self._rows) < self.total:
            size = min(max(count, 2 * len(self._rows)), self.total)
            groups = [self.early(size)]
            for rows in self._later:
                if sum(map(len, groups)) < size:
                    groups.append(best_rows(rows, self.values(rows)))
            self._rows = np.concatenate(groups)
        return self._rows[:count]

    def shortlist(self) -> Shortlist | None:
        """Return the items that can lead the order after the next click, if that can be told."""
        return None

    def early(self, count: int) -> Rows:
        """Return the first items of those that need not come later, (count,) or fewer."""
        return self._best(min(count, self._early)) if self._early else np.empty(0, np.int64)

    @abstractmethod
    def values(self, rows: Rows) -> Doubles:
        """Return the values of some items, (rows,)."""

    @abstractmethod
    def _best(self, count: int) -> Rows:
        """Return the best of the items that need not come later, (count,); there are as many."""


class SortedRanking(ValueRanking):
    """All items of a context by values that are known of all, (items,)."""

    def __init__(self, context: LocalContext, values: Doubles) -> None:
        super().__init__(context.total, context.later)
        self._context = context
        self._values = values

    def values(self, rows: Rows) -> Doubles:
        """Return the values of some items, (rows,)."""
        return self._values[rows]

    def _best(self, count: int) -> Rows:
        rows = self._context.candidates()
        return best_rows(rows, self._values[rows], count)


def best_rows(rows: Rows, values: Doubles, count: int | None = None) -> Rows:
    """Return the rows with the highest values, highest first, ties by row."""
    if count is not None and count < len(rows):
        least = np.partition(values, len(values) - count)[len(values) - count]
        among = values >= least
        rows, values = rows[among], values[among]
    return rows[np.lexsort((rows, -values))][:count]
