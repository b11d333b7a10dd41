"""Items that were removed from a catalog, as far as sessions may still need them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from seeker.catalog.table import ItemTable
from seeker.catalog.values import is_unicode
from seeker.types import Floats


class Departed:
    """The vectors of items that are gone, so that the clicks on them keep their meaning."""

    def __init__(self, table: ItemTable | None, dimensions: Mapping[str, int]) -> None:
        """Read from a table; dimensions: of the catalog's views, by name."""
        self._table = table
        self._dimensions = dict(dimensions)

    def get(self, item: str) -> dict[str, Floats] | None:
        """Return an item's vectors in all views, (d,) float32 each, or None if they are not kept.

        An item that has left before a view was made, or made anew, cannot be compared in it.
        """
        if self._table is None or not isinstance(item, str) or not is_unicode(item):
            return None
        kept = self._table.departed(item) or {}
        found = {name: kept[name] for name in self._dimensions if name in kept}
        fits = all(
            name in found and len(found[name]) == size and bool(np.isfinite(found[name]).all())
            for name, size in self._dimensions.items()
        )
        return found if fits else None
