"""Vector databases as a source: collections of Qdrant and Chroma, tables of LanceDB.

They are told by what they can do, so that no client has to be installed for any of this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from seeker.catalog.build.source import RowProblem
from seeker.catalog.build.sources.table_rows import plain_cell

_BATCH_ROWS = 256
_VECTOR = "vector"
"""The column of the vectors of a collection whose vectors have no name."""


class _StoreRows(ABC):
    """The rows of a vector database; columns: those that are known before a row is read."""

    loose = False
    kind = ""
    columns: list[str]

    @abstractmethod
    def count(self) -> int:
        """Return how many rows there are."""

    def origin(self) -> dict[str, Any]:
        """Return where the rows come from."""
        return {"kind": self.kind}

    def rows(self) -> Iterator[tuple[str, dict[str, Any] | RowProblem]]:
        """Yield each row with its place."""
        for number, row in enumerate(self._records()):
            yield f"row {number}", row

    @abstractmethod
    def _records(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as columns by name."""


class QdrantRows(_StoreRows):
    """The points of a collection of Qdrant: their ids, payloads and vectors.

    client: a `QdrantClient`, of a server, a folder or in memory.
    """

    kind = "qdrant"

    def __init__(self, client: Any, collection: str) -> None:
        self.columns = ["id"]
        self._client = client
        self._collection = collection

    def origin(self) -> dict[str, Any]:
        return {"kind": self.kind, "collection": self._collection}

    def count(self) -> int:
        return int(self._client.count(self._collection).count)

    def _records(self) -> Iterator[dict[str, Any]]:
        offset = None
        while True:
            points, offset = self._client.scroll(
                self._collection,
                limit=_BATCH_ROWS,
                offset=offset,
                with_payload=True,
                with_vectors=True,
            )
            for point in points:
                named = isinstance(point.vector, Mapping)
                vectors = point.vector if named else {_VECTOR: point.vector}
                yield _row(point.id, point.payload, vectors or {})
            if offset is None:
                return


class ChromaRows(_StoreRows):
    """The records of a collection of Chroma: ids, metadata, documents and embeddings."""

    kind = "chroma"

    def __init__(self, collection: Any) -> None:
        self.columns = ["id"]
        self._collection = collection

    def origin(self) -> dict[str, Any]:
        return {"kind": self.kind, "collection": str(getattr(self._collection, "name", ""))}

    def count(self) -> int:
        return int(self._collection.count())

    def _records(self) -> Iterator[dict[str, Any]]:
        parts = ["metadatas", "documents", "embeddings"]
        for offset in range(0, self.count(), _BATCH_ROWS):
            some = self._collection.get(include=parts, limit=_BATCH_ROWS, offset=offset)
            count = len(some["ids"])
            metadata, documents, vectors = (
                [None] * count if some[part] is None else some[part] for part in parts
            )
            for place, id in enumerate(some["ids"]):
                said = {**(metadata[place] or {})}
                if documents[place] is not None:
                    said["text"] = documents[place]
                yield _row(id, said, {_VECTOR: vectors[place]})


class LanceRows(_StoreRows):
    """The rows of a table of LanceDB."""

    kind = "lancedb"

    def __init__(self, table: Any) -> None:
        self.columns = [str(name) for name in table.schema.names]
        self._table = table

    def origin(self) -> dict[str, Any]:
        return {"kind": self.kind, "table": str(getattr(self._table, "name", ""))}

    def count(self) -> int:
        return int(self._table.count_rows())

    def _records(self) -> Iterator[dict[str, Any]]:
        batches = self._table.search().limit(self.count()).to_batches(_BATCH_ROWS)
        for batch in batches:
            yield from batch.to_pylist()


def _row(id: object, said: Mapping[str, Any] | None, vectors: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row: what is said of an item, its vectors by name, and above all its id."""
    columns = {
        str(name): plain_cell(value)
        for part in (said or {}, vectors)
        for name, value in part.items()
        if value is not None
    }
    return {**columns, "id": str(id)}


def store_rows(source: object) -> _StoreRows | None:
    """Return the rows of a vector database; None for all else.

    source: a pair of a Qdrant client and the name of a collection, a collection of Chroma, or a
    table of LanceDB.
    """
    if isinstance(source, tuple) and len(source) == 2 and isinstance(source[1], str):
        client, collection = source
        return QdrantRows(client, collection) if hasattr(client, "scroll") else None
    if hasattr(source, "count_rows") and hasattr(source, "schema"):
        return LanceRows(source)
    if hasattr(source, "get") and hasattr(source, "upsert") and hasattr(source, "metadata"):
        return ChromaRows(source)
    return None
