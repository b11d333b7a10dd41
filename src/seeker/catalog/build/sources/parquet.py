"""Rows of a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seeker.catalog.build.source import RowProblem
from seeker.errors import BadInput, missing_package


class ParquetRows:
    """The rows of a Parquet file, read in batches by pyarrow."""

    loose = False

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise missing_package("Parquet", "pyarrow", "parquet", BadInput) from None
        self._path = path
        try:
            with pyarrow.parquet.ParquetFile(path) as file:
                self.columns = list(file.schema_arrow.names)
                self._count = int(file.metadata.num_rows)
        except pyarrow.ArrowException as error:
            raise BadInput(f"'{path}' cannot be read as Parquet ({_first(error)}).") from None

    def origin(self) -> dict[str, Any]:
        """Return where the rows come from."""
        return {"kind": "parquet", "path": str(self._path)}

    def count(self) -> int:
        """Return how many rows there are."""
        return self._count

    def rows(self) -> Iterator[tuple[str, dict[str, Any] | RowProblem]]:
        """Yield each row with its place."""
        import pyarrow
        import pyarrow.parquet

        number = 0
        try:
            with pyarrow.parquet.ParquetFile(self._path) as file:
                for batch in file.iter_batches(batch_size=1024):
                    for row in batch.to_pylist():
                        number += 1
                        yield f"row {number}", row
        except (pyarrow.ArrowException, OSError) as error:
            raise BadInput(
                f"'{self._path}' cannot be read beyond row {number} ({_first(error)})."
            ) from None


def _first(error: Exception) -> str:
    return str(error).splitlines()[0][:120]
