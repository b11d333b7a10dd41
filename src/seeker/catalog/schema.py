"""The tables of items.sqlite.

`items` has one row per item, numbered as in the views. `known` has one column per attribute (a0,
a1, …; `attributes` says which is which), so that a filter is one scan over a narrow table. `tags`
holds the single tags of list-valued attributes. `words` is the keyword index. `departed` keeps the
vectors of items that were removed, for sessions in which they were judged.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping

from seeker.catalog.values import Kind, short

TABLES = """
CREATE TABLE items (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    media TEXT
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

MOST_ATTRIBUTES = 1000
"""SQLite allows 2,000 columns; nobody filters by a thousand."""

_SEARCH_TABLES = {f"words_{part}" for part in ("data", "idx", "docsize", "config")}
"""What the keyword index is made of."""

_KNOWN = re.compile(r"CREATE TABLE known \(row INTEGER PRIMARY KEY((?:, a\d+)*)\)")


def problem(
    connection: sqlite3.Connection, attributes: Mapping[str, Kind], count: int
) -> str | None:
    """Return what is wrong with an item table from elsewhere, as far as a quick look shows it.

    It must be made of just these tables: a view or a trigger in their place would run what its
    maker likes. attributes, count: what catalog.json says.
    """
    expected = _statements()
    columns = []
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema"):
        if kind == "index" and sql is None:
            continue  # one that goes with a table's key
        written = " ".join(sql.split()) if isinstance(sql, str) else ""
        match = _KNOWN.fullmatch(written) if name == "known" else None
        if match is not None:
            columns = re.findall(r"\d+", match[1])
        elif name in _SEARCH_TABLES and kind == "table" and written.startswith("CREATE TABLE "):
            pass
        elif kind != "table" or written != expected.get(name):
            return f"holds a {kind} {short(name)} that does not belong there"
        expected.pop(name, None)
    if expected:
        return f"lacks the table '{min(expected)}'"
    found = connection.execute("SELECT number, name, kind FROM attributes ORDER BY number")
    listed = found.fetchmany(MOST_ATTRIBUTES + 1)
    numbers = [number for number, _, _ in listed]
    if numbers != [*range(len(listed))] or [*map(str, numbers)] != columns:
        return "has columns that do not fit its attributes"
    if {name: kind for _, name, kind in listed} != dict(attributes):
        return "has other attributes than catalog.json says"
    for table in ("items", "known"):
        # Asked for one by one, SQLite finds each at an end of the table and reads no more of it.
        first, last = (
            connection.execute(f"SELECT {end}(row) FROM {table}").fetchone()[0]
            for end in ("min", "max")
        )
        if (first, last) != (0, count - 1):
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
    written = [" ".join(one.split()) for one in TABLES.split(";") if one.strip()]
    return {re.split(r"TABLE (\w+)", one)[1]: one for one in written}
