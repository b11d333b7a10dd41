"""The one space in which rivals search: they know nothing of views."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache

import numpy as np

from seeker.catalog import Catalog
from seeker.types import Floats

_COLUMNS = 200_000_000
"""Bytes of distances that a space remembers."""


class Joint:
    """All views of a catalog as one space: even weights, centred, scaled as the engine scales.

    vectors: (items, d) float32. Two random items are 1 apart in squared distance on average.
    """

    def __init__(self, catalog: Catalog) -> None:
        parts = [
            (view.vectors - view.mean) / np.sqrt(view.scale * len(catalog.views))
            for view in catalog.views.values()
        ]
        self.vectors: Floats = np.concatenate(parts, axis=1).astype(np.float32)
        self.squares = (self.vectors**2).sum(axis=1)
        lengths = np.sqrt(self.squares)
        self.directions: Floats = self.vectors / np.maximum(lengths, 1e-12)[:, None]
        self.count = len(self.vectors)
        self._columns: OrderedDict[tuple[str, int], Floats] = OrderedDict()

    def distances(self, row: int) -> Floats:
        """Return the squared distances of all items from one, (items,)."""
        return self._remembered("distance", row)

    def cosines(self, row: int) -> Floats:
        """Return the cosines of all items with one, (items,)."""
        return self._remembered("cosine", row)

    def _keep(self, kind: str, row: int, column: Floats) -> None:
        self._columns[kind, row] = column
        while len(self._columns) * 4 * self.count > _COLUMNS:
            self._columns.popitem(last=False)

    def _remembered(self, kind: str, row: int) -> Floats:
        key = (kind, row)
        if key not in self._columns:
            # One product at a time: the rounding of several at once depends on how many they are,
            # and a search must give the same numbers whatever is remembered from others.
            product = self.vectors @ self.vectors[row]
            lengths = np.maximum(np.sqrt(self.squares), 1e-12)
            self._keep("cosine", row, product / lengths / lengths[row])
            squares = self.squares + self.squares[row] - 2.0 * product
            self._keep("distance", row, np.maximum(squares, 0.0))
        self._columns.move_to_end(key)
        return self._columns[key]


@lru_cache(maxsize=2)
def joint(catalog: Catalog) -> Joint:
    """Return the joint space of a catalog."""
    return Joint(catalog)
