"""Writes the item table: items first, then what can only be known at their end."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from typing import Any

from seeker.catalog.attributes import Kind, PlainValue, common_kind, kind_of, shorten
from seeker.errors import BadInput

TABLES = """
CREATE TABLE items (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    media TEXT,
    picture_digest BLOB,
    text_digest BLOB
);
CREATE TABLE attributes (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL);
CREATE TABLE known (row INTEGER PRIMARY KEY);
CREATE TABLE tags (
    attribute INTEGER NOT NULL,
    value TEXT NOT NULL,
    row INTEGER NOT NULL,
    PRIMARY KEY (attribute, value, row)
) WITHOUT ROWID;
CREATE TABLE departed (
    id TEXT NOT NULL,
    view TEXT NOT NULL,
    version INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (id, view)
);
CREATE VIRTUAL TABLE words USING fts5(
    title, text, attributes, content='', tokenize="unicode61 remove_diacritics 2"
);
"""

MAX_ATTRIBUTES = 1000
"""SQLite allows 2,000 columns; nobody filters by a thousand."""

_SEARCH_TABLES = {f"words_{part}" for part in ("data", "idx", "docsize", "config")}
"""What the keyword index is made of."""

_BEFORE_DIGESTS = {
    "items": "CREATE TABLE items ( row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
    "title TEXT NOT NULL, text TEXT NOT NULL, media TEXT )"
}
"""How the items of catalogs are kept that were made before digests were."""

_KNOWN = re.compile(r"CREATE TABLE known \(row INTEGER PRIMARY KEY((?:, a\d+)*)\)")


def table_problem(
    connection: sqlite3.Connection,
    attributes: Mapping[str, Kind],
    ends: tuple[int, int],
    count: int,
) -> str | None:
    """Return what is wrong with an item table from elsewhere, as far as a quick look shows it.

    It must be made of just these tables: a view or a trigger in their place would run what its
    maker likes. attributes, count: what catalog.json says. ends: the first and the last row.
    """
    expected = _statements()
    columns = []
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema"):
        if kind == "index" and sql is None:
            continue  # one that goes with a table's key
        statement = " ".join(sql.split()) if isinstance(sql, str) else ""
        match = _KNOWN.fullmatch(statement) if name == "known" else None
        if match is not None:
            columns = re.findall(r"\d+", match[1])
        elif name in _SEARCH_TABLES and kind == "table" and statement.startswith("CREATE TABLE "):
            pass
        elif kind != "table" or statement not in (expected.get(name), _BEFORE_DIGESTS.get(name)):
            return f"holds a {kind} {shorten(name)} that does not belong there"
        expected.pop(name, None)
    if expected:
        return f"lacks the table '{min(expected)}'"
    cursor = connection.execute("SELECT number, name, kind FROM attributes ORDER BY number")
    entries = cursor.fetchmany(MAX_ATTRIBUTES + 1)
    numbers = [number for number, _, _ in entries]
    if numbers != [*range(len(entries))] or [*map(str, numbers)] != columns:
        return "has columns that do not fit its attributes"
    if {name: kind for _, name, kind in entries} != dict(attributes):
        return "has other attributes than catalog.json says"
    for table in ("items", "known"):
        # Asked for one by one, SQLite finds each at an end of the table and reads no more of it.
        first, last = (
            connection.execute(f"SELECT {end}(row) FROM {table}").fetchone()[0]
            for end in ("min", "max")
        )
        if (first, last) != ends:
            return f"does not have {count:,} items: its rows of '{table}' go from {first} to {last}"
    return None


def value_problem(kind: Kind, value: object) -> bool:
    """Return whether a value that SQLite gives is not one of an attribute of this kind."""
    match kind:
        case "number":
            return not isinstance(value, int | float) or value - value != 0
        case "boolean":
            return value not in (0, 1)
    return not isinstance(value, str)


def _statements() -> dict[str, str]:
    """Return by table how it is made, with single blanks."""
    statements = [" ".join(one.split()) for one in TABLES.split(";") if one.strip()]
    return {re.split(r"TABLE (\w+)", one)[1]: one for one in statements}


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
        self,
        id: str,
        title: str,
        text: str,
        media: str | None,
        attributes: Mapping[str, PlainValue],
        picture_digest: bytes | None = None,
        text_digest: bytes | None = None,
    ) -> bool:
        """Add an item at the end; False if there is one with this id already.

        picture_digest, text_digest: of what its vectors were made of, to see whether it changes.
        """
        added = self.connection.execute(
            "INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self.count, id, title, text, media, picture_digest, text_digest),
        )
        if not added.rowcount:
            return False
        self._add_values(self.count, attributes)
        self.count += 1
        return True

    def has(self, id: str) -> bool:
        """Return whether there is an item with this id."""
        row = self.connection.execute("SELECT 1 FROM items WHERE id = ?", (id,)).fetchone()
        return row is not None

    def add_attribute(self, name: str, kind: Kind | None = None) -> None:
        """Make an attribute known before any value of it comes."""
        self._number(name)
        if kind is not None:
            self._kinds[name].add(kind)

    def add_tombstone(self, id: str, view: str, version: int, vector: bytes) -> None:
        """Keep the vector of an item that is gone; version: the last that had it."""
        self.connection.execute(
            "INSERT OR REPLACE INTO departed VALUES (?, ?, ?, ?)", (id, view, version, vector)
        )

    def finish(self) -> dict[str, Kind]:
        """Settle the kinds, index tags and words; return the kind of every attribute."""
        kinds = {name: common_kind(own or {"text"}) for name, own in self._kinds.items()}
        run = self.connection.execute
        for name, kind in kinds.items():
            number = self._numbers[name]
            run("INSERT INTO attributes VALUES (?, ?, ?)", (number, name, kind))
            run(_CONVERSIONS[kind].format(column=f"a{number}"))
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
        # So that updates can put a log beside the file; the file itself is never written again.
        run("PRAGMA journal_mode=WAL").close()
        return kinds

    def _add_values(self, row: int, attributes: Mapping[str, PlainValue]) -> None:
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
            if len(self._numbers) == MAX_ATTRIBUTES:
                raise BadInput(
                    f"The items have more than {MAX_ATTRIBUTES} different attributes.",
                    "Name the ones to keep.",
                )
            self._numbers[name] = len(self._numbers)
            self._kinds[name] = set()
            self.connection.execute(f"ALTER TABLE known ADD COLUMN a{self._numbers[name]}")
        return self._numbers[name]


_CONVERSIONS: Mapping[Kind, str] = {
    "number": "UPDATE known SET {column} = CAST({column} AS NUMERIC) "
    "WHERE typeof({column}) = 'text'",
    "boolean": "UPDATE known SET {column} = (lower({column}) = 'true') WHERE {column} IS NOT NULL",
    "text": "UPDATE known SET {column} = CAST({column} AS TEXT) "
    "WHERE typeof({column}) IN ('integer', 'real')",
    "tags": "UPDATE known SET {column} = CASE typeof({column}) WHEN 'blob' "
    "THEN CAST({column} AS TEXT) ELSE json_array(CAST({column} AS TEXT)) END "
    "WHERE {column} IS NOT NULL",
}
