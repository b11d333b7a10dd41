"""Where the items of a catalog are: in memory, or in a file; and those that were removed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, overload

import numpy as np

from seeker.catalog.attributes import clean_text, is_unicode, plain_value, shorten
from seeker.catalog.item_table import ItemTable
from seeker.catalog.item_writer import ItemWriter
from seeker.catalog.sqlite_connections import FileConnections, MemoryConnection
from seeker.catalog.view_map import LinearMap, map_one
from seeker.errors import BadInput
from seeker.session import Item
from seeker.types import Floats, Rows

_MAX_CACHED_IDS = 65_536
_MAX_CACHED_CHARACTERS = 8_000_000
"""Of items that were shown, some ten thousand: the same ones come up again and again."""
_MAX_PRELOADED_ITEMS = 4096
_PRELOADED_AT_ONCE = 256
_ITEM_CHARACTERS = 500
"""What an item takes beside its texts."""
_ID_ROWS = 16_384


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

    @property
    def has_words(self) -> bool:
        """Whether the items have words beside their ids: titles, texts, attributes."""
        ...

    def row(self, id: str) -> int | None:
        """Return the place of an item, if it is there."""
        ...

    def items(self, rows: Sequence[int]) -> list[Item]:
        """Return the items at some places."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether nothing has to be read for any item."""
        ...

    def preload(self) -> None:
        """Read all items, if they are few enough to be kept."""
        ...

    def release(self) -> None:
        """Let go of files, and of what was read from them."""
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

    in_memory = True

    def preload(self) -> None:
        """Nothing has to be read."""

    def release(self) -> None:
        """Nothing was read."""

    def items(self, rows: Sequence[int]) -> list[Item]:
        """Return the items at some places."""
        titles = self._titles or self.ids
        return [Item(self.ids[row], titles[row], None, self._attributes.at(row)) for row in rows]

    @cached_property
    def has_words(self) -> bool:
        """Whether the items have words beside their ids."""
        return self._titles is not None or self.table.has_worded_attributes

    @cached_property
    def table(self) -> ItemTable:
        """The item table, in memory."""
        return ItemTable(MemoryConnection(self._fill), len(self.ids))

    def _fill(self, connection: sqlite3.Connection) -> None:
        writer = ItemWriter(connection)
        titles = self._titles or self.ids
        for name in self._attributes.names:
            writer.add_attribute(name)
        for row, title in enumerate(titles):
            values = {name: plain_value(value) for name, value in self._attributes.at(row).items()}
            writer.add(str(row), clean_text(title), "", None, values)
        writer.finish()


class Attributes:
    """What is known of the items beside their vectors: by name, one value per item or None."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._columns = columns

    @classmethod
    def of(cls, values: Any, ids: Sequence[str]) -> Attributes:
        """Check attributes that come as one mapping per item, or as one column per name."""
        if values is None:
            return cls({})
        if hasattr(values, "keys"):
            # What dict() takes, too: a mapping, or a data frame.
            columns = {
                name: _one_per_item(f"The attribute {name!r}", column)
                for name, column in dict(values).items()
            }
            for name, column in columns.items():
                if len(column) != len(ids):
                    raise BadInput(
                        f"The attribute {name!r} has {len(column)} values for {len(ids)} items."
                    )
        elif isinstance(values, Sequence) and all(isinstance(one, Mapping) for one in values):
            if len(values) != len(ids):
                raise BadInput(f"There are attributes for {len(values)} items, but {len(ids)} ids.")
            names = dict.fromkeys(name for one in values for name in one)
            columns = {name: tuple(one.get(name) for one in values) for name in names}
        else:
            raise BadInput(
                "The attributes are not in a form that can be read.",
                "Give one mapping per item, or one list of values per name.",
            )
        for name in columns:
            if not isinstance(name, str):
                raise BadInput(f"{name!r} is not a name for an attribute.", "Use a text.")
        return cls(columns)

    @property
    def names(self) -> list[str]:
        """The names of the attributes."""
        return list(self._columns)

    def at(self, row: int) -> dict[str, Any]:
        """Return the attributes of one item."""
        return {
            name: column[row] for name, column in self._columns.items() if column[row] is not None
        }


def check_ids(ids: Iterable[str | int]) -> tuple[str, ...]:
    """Return the ids as texts if they are different texts or whole numbers, at least one."""
    names = tuple(
        str(one) if isinstance(one, int | np.integer) and not isinstance(one, bool) else one
        for one in _one_per_item("ids", ids)
    )
    if not names:
        raise BadInput("The catalog is empty.", "Give at least one item.")
    for place, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise BadInput(
                f"The id at place {place} is {shorten(name)}.",
                "Every id must be a whole number, or a text that is not empty.",
            )
    if len(set(names)) < len(names):
        seen: set[str] = set()
        double = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise BadInput(f"The id {double!r} is there more than once.", "Ids must be different.")
    return tuple(map(str, names))


def check_titles(titles: Iterable[str] | None, ids: Sequence[str]) -> tuple[str, ...] | None:
    """Return the titles if there is one text per item."""
    if titles is None:
        return None
    texts = _one_per_item("titles", titles)
    if len(texts) != len(ids):
        raise BadInput(f"There are {len(texts)} titles, but {len(ids)} ids.")
    for place, title in enumerate(texts):
        if not isinstance(title, str):
            raise BadInput(
                f"The title at place {place} is {shorten(title)}.", "Titles must be texts."
            )
    return texts


def _one_per_item(name: str, values: object) -> tuple[Any, ...]:
    """Return values as a tuple; a single text would be one of letters."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise BadInput(f"{name} is {shorten(values)}.", "Give a list with one value per item.")
    return tuple(values)


class CachedItem(NamedTuple):
    """An item as it was read."""

    id: str
    title: str
    media: str | None
    attributes: dict[str, Any]


class StoredItems:
    """Items in a file, items.sqlite; only what is asked for is read."""

    def __init__(self, connections: FileConnections, count: int, removed: Rows) -> None:
        """Read a file of so many items; removed: rows that are gone from it."""
        self._connections = connections
        self.table = ItemTable(connections, count, removed)
        self.ids = StoredIds(self.table)
        self._row_cache: dict[str, int] = {}
        self._item_cache: dict[int, CachedItem] = {}
        self._cached_characters = 0

    @cached_property
    def has_words(self) -> bool:
        """Whether the items have words beside their ids."""
        return self.table.has_worded_attributes or self.table.has_texts

    def row(self, id: str) -> int | None:
        """Return the place of an item, if it is there."""
        row = self._row_cache.get(id)
        if row is None:
            if not isinstance(id, str) or not is_unicode(id):
                return None
            row = self.table.row(id)
            if row is not None:
                if len(self._row_cache) >= _MAX_CACHED_IDS:
                    self._row_cache = {}
                self._row_cache[id] = row
        return row

    def items(self, rows: Sequence[int]) -> list[Item]:
        """Return the items at some places; those that are not in the cache in one query."""
        cache = self._item_cache
        missing = [row for row in dict.fromkeys(rows) if row not in cache]
        if missing:
            new = {
                row: CachedItem(one.id, one.title, one.media, one.attributes)
                for row, one in zip(missing, self.table.fetch(missing), strict=True)
            }
            self._cache(new)
            cache = {**{row: cache[row] for row in rows if row in cache}, **new}
        # Whoever gets an item may do with its attributes what they like.
        return [
            Item(id, title, media, attributes.copy())
            for id, title, media, attributes in map(cache.__getitem__, rows)
        ]

    @property
    def in_memory(self) -> bool:
        """Whether nothing has to be read for any item."""
        return len(self._item_cache) == len(self._row_cache) == self.table.count

    def preload(self) -> None:
        """Read all items, if they are few enough to be kept."""
        if self.table.count > _MAX_PRELOADED_ITEMS:
            return
        for start in range(0, self.table.count, _PRELOADED_AT_ONCE):
            rows = range(start, min(start + _PRELOADED_AT_ONCE, self.table.count))
            for row, item in zip(rows, self.items(rows), strict=True):
                self._row_cache[item.id] = row

    def release(self) -> None:
        """Let go of files, and of what was read from them."""
        self._connections.release()
        self._row_cache, self._item_cache, self._cached_characters = {}, {}, 0

    def _cache(self, items: Mapping[int, CachedItem]) -> None:
        """Keep items for whoever asks next; once they are many, begin anew."""
        self._cached_characters += sum(
            _ITEM_CHARACTERS + len(one.title) + len(str(one.attributes)) for one in items.values()
        )
        if self._cached_characters > _MAX_CACHED_CHARACTERS:
            self._item_cache, self._cached_characters = {}, 0
        self._item_cache.update(items)


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
            return [item.id for item in self._table.fetch(places)]
        return self._table.id_at(range(len(self))[place])

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _ID_ROWS):
            yield from self._table.ids(start, start + _ID_ROWS)

    def __contains__(self, id: Any) -> bool:
        return isinstance(id, str) and is_unicode(id) and self._table.row(id) is not None


class Tombstones:
    """The vectors of items that are gone, so that the clicks on them keep their meaning."""

    def __init__(
        self,
        table: ItemTable | None,
        dimensions: Mapping[str, int],
        maps: Mapping[str, LinearMap] = MappingProxyType({}),
    ) -> None:
        """Read from a table; dimensions: of the catalog's views, maps: of learned ones, by name."""
        self._table = table
        self._dimensions = dict(dimensions)
        self._maps = maps

    def get(self, item: str) -> dict[str, Floats] | None:
        """Return an item's vectors in all views, (d,) float32 each, or None if they are not kept.

        An item that has left before a view was made, or made anew, cannot be compared in it.
        """
        if self._table is None or not isinstance(item, str) or not is_unicode(item):
            return None
        stored = self._table.tombstone(item) or {}
        for name, one in self._maps.items():
            mapped = map_one(one, stored)
            if mapped is not None:
                stored[name] = mapped
        vectors = {name: stored[name] for name in self._dimensions if name in stored}
        fits = all(
            name in vectors
            and len(vectors[name]) == size
            and bool(np.isfinite(vectors[name]).all())
            for name, size in self._dimensions.items()
        )
        return vectors if fits else None
