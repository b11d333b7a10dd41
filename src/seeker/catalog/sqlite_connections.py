"""Connections to an item table, as many as are used at once, in a file or in memory."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from seeker.errors import Conflict


class ItemTableError(Conflict):
    """A catalog whose files are not as they were when it was opened."""

    http_status = 503


def unreadable(what: str) -> ItemTableError:
    """Return the error for an item table that holds what it should not."""
    return ItemTableError(
        f"The item table of the catalog cannot be read ({what}).",
        "Check the catalog with `seeker verify`.",
    )


class Connections(Protocol):
    """Gives a connection for the length of a `with` block."""

    def use(self) -> AbstractContextManager[sqlite3.Connection]:
        """Lend a connection."""
        ...


class _OwnedConnection:
    """A connection that is closed with whom it belongs to."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


def connect(path: Path, log: bool = False) -> sqlite3.Connection:
    """Open a file of items to read, one that may come from elsewhere.

    `immutable` makes SQLite take no locks at all and look at no journal, so that nothing can block
    or be inherited. log: read what updates have changed, too, from the log beside it; then locks
    are left out, and the index of the log is held in memory, for neither file ever changes. Not
    mapped: a file that is cut off is an error then, and not the end of the process.
    """
    way = f"vfs={'win32' if os.name == 'nt' else 'unix'}-none" if log else "immutable=1"
    address = f"{path.absolute().as_uri()}?mode=ro&{way}"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        if log:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE").close()
        for setting in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"):
            connection.execute(f"PRAGMA {setting}").close()
    except BaseException:
        connection.close()
        raise
    return connection


class FileConnections:
    """Read-only connections to a file that never changes, as many as are used at once.

    Any thread gets one that nobody uses. Where the file was moved away, those that are open go on,
    and who finds none waits for one.
    """

    def __init__(
        self, path: Path, log: bool = False, first: sqlite3.Connection | None = None
    ) -> None:
        """Read a file; log: with what updates have changed, from the log beside it.

        first: a connection that is open. If it has read, the file and its log may be removed.
        """
        self._path = path.absolute()
        self._log = log
        self._released = False
        self._reset()
        if first is not None:
            self._idle.append(_OwnedConnection(first))

    def _reset(self) -> None:
        self._process = os.getpid()
        self._returned = threading.Condition()
        self._idle: list[_OwnedConnection] = []
        self._lent = 0
        self._waiting = 0

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection."""
        if self._process != os.getpid():
            self._reset()  # a child of a fork has connections of its own
        owned = self._take()
        try:
            yield owned.connection
        except sqlite3.Error as error:
            raise unreadable(str(error)) from None
        finally:
            with self._returned:
                self._lent -= 1
                if not self._released or self._waiting:
                    self._idle.append(owned)
                    self._returned.notify()

    def release(self) -> None:
        """Close the connections that nobody uses, and from now on each that comes back."""
        with self._returned:
            self._released = True
            self._idle = []

    def _take(self) -> _OwnedConnection:
        with self._returned:
            if not self._idle:
                try:
                    self._idle.append(_OwnedConnection(connect(self._path, self._log)))
                except sqlite3.OperationalError:
                    if not self._lent:
                        raise ItemTableError(
                            "This version of the catalog has been tidied away.",
                            "Open the catalog again.",
                        ) from None
                    self._waiting += 1
                    self._returned.wait_for(lambda: self._idle)
                    self._waiting -= 1
            self._lent += 1
            return self._idle.pop()


class MemoryConnection:
    """A database in memory, made when it is first needed and used by one thread at a time."""

    def __init__(self, fill: Callable[[sqlite3.Connection], None]) -> None:
        self._fill = fill
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._owned: _OwnedConnection | None = None

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection; others wait."""
        if self._process != os.getpid():
            # A child of a fork may have inherited a lock that a thread of its parent owned.
            self._process, self._lock, self._owned = os.getpid(), threading.Lock(), None
        with self._lock:
            if self._owned is None:
                owned = _OwnedConnection(sqlite3.connect(":memory:", check_same_thread=False))
                self._fill(owned.connection)
                self._owned = owned
            yield self._owned.connection
