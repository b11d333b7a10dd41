"""Rows of a JSON Lines file, however long or broken its lines are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from seeker.catalog.attributes import is_unicode
from seeker.catalog.build.source import RowProblem

MAX_LINE_CHARACTERS = 16 * 2**20
"""No line longer than this many characters is held."""


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
            return RowProblem(place, "row that is too large", "no more than 16 MB are read as one")
        if not is_unicode(line):
            return RowProblem(place, "text in another encoding", "not UTF-8")
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return RowProblem(place, "line that is not JSON")
        if not isinstance(row, dict):
            return RowProblem(place, "line that is not a JSON object")
        return row
