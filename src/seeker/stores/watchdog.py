"""An end to waiting: what takes longer than it may is broken off from another thread.

A database that is stopped, or whose machine is gone, keeps no time-out of its own: only this side
can hang up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_POLL_SECONDS = 0.1


@dataclass(eq=False)
class Operation:
    """Something under way. abort: breaks it off. overdue: whether that was done."""

    deadline: float
    abort: Callable[[], None]
    overdue: bool = False


class Watchdog:
    """Looks after operations in a thread that sleeps while there are none."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._operations: set[Operation] = set()
        self._asleep = False
        self._thread: threading.Thread | None = None

    @contextmanager
    def limit(self, seconds: float, abort: Callable[[], None]) -> Iterator[Operation]:
        """Break off what is done in the block if it takes longer; abort must not wait."""
        operation = Operation(time.monotonic() + seconds, abort)
        with self._changed:
            self._operations.add(operation)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._watch, name="seeker-store-watchdog", daemon=True
                )
                self._thread.start()
            elif self._asleep:
                self._changed.notify()
        try:
            yield operation
        finally:
            with self._changed:
                self._operations.discard(operation)

    def _watch(self) -> None:
        idle = 0
        while True:
            with self._changed:
                # It looks once more before it sleeps: one operation often follows another.
                idle = 0 if self._operations else idle + 1
                self._asleep = idle > 1
                self._changed.wait(None if self._asleep else _POLL_SECONDS)
                self._asleep = False
                now = time.monotonic()
                for operation in self._operations:
                    if operation.deadline < now and not operation.overdue:
                        operation.overdue = True
                        operation.abort()
