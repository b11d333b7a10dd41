"""Threads for the work of many people, with an end to how many may wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from seeker.errors import SeekerError

Result = TypeVar("Result")


class Busy(SeekerError):
    """So much is waiting already that waiting longer would help nobody."""

    http_status = 503
    title = "Too much is going on"

    def __init__(self, message: str = "More people are searching than can be served.") -> None:
        super().__init__(message, "Try again in a second.")


class Pool:
    """A fixed number of threads; at most `queue` calls wait for one, further ones are refused."""

    def __init__(self, threads: int, queue: int) -> None:
        self.threads = threads
        self.queue = queue
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="seeker-work")
        self._lock = threading.Lock()
        self._under_way = 0
        self.refused = 0

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Have something done; Busy if too much is waiting."""
        with self._lock:
            if self._under_way >= self.threads + self.queue:
                self.refused += 1
                raise Busy()
            self._under_way += 1
        try:
            future = self._executor.submit(work)
        except BaseException:
            self._done(None)
            raise
        future.add_done_callback(self._done)
        return future

    @property
    def waiting(self) -> int:
        """How many calls wait for a thread."""
        return max(0, self._under_way - self.threads)

    @property
    def idle(self) -> bool:
        """Whether nothing is under way: work that may wait would slow down whatever is."""
        return self._under_way == 0

    def close(self) -> None:
        """Finish what is under way, then stop."""
        self._executor.shutdown(wait=True)

    def _done(self, _: object) -> None:
        with self._lock:
            self._under_way -= 1
