"""Sessions in one SQLite file, shared by any number of threads and processes of one machine."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seeker.errors import BadInput
from seeker.stores.base import StoreFailed
from seeker.stores.connections import Connections
from seeker.stores.sql import Cursor, SqlStore, Transaction

PATIENCE = 20.0
"""Seconds to wait for another process that is writing."""


class SqliteStore(SqlStore):
    """A file with a write-ahead log; one connection per thread.

    `synchronous=FULL` makes every answered click outlive a loss of power, not only a crash of the
    process. One thread at a time writes: waiting for a lock of ours is quicker than SQLite's
    sleeping and asking again.
    """

    def __init__(self, path: str | os.PathLike[str], synchronous: str = "FULL") -> None:
        self._path = Path(path)
        self._synchronous = synchronous
        self._connections = Connections(self._opened)
        self._writer = threading.Lock()
        self._file: tuple[int, int] | None = None
        if not self._path.parent.is_dir():
            raise BadInput(
                f"The folder '{self._path.parent}' for the store is not there.",
                "Make it, or name another file with --store.",
            )
        try:
            self.migrate()
            self._file = self._there()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Lend this thread's connection; each statement sees a state of its own."""
        try:
            yield _Running(self._connection())
        except sqlite3.Error as error:
            raise _failed(error) from error

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Open a transaction that keeps other writers out from its beginning."""
        with self._writer:
            try:
                connection = self._connection()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield _Running(connection)
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise _failed(error) from error

    def close(self) -> None:
        """Close all connections; the last to leave folds the log into the file."""
        with self._writer:
            self._connections.close()

    def _there(self) -> tuple[int, int] | None:
        """Return which file is at the store's path now."""
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _connection(self) -> sqlite3.Connection:
        # A file that was moved away can still be written to, but nobody would ever read it there.
        if self._file is not None and self._file != self._there():
            raise StoreFailed(
                "The file in which sessions are kept was moved or removed.",
                "Bring it back, or start the service again.",
            )
        return self._connections.get()

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            # People's data that is deleted shall be gone from the file, too.
            connection.execute("PRAGMA secure_delete = ON")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


class _Running:
    """Runs statements on a connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __call__(self, sql: str, *values: object) -> Cursor:
        return self._connection.execute(sql, values)


def _failed(error: sqlite3.Error) -> StoreFailed:
    return StoreFailed(
        f"The sessions cannot be kept or read ({error}).",
        "Check the file named by --store and the space on its disk, and try again.",
    )
