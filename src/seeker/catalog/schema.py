"""The tables of items.sqlite.

`items` has one row per item, numbered as in the views. `known` has one column per attribute (a0,
a1, …; `attributes` says which is which), so that a filter is one scan over a narrow table. `tags`
holds the single tags of list-valued attributes. `words` is the keyword index. `departed` keeps the
vectors of items that were removed, for sessions in which they were judged.
"""

from __future__ import annotations

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
