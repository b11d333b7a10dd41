"""Rows of a PostgreSQL table; vectors of pgvector are read as they print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from seeker.catalog.build.source import RowProblem, SourceOptions
from seeker.errors import BadInput, missing_package

if TYPE_CHECKING:
    import psycopg

_BATCH_ROWS = 1000


class PostgresRows:
    """The rows of one table, streamed in one read-only snapshot, ordered by their id."""

    loose = False

    def __init__(self, address: str, options: SourceOptions) -> None:
        try:
            import psycopg
        except ImportError:
            raise missing_package("PostgreSQL", "psycopg", "postgres", BadInput) from None
        if not options.table:
            raise BadInput("A database has many tables.", "Name the one to read with --table.")
        self._address = address
        self._table = str(options.table)
        self._error = psycopg.Error
        with self._connect() as connection:
            query = self._query("SELECT * FROM {} LIMIT 0")
            self.columns = [one.name for one in connection.execute(query).description or ()]
            self._key = options.id or self._primary_key(connection)
            if self._key and self._key not in self.columns:
                raise BadInput(
                    f"The table {self._table!r} has no column {self._key!r}.",
                    f"It has {self.columns}.",
                )

    def origin(self) -> dict[str, Any]:
        """Return where the rows come from, without the password."""
        parts = urlsplit(self._address)
        host = parts.netloc.rpartition("@")[2]
        bare = urlunsplit((parts.scheme, host, parts.path, "", ""))
        return {"kind": "postgresql", "path": bare, "table": self._table}

    def count(self) -> int:
        """Return how many rows there are."""
        with self._connect() as connection:
            row = connection.execute(self._query("SELECT count(*) FROM {}")).fetchone()
            return int(row[0]) if row else 0

    def rows(self) -> Iterator[tuple[str, dict[str, Any] | RowProblem]]:
        """Yield each row with its place."""
        from psycopg import sql

        order = sql.Identifier(self._key) if self._key else sql.SQL("ctid")
        query = self._query("SELECT * FROM {} ORDER BY ") + order
        with self._connect() as connection, connection.cursor("seeker") as cursor:
            cursor.itersize = _BATCH_ROWS
            cursor.execute(query)
            for number, row in enumerate(cursor, start=1):
                yield f"row {number}", dict(zip(self.columns, row, strict=True))

    def _query(self, text: str) -> Any:
        from psycopg import sql

        return sql.SQL(text).format(sql.Identifier(*self._table.split(".")))

    def _primary_key(self, connection: Any) -> str | None:
        keys = connection.execute(
            "SELECT a.attname FROM pg_index i JOIN pg_attribute a "
            "ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) "
            "WHERE i.indrelid = %s::regclass AND i.indisprimary",
            (self._quoted(connection),),
        ).fetchall()
        return str(keys[0][0]) if len(keys) == 1 else None

    def _quoted(self, connection: Any) -> str:
        from psycopg import sql

        return str(sql.Identifier(*self._table.split(".")).as_string(connection))

    def _connect(self) -> _Connection:
        return _Connection(self._address)


class _Connection:
    """A connection in a read-only snapshot, whose errors are sentences without secrets."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> psycopg.Connection[Any]:
        import psycopg

        try:
            self._connection = psycopg.connect(self._address, connect_timeout=15)
        except psycopg.ProgrammingError:
            # The reason would quote the address, and with it a password.
            raise BadInput(
                "The address of the database cannot be read.",
                "Write it like postgresql://user:password@host:5432/name, odd letters as %20.",
            ) from None
        except psycopg.Error as error:
            raise BadInput(f"The database cannot be reached ({_first(error)}).") from None
        self._connection.read_only = True
        self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        return self._connection

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        import psycopg

        self._connection.close()
        if kind is not None and issubclass(kind, psycopg.Error):
            raise BadInput(f"The database refused ({_first(error)}).") from None


def _first(error: object) -> str:
    return (str(error).strip().splitlines() or ["no reason given"])[0][:160]
