"""Stores that tests of this folder open: empty ones, and one of an older version."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.stores import DURABLE, NewStore, connect

BEFORE = Path(__file__).parent / "store_schema_4.sql"
"""A store as it was written before events had checksums: two sessions of the catalog `small`."""


@pytest.fixture(params=DURABLE)
def address(request: pytest.FixtureRequest, new_store: NewStore) -> str:
    return new_store(request.param)


@pytest.fixture
def older(address: str) -> str:
    """The address of a store of the version before."""
    with connect(address) as connection:
        # PostgreSQL wants to know sessions before the events that belong to them.
        written = BEFORE.read_text().removeprefix("BEGIN TRANSACTION;\n").split(";\n")
        parts = [part for part in written if part.strip() not in ("", "COMMIT;", "COMMIT")]
        first = ("CREATE TABLE sessions", 'INSERT INTO "sessions"')
        for part in sorted(parts, key=lambda part: not part.startswith(first)):
            connection.execute(part)
    return address
