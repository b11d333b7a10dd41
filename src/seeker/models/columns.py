"""Columns kept between clicks, so that what was computed once is not computed again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from seeker.space.probes import Near
from seeker.types import Array, Rows

FEW_BYTES = 8_000_000
FEW_COLUMNS = 16


class ColumnStore:
    """Columns of the items judged and shown last, (views, items) each, as many as fit into bytes.

    Only whole columns are kept. The longest unused make way for new ones.
    """

    def __init__(self, views: int, items: int, dtype: np.dtype[Any], most_bytes: int) -> None:
        size = max(1, views * items * dtype.itemsize)
        self.most = max(0, min(most_bytes // size, max(FEW_COLUMNS, FEW_BYTES // size)))
        self._shape = (views, items)
        self._dtype = dtype
        self._kept: dict[Near, Array] = {}
        self._reserved: dict[Near, Array] = {}

    @property
    def nbytes(self) -> int:
        """How many bytes the kept columns take."""
        return sum(column.nbytes for column in self._kept.values())

    def __contains__(self, probe: object) -> bool:
        return probe in self._kept

    def reserve(self, probes: Sequence[Near], spared: Collection[Near]) -> None:
        """Find room for new columns, the last asked for first; spared ones stay."""
        for probe in spared:
            self._kept[probe] = self._kept.pop(probe)  # used now: the last to make way
        old = [probe for probe in self._kept if probe not in spared]
        self._reserved = {}
        for probe in reversed(probes):
            if len(self._kept) + len(self._reserved) < self.most:
                self._reserved[probe] = np.empty(self._shape, self._dtype)
            elif old:
                self._reserved[probe] = self._kept.pop(old.pop(0))

    def commit(self) -> None:
        """Take the reserved columns, now written for all items, into use."""
        self._kept.update(self._reserved)
        self._reserved = {}

    def read(self, probes: Sequence[Near], where: slice | Rows, out: Array) -> None:
        """Copy kept columns at some rows; out: (views, probes, rows)."""
        for place, probe in enumerate(probes):
            out[:, place] = self._kept[probe][:, where]

    def write(self, places: Mapping[Near, int], where: slice, columns: Array) -> None:
        """Write reserved columns at a run of rows; columns: (views, places, rows)."""
        for probe, column in self._reserved.items():
            column[:, where] = columns[:, places[probe]]

    def clear(self) -> None:
        """Keep nothing any longer."""
        self._kept, self._reserved = {}, {}
