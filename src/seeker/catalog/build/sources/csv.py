"""Rows of a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from seeker.catalog.attributes import is_unicode
from seeker.catalog.build.source import OTHER_ENCODING, RowProblem
from seeker.catalog.build.sources import jsonl
from seeker.errors import BadInput


class CsvRows:
    """The rows of a CSV file with a header; the delimiter is read off the header."""

    loose = True

    def __init__(self, path: Path, encoding: str) -> None:
        self._path = path
        self._encoding = encoding
        try:
            with self._open() as handle:
                first = next(jsonl.read_lines(handle), None)
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
        return max(jsonl.count_lines(self._path) - 1, 1)

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
            return RowProblem(place, "row that is too large", "no more than 16 MB are read as one")
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
            for number, line in enumerate(jsonl.read_lines(handle), start=1):
                if line is None:
                    too_long.append(number)
                yield line or "\n"

        # The limit is one for the whole process; it is put back when the file has been read.
        before = csv.field_size_limit(jsonl.MAX_LINE_CHARACTERS)
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
