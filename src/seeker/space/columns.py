"""Columns, one number for every item: what they are asked of, and those that searches share.

One asks how far all items are from an item, or how far they lie along a direction.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from seeker.types import Array, Doubles, Rows


class DistanceProbe(NamedTuple):
    """Ask for the column of an item: how far every item is from it."""

    row: int


@dataclass(frozen=True)
class DirectionProbe:
    """Ask for the column of a direction in one view: how far every item lies along it.

    plain: as the vectors are, not in the view's units, nor as a person sees them.
    """

    view: int
    direction: tuple[float, ...]
    plain: bool = False


@dataclass(frozen=True, eq=False)
class PreparedProbes:
    """Probes as the kernel takes them: per view, (d / 8, m, 8) vectors and (m,) constants."""

    probes: tuple[DistanceProbe, ...]
    packed: tuple[Array, ...]
    constants: tuple[Array, ...]

    def pick(self, probes: Sequence[DistanceProbe]) -> PreparedProbes | None:
        """Return some of the probes, if all of them are here."""
        if self.probes and tuple(probes) == self.probes:
            return self
        if not self.probes or not set(probes) <= self._places.keys():
            return None
        places = [self._places[probe] for probe in probes]
        return PreparedProbes(
            tuple(probes),
            # Picked in the middle, they would lie in another order, and be added up in another.
            tuple(np.ascontiguousarray(vectors[:, places]) for vectors in self.packed),
            tuple(numbers[places] for numbers in self.constants),
        )

    @cached_property
    def _places(self) -> dict[DistanceProbe, int]:
        return {probe: place for place, probe in enumerate(self.probes)}


MAX_BYTES = 128_000_000
MIN_COLUMNS = 64
"""Where fewer columns fit, hardly any would be there when somebody asks for it."""
FIRST_PAGE_ITEMS = 12
"""Items of a page that all searches share whose columns stay: so many are usually looked at."""
_COLUMNS_AT_A_TIME = 32
"""Columns of all items that are computed before somebody else may want the core."""


class ColumnCaches:
    """The columns that searches in the same views share, by what else they depend on.

    max_bytes: what each kind of columns may take, of those that come from now on.
    """

    def __init__(self) -> None:
        self.max_bytes = MAX_BYTES
        self._caches: dict[Hashable, SharedColumns] = {}

    def get(self, kind: Hashable) -> SharedColumns:
        """Return the columns of a kind."""
        return self._caches.setdefault(kind, SharedColumns(self.max_bytes))


class SharedColumns:
    """Columns by row, (views, items) each, as many as fit into bytes; safe for any thread.

    A column depends on the views and on nothing that a person has done, so whoever needs it next
    gets the same numbers without computing them. The longest unused make way for new ones, those of
    first pages last: others click on these again, and hardly anybody on the same later page.
    matrix: the columns of all items, (views, items, items), and average: D̄ of all items, (views,
    items), where they were computed in advance.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.matrix: Array | None = None
        self.average: Doubles | None = None
        self._unfinished: tuple[Array, int] | None = None
        self._max_bytes = max_bytes
        self._bytes = 0
        self._columns: OrderedDict[int, Array] = OrderedDict()
        self._pages: dict[int, tuple[int, Rows]] = {}
        self._first_items: set[int] = set()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._columns) if self.matrix is None else self.matrix.shape[1]

    @property
    def nbytes(self) -> int:
        """How many bytes the columns take."""
        whole = self.matrix if self._unfinished is None else self._unfinished[0]
        return self._bytes + (0 if whole is None else whole.nbytes)

    def has_page(self, number: int, size: int) -> bool:
        """Return whether a page of a number was found that is so long."""
        return number in self._pages and self._pages[number][0] >= size

    def page(self, number: int, size: int, choose: Callable[[], Rows]) -> Rows:
        """Return a page of a number, (size,) or fewer: a longer one begins as a shorter does."""
        longest, rows = self._pages.get(number, (0, None))
        if rows is None or longest < size:
            rows = choose()
            rows.setflags(write=False)
            self._pages[number] = size, rows
            self._first_items.update(rows[:FIRST_PAGE_ITEMS].tolist())
        return rows[:size]

    def get(self, row: int) -> Array | None:
        """Return the column of an item, if somebody has computed it."""
        if self.matrix is not None:
            return self.matrix[:, row]
        with self._lock:
            column = self._columns.get(row)
            if column is not None:
                self._columns.move_to_end(row)
            return column

    def add(self, row: int, column: Array) -> bool:
        """Take in a column, which nobody writes to any more; return whether there is room."""
        if self.matrix is not None:
            return True
        if column.nbytes * MIN_COLUMNS > self._max_bytes:
            return False
        column.setflags(write=False)
        with self._lock:
            if row not in self._columns:
                self._columns[row] = column
                self._bytes += column.nbytes
            while self._bytes > self._max_bytes:
                self._bytes -= self._columns.pop(self._next_to_go()).nbytes
        return True

    def _next_to_go(self) -> int:
        """Return the row of the longest unused column, of those on no first page if there are."""
        others = (row for row in self._columns if row not in self._first_items)
        return next(others, next(iter(self._columns)))

    def fill(
        self, shape: tuple[int, int], dtype: np.dtype[Any], compute: Callable[[int, Array], None]
    ) -> bool:
        """Compute the columns of all items, if there is room for them; return whether there is.

        shape: of a column, (views, items). compute(first, out): writes some columns from a row on,
        (views, columns, items). Where it raises something, what was done before stays.
        """
        views, items = shape
        if views * items * items * dtype.itemsize > self._max_bytes:
            return False
        matrix, first = self._unfinished or (np.empty((views, items, items), dtype), 0)
        while self.matrix is None and first < items:
            self._unfinished = matrix, first
            last = min(first + _COLUMNS_AT_A_TIME, items)
            compute(first, matrix[:, first:last])
            first = last
        if self.matrix is None:
            matrix.setflags(write=False)
            with self._lock:
                self.matrix, self._unfinished = matrix, None
                self._columns, self._bytes = OrderedDict(), 0
        return True
