"""Where the items of a catalog are: in memory, or in a file; and those that were removed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, overload

import numpy as np

from seeker.catalog.attributes import Attributes, clean_attributes, is_unicode, plain_value
from seeker.catalog.item_table import FileConnections, ItemTable, MemoryConnection
from seeker.catalog.item_writer import ItemWriter
from seeker.session import Item
from seeker.types import Floats


class Tombstones:
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
        kept = self._table.tombstone(item) or {}
        found = {name: kept[name] for name in self._dimensions if name in kept}
        fits = all(
            name in found and len(found[name]) == size and bool(np.isfinite(found[name]).all())
            for name, size in self._dimensions.items()
        )
        return found if fits else None


_CACHED_IDS = 65_536


class ItemCollection(Protocol):
    """The items of a catalog in their order."""

    @property
    def ids(self) -> Sequence[str]:
        """The ids."""
        ...

    @property
    def table(self) -> ItemTable:
        """The item table, for filters and search."""
        ...

    def row(self, id: str) -> int | None:
        """Return the place of an item, if it is there."""
        ...

    def items(self, rows: Sequence[int]) -> list[Item]:
        """Return the items at some places."""
        ...


class MemoryItems:
    """Items held as Python values; an item table is made of them when it is first needed."""

    def __init__(
        self, ids: tuple[str, ...], titles: tuple[str, ...] | None, attributes: Attributes
    ) -> None:
        self.ids = ids
        self._titles = titles
        self._attributes = attributes
        self._rows = {item: row for row, item in enumerate(ids)}

    def row(self, id: str) -> int | None:
        """Return the place of an item, if it is there."""
        return self._rows.get(id)

    def items(self, rows: Sequence[int]) -> list[Item]:
        """Return the items at some places."""
        titles = self._titles or self.ids
        return [Item(self.ids[row], titles[row], None, self._attributes.at(row)) for row in rows]

    @cached_property
    def table(self) -> ItemTable:
        """The item table, in memory."""
        return ItemTable(MemoryConnection(self._fill), len(self.ids))

    def _fill(self, connection: sqlite3.Connection) -> None:
        writer = ItemWriter(connection)
        titles = self._titles or self.ids
        for name in self._attributes.names:
            writer.know_of(name)
        for row, title in enumerate(titles):
            known = {name: plain_value(value) for name, value in self._attributes.at(row).items()}
            writer.add(str(row), clean_attributes(title), "", None, known)
        writer.finish()


class StoredItems:
    """Items in a file, items.sqlite; only what is asked for is read."""

    def __init__(self, path: Path, count: int) -> None:
        self.table = ItemTable(FileConnections(path), count)
        self.ids = StoredIds(self.table)
        self._remembered: dict[str, int] = {}

    def row(self, id: str) -> int | None:
        """Return the place of an item, if it is there."""
        row = self._remembered.get(id)
        if row is None:
            if not isinstance(id, str) or not is_unicode(id):
                return None
            row = self.table.row(id)
            if row is not None:
                if len(self._remembered) >= _CACHED_IDS:
                    self._remembered = {}
                self._remembered[id] = row
        return row

    def items(self, rows: Sequence[int]) -> list[Item]:
        """Return the items at some places, in one query."""
        return [
            Item(id, title, media, attributes)
            for id, title, _, media, attributes in self.table.fetch(rows)
        ]


class StoredIds(Sequence[str]):
    """The ids of stored items, read when they are asked for."""

    def __init__(self, table: ItemTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return self._table.count

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            places = range(len(self))[place]
            if places.step == 1:
                return self._table.ids(places.start, places.stop)
            return [item[0] for item in self._table.fetch(places)]
        return self._table.id_at(range(len(self))[place])

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), 16_384):
            yield from self._table.ids(start, start + 16_384)

    def __contains__(self, id: Any) -> bool:
        return isinstance(id, str) and is_unicode(id) and self._table.row(id) is not None
