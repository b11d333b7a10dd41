"""Work that may wait: done one at a time, while nobody else is waiting."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

_LOOK_AGAIN = 0.05
"""Seconds after which a thread that found everybody busy looks again."""


WAITING = 64
"""Tasks that wait at most."""


class Background:
    """Tasks by name, the newest first; beyond `most`, the oldest are left undone.

    A task must be one that only makes later work cheaper: leaving it out changes no answer.
    """

    def __init__(self, free: Callable[[], bool], most: int = WAITING) -> None:
        self.free = free
        self._most = most
        self._tasks: OrderedDict[str, Callable[[], None]] = OrderedDict()
        self._changed = threading.Condition()
        self._stopped = False
        self.failed = 0
        self._thread: threading.Thread | None = None

    def want(self, name: str, task: Callable[[], None]) -> None:
        """Have a task done when there is time; it replaces one of the same name."""
        with self._changed:
            self._tasks[name] = task
            self._tasks.move_to_end(name)
            while len(self._tasks) > self._most:
                self._tasks.popitem(last=False)
            if self._tasks and self._thread is None and not self._stopped:
                self._thread = threading.Thread(
                    target=self._run, name="seeker-background", daemon=True
                )
                self._thread.start()
            self._changed.notify()

    def hurried(self) -> bool:
        """Whether a task under way should stop: somebody wants something, or all is to end."""
        return self._stopped or not self.free()

    def __len__(self) -> int:
        return len(self._tasks)

    def close(self) -> None:
        """Stop after the task under way."""
        with self._changed:
            self._stopped = True
            self._tasks.clear()
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopped and not (self._tasks and self.free()):
                    self._changed.wait(_LOOK_AGAIN if self._tasks else None)
                if self._stopped:
                    return
                _, task = self._tasks.popitem(last=True)
            try:
                task()
            except Exception:
                # Nobody waits for this answer; whoever asks next meets the same error and is told.
                self.failed += 1
