"""The rows of tables: JSON Lines, CSV and Parquet files, and tables in memory."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from seeker.catalog.attributes import is_unicode
from seeker.catalog.build.source import OTHER_ENCODING, RowProblem
from seeker.errors import BadInput, missing_package

MAX_LINE_CHARACTERS = 16 * 2**20
"""No line longer than this many characters is held."""

_BATCH_ROWS = 1024


def read_lines(handle: IO[str]) -> Iterator[str | None]:
    """Yield the lines of a file with their ends; None stands for one that is too long."""
    while line := handle.readline(MAX_LINE_CHARACTERS):
        if len(line) < MAX_LINE_CHARACTERS or line.endswith("\n"):
            yield line
            continue
        while (rest := handle.readline(MAX_LINE_CHARACTERS)) and not rest.endswith("\n"):
            pass
        yield None


def count_lines(path: Path) -> int:
    """Return how many ends of lines a file has."""
    count = 0
    with path.open("rb") as handle:
        while block := handle.read(2**20):
            count += block.count(b"\n")
    return count


def _too_large(place: str) -> RowProblem:
    return RowProblem(place, "row that is too large", "no more than 16 MB are read as one")


class JsonRows:
    """One JSON object per line."""

    loose = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self.columns: list[str] = []

    def origin(self) -> dict[str, Any]:
        """Return where the rows come from."""
        return {"kind": "jsonl", "path": str(self._path)}

    def count(self) -> int:
        """Return about how many rows there are."""
        return max(count_lines(self._path), 1)

    def rows(self) -> Iterator[tuple[str, dict[str, Any] | RowProblem]]:
        """Yield each row with its place."""
        with self._path.open(encoding="utf-8-sig", errors="surrogateescape") as handle:
            for number, line in enumerate(read_lines(handle), start=1):
                if line is None or line.strip():
                    yield f"line {number}", self._row(f"line {number}", line)

    def _row(self, place: str, line: str | None) -> dict[str, Any] | RowProblem:
        if line is None:
            return _too_large(place)
        if not is_unicode(line):
            return RowProblem(place, OTHER_ENCODING, "not UTF-8")
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return RowProblem(place, "line that is not JSON")
        if not isinstance(row, dict):
            return RowProblem(place, "line that is not a JSON object")
        return row


class CsvRows:
    """The rows of a CSV file with a header; the delimiter is read off the header."""

    loose = True

    def __init__(self, path: Path, encoding: str) -> None:
        self._path = path
        self._encoding = encoding
        try:
            with self._open() as handle:
                first = next(read_lines(handle), None)
        except LookupError:
            raise BadInput(
                f"{encoding!r} is not an encoding.", "Use 'utf-8' or 'latin-1'."
            ) from None
        if not first or not first.strip():
            raise BadInput(f"'{path}' does not begin with the names of its columns.")
        self._delimiter = max("\t;|,", key=first.count) if path.suffix != ".tsv" else "\t"
        with self._open() as handle:
            self.columns = [name.strip() for name in next(self._cells(handle))[1] or []]
        doubled = [name for name in self.columns if name and self.columns.count(name) > 1]
        if doubled:
            raise BadInput(f"'{path}' has more than one column {doubled[0]!r}.", "Rename them.")

    def origin(self) -> dict[str, Any]:
        """Return where the rows come from."""
        return {"kind": "csv", "path": str(self._path)}

    def count(self) -> int:
        """Return about how many rows there are."""
        return max(count_lines(self._path) - 1, 1)

    def rows(self) -> Iterator[tuple[str, dict[str, Any] | RowProblem]]:
        """Yield each row with its place."""
        with self._open() as handle:
            cells = self._cells(handle)
            next(cells)
            for number, (line, row) in enumerate(cells, start=1):
                place = f"row {number} (line {line})"
                yield place, self._row(place, row)

    def _row(self, place: str, row: list[str] | None) -> dict[str, Any] | RowProblem:
        if row is None:
            return _too_large(place)
        if len(row) != len(self.columns):
            return RowProblem(
                place, "row with missing or extra cells", f"{len(row)} of {len(self.columns)}"
            )
        if not all(map(is_unicode, row)):
            return RowProblem(place, OTHER_ENCODING, f"not {self._encoding}; --encoding says which")
        return {name: cell or None for name, cell in zip(self.columns, row, strict=True) if name}

    def _open(self) -> IO[str]:
        return self._path.open(encoding=self._encoding, errors="surrogateescape", newline="")

    def _cells(self, handle: IO[str]) -> Iterator[tuple[int, list[str] | None]]:
        """Yield (line, cells) of each row that is not empty; None for one that is too large."""
        too_long: list[int] = []

        def short_enough() -> Iterator[str]:
            for number, line in enumerate(read_lines(handle), start=1):
                if line is None:
                    too_long.append(number)
                yield line or "\n"

        # The limit is one for the whole process; it is put back when the file has been read.
        before = csv.field_size_limit(MAX_LINE_CHARACTERS)
        try:
            reader = csv.reader(short_enough(), delimiter=self._delimiter)
            while True:
                try:
                    row = next(reader)
                except StopIteration:
                    return
                except csv.Error:
                    yield reader.line_num, None
                    continue
                while too_long:
                    yield too_long.pop(), None
                if row:
                    yield reader.line_num, row
        finally:
            csv.field_size_limit(before)


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
            raise BadInput(f"'{path}' cannot be read as Parquet ({_first_line(error)}).") from None

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
                for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                    for row in batch.to_pylist():
                        number += 1
                        yield f"row {number}", row
        except (pyarrow.ArrowException, OSError) as error:
            raise BadInput(
                f"'{self._path}' cannot be read beyond row {number} ({_first_line(error)})."
            ) from None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:120]


class FrameRows:
    """The rows of a table in memory: pandas, polars, Arrow, Hugging Face's datasets, or dicts."""

    loose = False

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        if isinstance(frame, list | tuple):
            self.columns = list(dict.fromkeys(str(name) for row in frame for name in row))
            return
        names = getattr(frame, "column_names", None)  # of Arrow and datasets
        self.columns = [str(name) for name in (frame.columns if names is None else names)]

    def origin(self) -> dict[str, Any]:
        """Return where the rows come from."""
        return {"kind": "table", "type": f"{type(self._frame).__module__.partition('.')[0]}"}

    def count(self) -> int:
        """Return how many rows there are."""
        return len(self._frame)

    def rows(self) -> Iterator[tuple[str, dict[str, Any] | RowProblem]]:
        """Yield each row with its place."""
        for number, row in enumerate(self._records()):
            yield f"row {number}", {str(name): plain_cell(value) for name, value in row.items()}

    def _records(self) -> Iterable[Mapping[Any, Any]]:
        frame = self._frame
        if hasattr(frame, "iter_rows"):  # polars
            return frame.iter_rows(named=True)  # type: ignore[no-any-return]
        if hasattr(frame, "to_batches"):  # Arrow
            batches = frame.to_batches(max_chunksize=_BATCH_ROWS)
            return (row for batch in batches for row in batch.to_pylist())
        if hasattr(frame, "itertuples"):  # pandas
            names = [*frame.columns]
            rows = frame.itertuples(index=False, name=None)
            return (dict(zip(names, row, strict=True)) for row in rows)
        rows_as_dicts: Iterable[Mapping[Any, Any]] = frame
        return rows_as_dicts


def plain_cell(value: Any) -> Any:
    """Return the value of a cell; an array as a list, for it cannot be compared with others."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def is_frame(source: object) -> bool:
    """Return whether something is a table in memory."""
    if isinstance(source, list | tuple):
        return bool(source) and all(isinstance(row, Mapping) for row in source)
    named = hasattr(source, "column_names") or hasattr(source, "columns")
    return named and hasattr(source, "__len__") and not isinstance(source, type)
