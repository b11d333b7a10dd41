"""Writes the item table: items first, then what can only be known at their end."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from seeker.catalog.schema import MOST_ATTRIBUTES, TABLES
from seeker.catalog.values import Kind, Plain, common_kind, kind_of
from seeker.errors import BadInput


class ItemWriter:
    """Fills a new item table.

    Values are kept as they come until `finish`, for only then is it known of which kind an
    attribute is: a column of a CSV file holds numbers if every cell of it reads as a number.
    """

    def __init__(self, connection: sqlite3.Connection, loose: bool = False) -> None:
        """Start an empty table; loose: texts may stand for numbers and booleans."""
        self.connection = connection
        self.count = 0
        self._loose = loose
        self._numbers: dict[str, int] = {}
        self._kinds: dict[str, set[Kind]] = {}
        connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + TABLES)
        connection.execute("BEGIN")

    def add(
        self, id: str, title: str, text: str, media: str | None, attributes: Mapping[str, Plain]
    ) -> bool:
        """Add an item at the end; False if there is one with this id already."""
        added = self.connection.execute(
            "INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?, ?)",
            (self.count, id, title, text, media),
        )
        if not added.rowcount:
            return False
        self._know(self.count, attributes)
        self.count += 1
        return True

    def has(self, id: str) -> bool:
        """Return whether there is an item with this id."""
        found = self.connection.execute("SELECT 1 FROM items WHERE id = ?", (id,))
        return found.fetchone() is not None

    def know_of(self, name: str, kind: Kind | None = None) -> None:
        """Make an attribute known before any value of it comes."""
        self._number(name)
        if kind is not None:
            self._kinds[name].add(kind)

    def depart(self, id: str, view: str, version: int, vector: bytes) -> None:
        """Keep the vector of an item that is gone; version: the last that had it."""
        self.connection.execute(
            "INSERT OR REPLACE INTO departed VALUES (?, ?, ?, ?)", (id, view, version, vector)
        )

    def finish(self) -> dict[str, Kind]:
        """Settle the kinds, index tags and words; return the kind of every attribute."""
        kinds = {name: common_kind(seen or {"text"}) for name, seen in self._kinds.items()}
        run = self.connection.execute
        for name, kind in kinds.items():
            number = self._numbers[name]
            run("INSERT INTO attributes VALUES (?, ?, ?)", (number, name, kind))
            run(_SETTLED[kind].format(column=f"a{number}"))
            if kind == "tags":
                run(
                    f"INSERT OR IGNORE INTO tags SELECT {number}, json_each.value, known.row "
                    f"FROM known, json_each(known.a{number}) ORDER BY 2, 3"
                )
        worded = [
            f"CASE WHEN a{self._numbers[name]} LIKE 'http%://%' THEN '' "
            f"ELSE coalesce(a{self._numbers[name]}, '') END"
            for name, kind in kinds.items()
            if kind in ("text", "tags")
        ]
        run(
            "INSERT INTO words(rowid, title, text, attributes) SELECT items.row, title, text, "
            + (" || ' ' || ".join(worded) or "''")
            + " FROM items JOIN known USING (row)"
        )
        run("INSERT INTO words(words) VALUES ('optimize')")
        self.connection.commit()
        return kinds

    def _know(self, row: int, attributes: Mapping[str, Plain]) -> None:
        values: dict[str, Any] = {}
        for name, value in attributes.items():
            kind = kind_of(value, self._loose)
            if kind is None:
                continue
            number = self._number(name)
            self._kinds[name].add(kind)
            match value:
                case bool():
                    values[f"a{number}"] = "true" if value else "false"
                case list():
                    # A blob, so that tags can be told from a text that looks like them.
                    values[f"a{number}"] = json.dumps(value, ensure_ascii=False).encode()
                case _:
                    values[f"a{number}"] = value
        columns = ", ".join(("row", *values))
        marks = ", ".join("?" * (1 + len(values)))
        self.connection.execute(
            f"INSERT INTO known ({columns}) VALUES ({marks})", (row, *values.values())
        )

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            if len(self._numbers) == MOST_ATTRIBUTES:
                raise BadInput(
                    f"The items have more than {MOST_ATTRIBUTES} different attributes.",
                    "Name the ones to keep.",
                )
            self._numbers[name] = len(self._numbers)
            self._kinds[name] = set()
            self.connection.execute(f"ALTER TABLE known ADD COLUMN a{self._numbers[name]}")
        return self._numbers[name]


_SETTLED: Mapping[Kind, str] = {
    "number": "UPDATE known SET {column} = CAST({column} AS NUMERIC) "
    "WHERE typeof({column}) = 'text'",
    "boolean": "UPDATE known SET {column} = (lower({column}) = 'true') WHERE {column} IS NOT NULL",
    "text": "UPDATE known SET {column} = CAST({column} AS TEXT) "
    "WHERE typeof({column}) IN ('integer', 'real')",
    "tags": "UPDATE known SET {column} = CASE typeof({column}) WHEN 'blob' "
    "THEN CAST({column} AS TEXT) ELSE json_array(CAST({column} AS TEXT)) END "
    "WHERE {column} IS NOT NULL",
}
