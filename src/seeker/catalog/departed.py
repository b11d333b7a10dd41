"""Items that were removed from a catalog, as far as sessions may still need them."""

from __future__ import annotations

from seeker.catalog.table import ItemTable
from seeker.types import Floats


class Departed:
    """The vectors of items that are gone, so that the clicks on them keep their meaning."""

    def __init__(self, table: ItemTable | None) -> None:
        self._table = table

    def get(self, item: str) -> dict[str, Floats] | None:
        """Return an item's vectors by view, (d,) float32 each, or None if nothing is kept."""
        if self._table is None or not isinstance(item, str):
            return None
        try:
            item.encode()
        except UnicodeEncodeError:
            return None
        return self._table.departed(item)
