"""Columns of distances: kept between clicks, and computed in batches for terms."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import local
from typing import Any

import numpy as np

from seeker.models.base import Grid, Model, Term, TextTerm
from seeker.space import Space
from seeker.space.probes import DistanceProbe, PreparedProbes
from seeker.types import Array, Rows

ENOUGH_COLUMNS = 16
ENOUGH_BYTES = 8_000_000
"""More columns than so many, or so many bytes of small ones, are not worth keeping."""


class ColumnStore:
    """Columns of the items judged and shown last, (views, items) each, as many as fit into bytes.

    Only whole columns are kept. The longest unused make way for new ones. Columns that are the same
    for all searches are shared with them where there is room, and do not count here.
    """

    def __init__(self, space: Space, max_bytes: int) -> None:
        self._space = space
        views, items, dtype = len(space.views), space.count, space.dtype
        size = max(1, views * items * dtype.itemsize)
        enough = max(ENOUGH_COLUMNS, ENOUGH_BYTES // size)
        self.max_columns = max(0, min(max_bytes // size, enough))
        self._shape = (views, items)
        self._dtype = dtype
        self._stored: dict[DistanceProbe, Array] = {}
        self._reserved: dict[DistanceProbe, Array] = {}

    @property
    def nbytes(self) -> int:
        """How many bytes the kept columns take."""
        return sum(column.nbytes for column in self._stored.values())

    def get(self, probe: DistanceProbe) -> Array | None:
        """Return a column, (views, items), if it is here or shared."""
        column = self._stored.get(probe)
        shared = self._space.shared
        if column is None and shared is not None and self._space.is_shared(probe):
            column = shared.get(probe.row)
        return column

    def reserve(self, probes: Sequence[DistanceProbe], spared: Collection[DistanceProbe]) -> None:
        """Find room for new columns, the last asked for first; spared ones stay."""
        for probe in spared:
            if probe in self._stored:
                self._stored[probe] = self._stored.pop(probe)  # used now: the last to make way
        old = [probe for probe in self._stored if probe not in spared]
        self._reserved = {}
        for probe in reversed(probes):
            if len(self._stored) + len(self._reserved) < self.max_columns:
                self._reserved[probe] = np.empty(self._shape, self._dtype)
            elif old:
                self._reserved[probe] = self._stored.pop(old.pop(0))

    def commit(self) -> None:
        """Take the reserved columns, now written for all items, into use."""
        shared = self._space.shared
        for probe, column in self._reserved.items():
            common = shared is not None and self._space.is_shared(probe)
            if shared is None or not common or not shared.add(probe.row, column):
                self._stored[probe] = column
        self._reserved = {}

    def write(self, places: Mapping[DistanceProbe, int], where: slice, columns: Array) -> None:
        """Write reserved columns at a run of rows; columns: (views, places, rows)."""
        for probe, column in self._reserved.items():
            column[:, where] = columns[:, places[probe]]

    def clear(self) -> None:
        """Keep nothing any longer."""
        self._stored, self._reserved = {}, {}


SignedTerm = tuple[Term, int]


class ColumnBatch:
    """Columns of some probes: first those to be computed, then those that are stored."""

    def __init__(self, space: Space, store: ColumnStore, probes: Iterable[DistanceProbe]) -> None:
        self.space = space
        self.store = store
        columns = {probe: store.get(probe) for probe in sorted(set(probes))}
        self.new = [probe for probe, column in columns.items() if column is None]
        self.stored = [probe for probe, column in columns.items() if column is not None]
        self._columns = [column for column in columns.values() if column is not None]
        self._prepared: PreparedProbes = space.prepare(self.new)
        self.places = {probe: place for place, probe in enumerate([*self.new, *self.stored])}

    def columns(self, rows: Rows, where: slice | Rows) -> Array:
        """Return the columns at some items, (views, places, rows), in memory used again.

        where: the rows again, as a slice if they are consecutive, which is read faster.
        """
        shape = (len(self.space.views), len(self.places), len(rows))
        columns = scratch_array("columns", shape, self.space.dtype)
        self.space.columns(self._prepared, rows, columns[:, : len(self.new)])
        for place, column in enumerate(self._columns, len(self.new)):
            columns[:, place] = column[:, where]
        return columns


class TermBatch(ColumnBatch):
    """Signed terms of a model."""

    def __init__(
        self,
        model: Model,
        grid: Grid,
        space: Space,
        store: ColumnStore,
        terms: Sequence[SignedTerm],
    ) -> None:
        super().__init__(space, store, (probe for term, _ in terms for probe in model.probe(term)))
        by_row = {probe.row: place for probe, place in self.places.items()}
        clicks = [(term, sign) for term, sign in terms if not isinstance(term, TextTerm)]
        self._texts = [(term.along, sign) for term, sign in terms if isinstance(term, TextTerm)]
        self._beta = model.beta
        self._average = model.uses_average and bool(clicks)
        self._add = model.adder(clicks, by_row, grid, space.dtype) if clicks else None

    def add(self, rows: Rows, where: slice | Rows, units: Array, keep: bool = False) -> None:
        """Add the terms to units, (thetas, rows); keep: whether columns are stored, too."""
        from seeker.kernels.likelihood import text

        if not len(rows):
            return
        for along, sign in self._texts:
            text(self.space.direction(along, rows), self._beta, sign, units)
        if self._add is None:
            return
        columns = self.columns(rows, where)
        if keep and isinstance(where, slice):
            self.store.write(self.places, where, columns)
        self._add(columns, self.space.average(rows) if self._average else None, units)


_scratch = local()


def scratch_array(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array that this thread will use again."""
    size = math.prod(shape)
    array: Array | None = getattr(_scratch, name, None)
    if array is None or array.size < size or array.dtype != dtype:
        array = np.empty(size, dtype)
        setattr(_scratch, name, array)
    return array[:size].reshape(shape)
