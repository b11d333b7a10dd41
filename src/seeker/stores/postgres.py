"""Sessions in PostgreSQL: for several machines that serve the same people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from seeker.errors import BadInput
from seeker.stores.base import StoreFailed
from seeker.stores.connections import Connections
from seeker.stores.sql import Cursor, SqlStore, Transaction

if TYPE_CHECKING:
    from psycopg import Connection

_MIGRATING = 7_316_015


class PostgresStore(SqlStore):
    """Tables in a database; one connection per thread, opened anew when it was lost."""

    def __init__(self, address: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise BadInput(
                "PostgreSQL needs the package 'psycopg'.",
                'Install it with: pip install "seeker[postgres]"',
            ) from None
        self._psycopg = psycopg
        self._address = _checked(address)
        self._connections = Connections(self._opened, lambda connection: not connection.closed)
        try:
            self.migrate()
        except BaseException:
            self.close()
            raise

    def migrate(self, only_to: int | None = None) -> None:
        """Bring the tables to the present version; workers that start at once take turns."""
        with self.writing() as run:
            run("SELECT pg_advisory_lock(?)", _MIGRATING)
        try:
            super().migrate(only_to)
        finally:
            with self.writing() as run:
                run("SELECT pg_advisory_unlock(?)", _MIGRATING)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Lend this thread's connection; each statement is a transaction of its own."""
        with self._told():
            yield _Running(self._connections.get())

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Open a transaction; it is on disk when the block has ended."""
        with self._told(), self._connections.get().transaction():
            yield _Running(self._connections.get())

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else "no answer"
            raise StoreFailed(
                f"PostgreSQL does not keep or give the sessions ({reason}).",
                "Check that the database named by --store is running, and try again.",
            ) from error

    def _opened(self) -> Connection[Any]:
        # A name or password in an error would end up in logs: only the reason is passed on.
        return self._psycopg.connect(self._address, autocommit=True, connect_timeout=10)


def _checked(address: str) -> str:
    """Return the address of a database if it can be read; errors would show a password in it."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(address)
    except ProgrammingError:
        raise BadInput(
            "The address of the PostgreSQL database cannot be read.",
            "Write it like postgresql://user:password@host:5432/name, odd letters as %20.",
        ) from None
    return address


class _Running:
    """Runs statements on a connection."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def __call__(self, sql: str, *values: object) -> Cursor:
        return self._connection.execute(sql.replace("?", "%s"), values)
