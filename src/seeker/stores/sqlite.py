"""Sessions in one SQLite file, shared by any number of threads and processes of one machine."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from seeker.errors import BadInput
from seeker.stores.base import StoreError, StoreFull, StoreLocked, Timeouts
from seeker.stores.sql import Connections, Cursor, SqlStore, Transaction
from seeker.stores.watchdog import Watchdog

APPLICATION_ID = 0x5365656B
"""Marks a file as a store of ours: "Seek" in ASCII."""
_FIRST_WAIT_SECONDS = 0.5
"""At the start it is said after so long that somebody is waited for."""
_WAL_BYTES = 16_000_000
"""The write-ahead log is cut back to this size after it has grown beyond it."""
_SPARE_PAGES = 8
"""One page in so many may be unused."""
_REMEDY = "Check the file named by --store and its disk, and try again."


class SqliteStore(SqlStore):
    """A file with a write-ahead log; one connection per thread.

    `synchronous=FULL` makes every answered click outlive a loss of power, not only a crash of the
    process. One thread at a time writes: waiting for a lock of ours is quicker than SQLite's
    sleeping and asking again.
    """

    def __init__(self, path: str | os.PathLike[str], timeouts: Timeouts | None = None) -> None:
        self._path = Path(path)
        self._timeouts = timeouts or Timeouts()
        self.write_seconds = self._timeouts.lock
        self._busy_seconds = min(_FIRST_WAIT_SECONDS, self._timeouts.lock)
        self._connections = Connections(self._open)
        self._watchdog = Watchdog()
        self._writer = threading.Lock()
        self._files: list[tuple[int, int] | None] | None = None
        self._anchor: sqlite3.Connection | None = None
        if not self._path.parent.is_dir():
            raise BadInput(
                f"The folder '{self._path.parent}' for the store is not there.",
                "Make it, or name another file with --store.",
            )
        try:
            _check_ours(self._path, self._timeouts.lock)
            self.migrate(self._timeouts)
            self._connections.close()
            self._busy_seconds = self._timeouts.lock
            # As long as one connection is open, nobody removes the log and begins another.
            self._anchor = self._open()
            self._anchor.execute("SELECT count(*) FROM seeker_schema").fetchall()
            self._files = self._file_ids()
        except sqlite3.Error as error:
            self.close()
            raise _store_error(error) from error
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Lend this thread's connection; each statement sees a state of its own."""
        with self._lend(self._timeouts.statement) as connection:
            yield _Runner(connection)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Open a transaction that keeps other writers out from its beginning."""
        seconds = self._timeouts.statement
        with self._writer_turn(), self._lend(seconds) as connection, _transaction(connection):
            yield _Runner(connection)

    @contextmanager
    def upgrading(self) -> Iterator[Transaction]:
        """Open a transaction for one process at a time, in which a statement may take long."""
        with self._writer_turn(), self._lend(float("inf")) as connection, _transaction(connection):
            yield _Runner(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    def version(self, run: Transaction) -> int:
        """Return the version of the tables that are there, 0 if there are none."""
        if not run("SELECT 1 FROM sqlite_master WHERE name = 'seeker_schema'").fetchall():
            return 0
        return int(run("SELECT max(version) FROM seeker_schema").fetchall()[0][0] or 0)

    def reclaim(self, most: int) -> int:
        """Give unused space back to the disk; files from before this was foreseen give none."""
        with self._writer_turn(), self._lend(self._timeouts.statement) as connection:

            def figure(name: str) -> int:
                return int(connection.execute(f"PRAGMA {name}").fetchone()[0])

            unused = figure("freelist_count") if figure("auto_vacuum") else 0
            # What is left is used again by the next clicks.
            pages = min(unused - figure("page_count") // _SPARE_PAGES, most // figure("page_size"))
            if pages <= 0:
                return 0
            # As a script: as a statement Python would take the first step only, which is one page.
            connection.executescript(f"PRAGMA incremental_vacuum({pages})")
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            return (unused - figure("freelist_count")) * figure("page_size")

    def compact(self) -> tuple[int, int]:
        """Write the file anew without unused space, and let it give space back from then on.

        Return how large it was and is. Nobody else can write meanwhile.
        """
        before = self._path.stat().st_size
        with self._writer_turn(), self._lend(float("inf")) as connection:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return before, self._path.stat().st_size

    def close(self) -> None:
        """Close all connections; the last to leave folds the log into the file."""
        # Who is still writing after this is stuck: others need not be.
        acquired = self._writer.acquire(timeout=self._timeouts.lock)
        try:
            self._connections.close()
            if self._anchor is not None:
                self._anchor.close()
        finally:
            if acquired:
                self._writer.release()

    def _file_ids(self) -> list[tuple[int, int] | None]:
        """Return which files are at the store's path now: the database, its log and its index."""
        files: list[tuple[int, int] | None] = []
        for suffix in ("", "-wal", "-shm"):
            try:
                file = os.stat(f"{self._path}{suffix}")
            except OSError:
                files.append(None)
            else:
                files.append((file.st_dev, file.st_ino))
        return files

    @contextmanager
    def _writer_turn(self) -> Iterator[None]:
        """Wait for the threads of this process that want to write, too."""
        if not self._writer.acquire(timeout=self._timeouts.lock):
            raise StoreLocked("another thread has been writing for long", _REMEDY)
        try:
            yield
        finally:
            self._writer.release()

    @contextmanager
    def _lend(self, seconds: float) -> Iterator[sqlite3.Connection]:
        """Lend this thread's connection for so many seconds, and tell of failures in our words."""
        # Files that were moved away can still be written to, but nobody would ever read them there.
        if self._files is not None and self._files != self._file_ids():
            raise StoreError(
                "the file in which sessions are kept, or its -wal or -shm, was moved or removed",
                "Bring it back, or start the service again.",
            )
        overdue = False
        try:
            connection = self._connections.get()
            with self._watchdog.limit(seconds, connection.interrupt) as operation:
                try:
                    yield connection
                finally:
                    overdue = operation.overdue
        except sqlite3.Error as error:
            if overdue:
                raise StoreError(f"SQLite took longer than {seconds:g} s", _REMEDY) from error
            raise _store_error(error) from error

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            if connection.execute("PRAGMA page_count").fetchone() == (0,):
                # Before all else: a file is made for giving space back, or never does.
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            # People's data that is deleted shall be gone from the file, too.
            connection.execute("PRAGMA secure_delete = ON")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def copy_store(path: Path, out: Path) -> int:
    """Write a store as it is at this moment to a new file; return how many sessions it has.

    Nobody waits for it, and a store of an older version stays one, as does its copy.
    """
    try:
        _check_ours(path, Timeouts().lock)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(out)) as copy:
            os.chmod(out, 0o600)
            # In one step: whoever writes meanwhile does not make it begin anew.
            source.backup(copy, pages=-1)
            # A copy is one file, without a log beside it.
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
            (problem,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            if problem != "ok":
                raise StoreError(f"the SQLite file is damaged ({problem})", _REMEDY)
            return int(copy.execute("SELECT count(*) FROM sessions").fetchone()[0])
    except sqlite3.Error as error:
        raise _store_error(error) from error


def _check_ours(path: Path, seconds: float) -> None:
    """Refuse a file that is a database of something else, before anything is written to it."""
    if not path.is_file() or not path.stat().st_size:
        return
    # A reader of a file with a log makes the log's files; where there are none, none are left.
    log = path.with_name(f"{path.name}-wal").exists()
    address = f"{path.absolute().as_uri()}?mode=ro{'' if log else '&immutable=1'}"
    with closing(sqlite3.connect(address, uri=True, timeout=seconds)) as connection:
        (marked,) = connection.execute("PRAGMA application_id").fetchone()
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    # Stores from before have no mark, but the table that says which version they are.
    if marked != APPLICATION_ID and (marked or (tables and "seeker_schema" not in tables)):
        raise BadInput(
            f"'{path}' is a database of something else; sessions cannot be kept in it.",
            "Name another file with --store.",
        )


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


class _Runner:
    """Runs statements on a connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __call__(self, sql: str, *values: object) -> Cursor:
        return self._connection.execute(sql, values)


def _store_error(error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", None)
    base = None if code is None else code & 0xFF
    if base == sqlite3.SQLITE_FULL:
        return StoreFull("the disk of the SQLite file is full", "Make space.")
    if base in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLocked(
            f"another process is writing to the SQLite file ({error})",
            "End whoever holds the lock, and try again.",
        )
    return StoreError(f"SQLite failed ({error})", _REMEDY)
