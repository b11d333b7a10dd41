"""Columns kept between clicks, so that what was computed once is not computed again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from seeker.space.space import Probe
from seeker.types import Array, Rows

FEW_BYTES = 8_000_000
FEW_COLUMNS = 16


class ColumnStore:
    """Columns of the items judged and shown last, as many as fit into some bytes.

    Holds whole columns only: (views, columns, items). The longest unused make way for new ones.
    """

    def __init__(self, views: int, items: int, dtype: np.dtype[Any], most_bytes: int) -> None:
        column = max(1, views * items * dtype.itemsize)
        self.most = max(0, min(most_bytes // column, max(FEW_COLUMNS, FEW_BYTES // column)))
        self._slots: dict[Probe, int] = {}
        self._reserved: dict[Probe, int] = {}
        self._columns: Array = np.empty((views, 0, items), dtype)

    @property
    def nbytes(self) -> int:
        """How many bytes the kept columns take."""
        return self._columns.nbytes

    def __contains__(self, probe: object) -> bool:
        return probe in self._slots

    def reserve(self, probes: Sequence[Probe], spared: Collection[Probe]) -> dict[Probe, int]:
        """Find slots for new columns, the last asked for first; spared ones stay."""
        chosen = list(probes)[-self.most :] if self.most else []
        free = [slot for slot in range(self._columns.shape[1]) if slot not in self._slots.values()]
        missing = len(chosen) - len(free)
        room = self.most - self._columns.shape[1]
        if missing > 0 and room > 0:
            size = self._columns.shape[1] + min(room, max(missing, self._columns.shape[1]))
            views, old, items = self._columns.shape
            grown = np.empty((views, size, items), self._columns.dtype)
            grown[:, :old] = self._columns
            self._columns = grown
            free += range(old, size)
        oldest = [probe for probe in self._slots if probe not in spared]
        while len(free) < len(chosen) and oldest:
            free.append(self._slots.pop(oldest.pop(0)))
        self._reserved = dict(zip(reversed(chosen), free, strict=False))
        return self._reserved

    def commit(self) -> None:
        """Take the reserved columns, now written for all items, into use."""
        self._slots.update(self._reserved)
        self._reserved = {}

    def read(self, probes: Sequence[Probe], rows: Rows, out: Array) -> None:
        """Copy kept columns at some rows; out: (views, probes, rows)."""
        where = as_run(rows)
        for place, probe in enumerate(probes):
            out[:, place] = self._columns[:, self._slots[probe]][:, where]

    def write(
        self, reserved: dict[Probe, int], places: dict[Probe, int], rows: Rows, columns: Array
    ) -> None:
        """Write reserved columns for a run of consecutive rows; columns: (views, places, rows)."""
        run = as_run(rows)
        for probe, slot in reserved.items():
            self._columns[:, slot, run] = columns[:, places[probe]]


def as_run(rows: Rows) -> slice | Rows:
    """Return consecutive rows as a slice, which is read faster; others as they are."""
    if not len(rows) or int(rows[-1]) - int(rows[0]) + 1 != len(rows) or (np.diff(rows) != 1).any():
        return rows
    return slice(int(rows[0]), int(rows[-1]) + 1)
