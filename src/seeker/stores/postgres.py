"""Sessions in PostgreSQL: for several machines that serve the same people."""

from __future__ import annotations

import math
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from seeker.errors import BadInput, missing_package
from seeker.stores.base import (
    StaleWriteError,
    StoreError,
    StoreFull,
    StoreLocked,
    Timeouts,
    WriteAlone,
)
from seeker.stores.sql import Connections, Cursor, SqlStore, Transaction
from seeker.stores.watchdog import Watchdog
from seeker.stores.write_queue import Write

if TYPE_CHECKING:
    from psycopg import Connection

_MIGRATION_LOCK = 7_316_015
_UPGRADE_SECONDS = 600.0
"""How long bringing the tables up to date may take once it has begun."""
_GRACE_SECONDS = 0.5
"""The database ends what takes too long; this much later it is hung up on, if it has not."""
_BATCH_LOCK_MS = 20
"""How long all who write together wait for one row that somebody else has locked."""
_REMEDY = "Check that the database named by --store is running, and try again."


class _Unfitting(StoreError):
    """A statement does not fit what is stored, as after one that changed nothing."""


class PostgresStore(SqlStore):
    """Tables in a database; one connection per thread, opened anew when it was lost."""

    def __init__(self, address: str, timeouts: Timeouts | None = None) -> None:
        try:
            import psycopg
        except ImportError:
            raise missing_package("PostgreSQL", "psycopg", "postgres", BadInput) from None
        self._psycopg = psycopg
        self._address, self._password = _check_address(address)
        self._timeouts = timeouts or Timeouts()
        self.write_seconds = self._timeouts.lock
        self._watchdog = Watchdog()
        self._connections = Connections(self._open, lambda connection: not connection.closed)
        try:
            self.migrate(self._timeouts)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Lend this thread's connection; each statement is a transaction of its own."""
        with self._lend(self._timeouts.statement) as connection:
            yield _Runner(connection)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Open a transaction; it is on disk when the block has ended."""
        with self._lend(self._timeouts.statement) as connection, connection.transaction():
            yield _Runner(connection)

    def commit(self, writes: Sequence[Write]) -> None:
        """Keep some writes, all in one transaction and two journeys there and back.

        All statements are on their way before it is known whether the first fits. A session that
        somebody else has locked must not hold up the others.
        """
        ordered = sorted(
            writes, key=lambda write: write.session
        )  # everywhere the same way, or two processes wait for one another
        statements = [one for write in ordered for one in write.statements]
        try:
            with (
                self._lend(self._timeouts.statement) as connection,
                connection.pipeline() as pipeline,
                connection.transaction(),
            ):
                run = _Runner(connection)
                run(f"SET LOCAL lock_timeout = {_BATCH_LOCK_MS}")
                changed = [run(sql, *values) for sql, values, _ in statements]
                pipeline.sync()
                for cursor, one in zip(changed, statements, strict=True):
                    if cursor.rowcount != 1:
                        raise StaleWriteError(one.stale)
        except (StoreLocked, _Unfitting):
            raise WriteAlone from None

    @contextmanager
    def upgrading(self) -> Iterator[Transaction]:
        """Open a transaction for one process at a time, in which a statement may take long."""
        with self._lend(_UPGRADE_SECONDS) as connection, connection.transaction():
            run = _Runner(connection)
            run("SET LOCAL statement_timeout = 0")
            if not run("SELECT pg_try_advisory_xact_lock(?)", _MIGRATION_LOCK).fetchall()[0][0]:
                raise StoreLocked(
                    "another process is bringing its tables in PostgreSQL up to date",
                    "Wait for it, or end it, and try again.",
                )
            yield run

    def version(self, run: Transaction) -> int:
        """Return the version of the tables that are there, 0 if there are none."""
        if run("SELECT to_regclass('seeker_schema')").fetchall()[0][0] is None:
            return 0
        return int(run("SELECT max(version) FROM seeker_schema").fetchall()[0][0] or 0)

    def reclaim(self, most: int) -> int:
        """PostgreSQL's own autovacuum uses space again."""
        return 0

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    @contextmanager
    def _lend(self, seconds: float) -> Iterator[Connection[Any]]:
        """Lend this thread's connection for so many seconds, and tell of failures in our words."""
        overdue = False
        try:
            connection = self._connections.get()
            limit = seconds + _GRACE_SECONDS
            with self._watchdog.limit(limit, lambda: _hang_up(connection)) as operation:
                try:
                    yield connection
                finally:
                    overdue = operation.overdue
        except self._psycopg.Error as error:
            raise self._store_error(error, seconds if overdue else None) from error

    def _store_error(self, error: Exception, seconds: float | None) -> StoreError:
        first = str(error).strip().splitlines()[0] if str(error).strip() else "no answer"
        reason = f"PostgreSQL failed ({first})"
        if seconds is not None:
            reason = f"PostgreSQL did not answer within {seconds:g} s"
        if self._password:
            reason = reason.replace(self._password, "…")
        if isinstance(error, self._psycopg.errors.DiskFull):
            return StoreFull("the disk of PostgreSQL is full", "Make space.")
        if isinstance(error, self._psycopg.IntegrityError):
            return _Unfitting(reason, _REMEDY)
        if isinstance(error, self._psycopg.errors.LockNotAvailable):
            return StoreLocked(reason, "End whoever holds the lock, and try again.")
        return StoreError(reason, _REMEDY)

    def _open(self) -> Connection[Any]:
        limits = self._timeouts
        connection = self._psycopg.connect(
            self._address, autocommit=True, connect_timeout=max(2, math.ceil(limits.connect))
        )
        try:
            with self._watchdog.limit(
                limits.connect + _GRACE_SECONDS, lambda: _hang_up(connection)
            ):
                connection.execute(
                    "SELECT set_config('lock_timeout', %s, false),"
                    " set_config('statement_timeout', %s, false),"
                    # Who stops in the midst of a transaction must not hold up all others.
                    " set_config('idle_in_transaction_session_timeout', %s, false)",
                    [
                        f"{max(1, round(1000 * seconds))}ms"
                        for seconds in (limits.lock, limits.statement, 4 * limits.statement)
                    ],
                )
        except BaseException:
            connection.close()
            raise
        return connection


def _hang_up(connection: Connection[Any]) -> None:
    """End a connection from another thread: whoever waits for an answer learns it at once."""
    with suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


def _check_address(address: str) -> tuple[str, str]:
    """Return the address of a database if it can be read, and the password in it.

    Errors about an address would show its password.
    """
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(address)
    except ProgrammingError:
        raise BadInput(
            "The address of the PostgreSQL database cannot be read.",
            "Write it like postgresql://user:password@host:5432/name, odd letters as %20.",
        ) from None
    return address, str(parts.get("password") or "")


class _Runner:
    """Runs statements on a connection."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def __call__(self, sql: str, *values: object) -> Cursor:
        return self._connection.execute(sql.replace("?", "%s"), values)
