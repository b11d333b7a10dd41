"""Questions that may never be answered, asked in a thread of their own: nobody hangs with them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from seeker.errors import SeekerError

Result = TypeVar("Result")

_POLL_SECONDS = 0.005
SILENT_SECONDS = 2.0
"""Before this, somebody is slow; after it, silent."""


@dataclass(frozen=True)
class Finding(Generic[Result]):
    """What was found last: a result, or an error. at: when, by the monotonic clock."""

    at: float
    result: Result | None = None
    error: SeekerError | None = None


class Probe(Generic[Result]):
    """Asks one question at a time. fresh: for so many seconds an answer is not asked for again."""

    def __init__(self, ask: Callable[[], Result], fresh: float = 0.0) -> None:
        self._ask = ask
        self._fresh = fresh
        self._changed = threading.Condition()
        self._asked_at: float | None = None
        self._thread: threading.Thread | None = None
        self.last: Finding[Result] | None = None

    @property
    def silent(self) -> bool:
        """Whether an answer has been waited for so long that none may come."""
        asked = self._asked_at
        return asked is not None and time.monotonic() - asked > SILENT_SECONDS

    async def look(self, seconds: float) -> Finding[Result] | None:
        """Ask, wait for so many seconds at most, and return what was found last."""
        began = time.monotonic()
        if self.last is None or began - self.last.at >= self._fresh:
            self._begin()
            while self._asked_at is not None and time.monotonic() - began < seconds:
                await asyncio.sleep(_POLL_SECONDS)
        return self.last

    def _begin(self) -> None:
        with self._changed:
            if self._asked_at is not None:
                return
            self._asked_at = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="seeker-probe", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while self._asked_at is None:
                    self._changed.wait()
            try:
                finding = Finding(time.monotonic(), result=self._ask())
            except SeekerError as error:
                finding = Finding(time.monotonic(), error=error)
            except Exception as error:
                finding = Finding(time.monotonic(), error=SeekerError(repr(error)))
            with self._changed:
                self.last, self._asked_at = finding, None
