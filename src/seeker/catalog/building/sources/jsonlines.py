"""Rows of a JSON Lines file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seeker.catalog.building.record import Problem
from seeker.catalog.building.sources import lines


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
        return max(lines.count(self._path), 1)

    def rows(self) -> Iterator[tuple[str, dict[str, Any] | Problem]]:
        """Yield each row with its place."""
        with self._path.open(encoding="utf-8-sig", errors="surrogateescape") as handle:
            for number, line in enumerate(lines.lines(handle), start=1):
                if line is None or line.strip():
                    yield f"line {number}", self._row(f"line {number}", line)

    def _row(self, place: str, line: str | None) -> dict[str, Any] | Problem:
        if line is None:
            return Problem(place, "row that is too large", "no more than 16 MB are read as one")
        if not lines.is_unicode(line):
            return Problem(place, "text in another encoding", "not UTF-8")
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return Problem(place, "line that is not JSON")
        if not isinstance(row, dict):
            return Problem(place, "line that is not a JSON object")
        return row
