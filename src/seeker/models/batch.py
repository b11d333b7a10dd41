"""Terms to be added in one go, with the columns they need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from threading import local
from typing import Any

import numpy as np

from seeker.models.base import Grid, Model, Said, Term
from seeker.models.columns import ColumnStore
from seeker.space import Space
from seeker.space.probes import Near, Probes
from seeker.types import Array, Rows

Signed = tuple[Term, int]


class Asked:
    """Columns that are asked for: first those to be computed, then those that are kept."""

    def __init__(self, space: Space, store: ColumnStore, asked: Iterable[Near]) -> None:
        self.space = space
        self.store = store
        asked = sorted(set(asked))
        self.new = [probe for probe in asked if probe not in store]
        self.kept = [probe for probe in asked if probe in store]
        self.probes: Probes = space.prepare(self.new)
        self.places = {probe: place for place, probe in enumerate([*self.new, *self.kept])}

    def columns(self, rows: Rows, where: slice | Rows) -> Array:
        """Return the columns at some items, (views, places, rows), in memory used again.

        where: the rows again, as a slice if they are consecutive, which is read faster.
        """
        shape = (len(self.space.views), len(self.places), len(rows))
        columns = scratch("columns", shape, self.space.dtype)
        self.space.columns(self.probes, rows, columns[:, : len(self.new)])
        self.store.read(self.kept, where, columns[:, len(self.new) :])
        return columns


class Batch(Asked):
    """Signed terms of a model."""

    def __init__(
        self, model: Model, grid: Grid, space: Space, store: ColumnStore, terms: Sequence[Signed]
    ) -> None:
        super().__init__(space, store, (probe for term, _ in terms for probe in model.probe(term)))
        by_row = {probe.row: place for probe, place in self.places.items()}
        clicks = [(term, sign) for term, sign in terms if not isinstance(term, Said)]
        self._said = [(term.along, sign) for term, sign in terms if isinstance(term, Said)]
        self._beta = model.beta
        self._average = model.uses_average and bool(clicks)
        self._add = model.adder(clicks, by_row, grid, space.dtype) if clicks else None

    def add(self, rows: Rows, where: slice | Rows, units: Array, keep: bool = False) -> None:
        """Add the terms to units, (thetas, rows); keep: whether columns are stored, too."""
        from seeker.kernels.likelihood import text

        if not len(rows):
            return
        for along, sign in self._said:
            text(self.space.direction(along, rows), self._beta, sign, units)
        if self._add is None:
            return
        columns = self.columns(rows, where)
        if keep and isinstance(where, slice):
            self.store.write(self.places, where, columns)
        self._add(columns, self.space.average(rows) if self._average else None, units)


_held = local()


def scratch(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array that this thread will use again."""
    size = math.prod(shape)
    held = getattr(_held, name, None)
    if held is None or held.size < size or held.dtype != dtype:
        held = np.empty(size, dtype)
        setattr(_held, name, held)
    return held[:size].reshape(shape)
