"""Shows how far a build is."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

Tell = Callable[[str], None]


class Progress:
    """Sentences and, if asked for, a bar with items per second and the time left."""

    def __init__(self, tell: Tell | None, bar: bool) -> None:
        self._tell = tell
        self._bar = bar
        self._shown: Any = None

    def say(self, line: str) -> None:
        """Say something."""
        if self._tell is not None:
            if self._shown is not None:
                self._shown.clear()
            self._tell(line)

    def start(self, total: int | None) -> None:
        """Show the bar; total: about how many rows there are."""
        if self._bar:
            from tqdm import tqdm

            self._shown = tqdm(total=total, unit=" items", smoothing=0.1, dynamic_ncols=True)

    def advance(self, rows: int, again: bool) -> None:
        """Count rows as done; again: they had been done before."""
        if self._shown is None:
            return
        if again:
            # What was only read back says nothing about the speed of what is still to do.
            self._shown.initial += rows
        self._shown.update(rows)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown is not None:
            self._shown.close()
