"""Lines of a text file, however long or broken they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

MOST = 16 * 2**20
"""No line longer than this many characters is held."""


def lines(handle: IO[str]) -> Iterator[str | None]:
    """Yield the lines of a file with their ends; None stands for one that is too long."""
    while line := handle.readline(MOST):
        if len(line) < MOST or line.endswith("\n"):
            yield line
            continue
        while (rest := handle.readline(MOST)) and not rest.endswith("\n"):
            pass
        yield None


def count(path: Path) -> int:
    """Return how many ends of lines a file has."""
    found = 0
    with path.open("rb") as handle:
        while block := handle.read(2**20):
            found += block.count(b"\n")
    return found


def is_unicode(text: str) -> bool:
    """Return whether a text read with surrogateescape was what it said it was."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)
