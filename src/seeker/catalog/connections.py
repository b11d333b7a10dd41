"""Connections to the item table, safe for many threads and after a fork."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from seeker.errors import Conflict


class Unreadable(Conflict):
    """A catalog whose files are not as they were when it was opened."""

    http_status = 503
    title = "The catalog cannot be read"


def unreadable(what: str) -> Unreadable:
    """Return the error for an item table that holds what it should not."""
    return Unreadable(
        f"The item table of the catalog cannot be read ({what}).",
        "Check the catalog with `seeker verify`.",
    )


class Connections(Protocol):
    """Gives a connection for the length of a `with` block."""

    def use(self) -> AbstractContextManager[sqlite3.Connection]:
        """Lend a connection."""
        ...


class _Held:
    """A connection that is closed when its thread ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.process = os.getpid()

    def __del__(self) -> None:
        self.connection.close()


def connect(path: Path) -> sqlite3.Connection:
    """Open a file of items to read, one that may come from elsewhere.

    `immutable` makes SQLite take no locks at all and look at no journal, so that nothing can block
    or be inherited. Not mapped: a file that is cut off is an error then, and not the end of the
    process.
    """
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        for setting in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"):
            connection.execute(f"PRAGMA {setting}").close()
    except BaseException:
        connection.close()
        raise
    return connection


class FileConnections:
    """One read-only connection per thread and process to a file that never changes."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._local = threading.local()

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """Lend this thread's connection."""
        held: _Held | None = getattr(self._local, "held", None)
        if held is None or held.process != os.getpid():
            held = self._local.held = _Held(self._open())
        try:
            yield held.connection
        except sqlite3.Error as error:
            raise unreadable(str(error)) from None

    def _open(self) -> sqlite3.Connection:
        try:
            return connect(self._path)
        except sqlite3.OperationalError:
            raise Unreadable(
                "This version of the catalog has been tidied away.", "Open the catalog again."
            ) from None


class MemoryConnection:
    """A database in memory, made when it is first needed and used by one thread at a time."""

    def __init__(self, fill: Callable[[sqlite3.Connection], None]) -> None:
        self._fill = fill
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._held: _Held | None = None

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection; others wait."""
        if self._process != os.getpid():
            # A child of a fork may have inherited a lock that a thread of its parent held.
            self._process, self._lock, self._held = os.getpid(), threading.Lock(), None
        with self._lock:
            if self._held is None:
                held = _Held(sqlite3.connect(":memory:", check_same_thread=False))
                self._fill(held.connection)
                self._held = held
            yield self._held.connection
