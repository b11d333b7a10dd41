"""The item table: look-ups, filters, facets and keyword search over items.sqlite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seeker.catalog import keywords
from seeker.catalog.connections import Connections
from seeker.catalog.facets import Facet
from seeker.catalog.filters import Attribute, where
from seeker.catalog.values import Plain
from seeker.numbers import check_whole
from seeker.types import Doubles, Rows

_REMEMBERED = 16


class ItemTable:
    """Reads an item table; `count` is how many items it has."""

    def __init__(self, connections: Connections, count: int) -> None:
        self._connections = connections
        self.count = count
        self._facets: dict[int, dict[str, Facet]] = {}

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes by name."""
        found = self._all("SELECT name, kind, number FROM attributes ORDER BY number")
        return {name: Attribute(name, kind, number) for name, kind, number in found}

    def id_at(self, row: int) -> str:
        """Return the id of the item at a place."""
        return str(self._all("SELECT id FROM items WHERE row = ?", row)[0][0])

    def ids(self, start: int, stop: int) -> list[str]:
        """Return the ids of neighbouring items."""
        return [
            found[0]
            for found in self._all(
                "SELECT id FROM items WHERE row >= ? AND row < ? ORDER BY row", start, stop
            )
        ]

    def row(self, id: str) -> int | None:
        """Return the place of an item, if there is one with this id."""
        found = self._all("SELECT row FROM items WHERE id = ?", id)
        return int(found[0][0]) if found else None

    def rows(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the places of those items that are there, by id."""
        return dict(
            self._all(
                "SELECT id, row FROM items WHERE id IN (SELECT value FROM json_each(?))",
                json.dumps(list(ids)),
            )
        )

    def fetch(
        self, rows: Sequence[int]
    ) -> list[tuple[str, str, str, str | None, dict[str, Plain]]]:
        """Return id, title, text, media and attributes of the items at some places, in order."""
        found = self._all(
            "SELECT items.*, known.* FROM items JOIN known USING (row) "
            "WHERE items.row IN (SELECT value FROM json_each(?))",
            json.dumps([int(row) for row in rows]),
        )
        by_row = {one[0]: one for one in found}
        return [self._item(by_row[int(row)]) for row in rows]

    def walk(self, start: int = 0) -> Iterator[tuple[str, str, str, str | None, dict[str, Plain]]]:
        """Yield all items in their order, without holding them all."""
        for first in range(start, self.count, 4096):
            yield from self.fetch(range(first, min(first + 4096, self.count)))

    def matching(self, filter: Mapping[str, Any] | None) -> NDArray[np.bool_]:
        """Return which items pass a filter, (items,)."""
        chosen = where(filter, self.attributes)
        passing = np.zeros(self.count, bool)
        with self._connections.use() as connection:
            found = connection.execute(
                f"SELECT known.row FROM known WHERE {chosen.sql}", chosen.values
            )
            passing[np.fromiter((row for (row,) in found), np.int64)] = True
        return passing

    def scores(
        self, words: str, limit: int | None = None, filter: Mapping[str, Any] | None = None
    ) -> tuple[Rows, Doubles]:
        """Return the places and scores of the items that match, (hits,) each.

        With a limit the best come first; without one all come, in no order.
        """
        if limit is not None:
            limit = check_whole("limit", limit, 1)
        asked = keywords.query(words)
        chosen = where(filter, self.attributes)
        if asked is None:
            return np.empty(0, np.int64), np.empty(0)
        weights = ", ".join(map(str, keywords.WEIGHTS))
        restricted = (
            f"AND rowid IN (SELECT known.row FROM known WHERE {chosen.sql})" if filter else ""
        )
        with self._connections.use() as connection:
            found = connection.execute(
                f"SELECT rowid, -bm25(words, {weights}) AS score FROM words WHERE words MATCH ? "
                f"{restricted} {'' if limit is None else 'ORDER BY score DESC, rowid LIMIT ?'}",
                (
                    asked,
                    *(chosen.values if filter else ()),
                    *(() if limit is None else (int(limit),)),
                ),
            ).fetchall()
        if not found:
            return np.empty(0, np.int64), np.empty(0)
        rows, scores = zip(*found, strict=True)
        return np.array(rows, np.int64), np.array(scores, np.float64)

    def facets(self, filter: Mapping[str, Any] | None, limit: int) -> dict[str, Facet]:
        """Return how every attribute's values are spread over the items that pass."""
        if filter is None and limit in self._facets:
            return dict(self._facets[limit])
        chosen = where(filter, self.attributes)
        found = {
            name: self._facet(attribute, chosen.sql, chosen.values, limit)
            for name, attribute in self.attributes.items()
        }
        if filter is None and len(self._facets) < _REMEMBERED:
            # The table never changes, and everybody starts by looking at all of it.
            self._facets[limit] = found
        return dict(found)

    def departed(self, id: str) -> dict[str, NDArray[np.float32]] | None:
        """Return the vectors of an item that was removed, by view, if they are kept."""
        found = self._all("SELECT view, vector FROM departed WHERE id = ?", id)
        if not found:
            return None
        return {view: np.frombuffer(vector, "<f4").astype(np.float32) for view, vector in found}

    def all_departed(self, since: int) -> Iterator[tuple[str, str, int, bytes]]:
        """Yield what is kept of removed items whose last version was `since` or later."""
        found = self._all(
            "SELECT id FROM departed WHERE version >= ? GROUP BY id ORDER BY min(rowid)", since
        )
        for (id,) in found:
            yield from self._all(
                "SELECT id, view, version, vector FROM departed WHERE id = ? ORDER BY rowid", id
            )

    def _facet(
        self, attribute: Attribute, condition: str, values: tuple[Any, ...], limit: int
    ) -> Facet:
        column, name, kind = f"known.a{attribute.number}", attribute.name, attribute.kind
        if kind == "number":
            known, distinct, low, high = self._all(
                f"SELECT count({column}), count(DISTINCT {column}), min({column}), max({column}) "
                f"FROM known WHERE {condition}",
                *values,
            )[0]
            return Facet(name, kind, known, distinct, (), low, high)
        if kind == "tags":
            source = (
                f"(SELECT tags.value AS value FROM tags JOIN known ON known.row = tags.row "
                f"WHERE tags.attribute = {attribute.number} AND ({condition}))"
            )
            known = self._all(f"SELECT count({column}) FROM known WHERE {condition}", *values)[0][0]
        else:
            source = f"(SELECT {column} AS value FROM known WHERE {condition})"
            known = None
        counted = self._all(
            f"SELECT value, count(*) AS many, count(*) OVER (), sum(count(*)) OVER () "
            f"FROM {source} WHERE value IS NOT NULL GROUP BY value "
            f"ORDER BY many DESC, value LIMIT {max(int(limit), 1)}",
            *values,
        )
        distinct, total = counted[0][2:] if counted else (0, 0)
        shown = tuple(
            (bool(value) if kind == "boolean" else value, many)
            for value, many, *_ in counted[:limit]
        )
        return Facet(name, kind, total if known is None else known, distinct, shown)

    def _item(self, found: Sequence[Any]) -> tuple[str, str, str, str | None, dict[str, Plain]]:
        _, id, title, text, media, *known = found
        attributes: dict[str, Plain] = {}
        for name, attribute in self.attributes.items():
            value = known[1 + attribute.number]
            if value is None:
                continue
            if attribute.kind == "boolean":
                value = bool(value)
            elif attribute.kind == "tags":
                value = json.loads(value)
            attributes[name] = value
        return id, title, text, media, attributes

    def _all(self, sql: str, *values: object) -> list[Any]:
        with self._connections.use() as connection:
            return connection.execute(sql, values).fetchall()
