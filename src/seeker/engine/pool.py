"""Threads for the work of many people, with an end to how many may wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from seeker.errors import SeekerError

Result = TypeVar("Result")

MOST_ASIDE = 8
"""Calls that take long, and that are under way or wait for it, at most."""


class Busy(SeekerError):
    """So much is waiting already that waiting longer would help nobody."""

    http_status = 503
    title = "Too much is going on"

    def __init__(self, message: str = "More people are searching than can be served.") -> None:
        super().__init__(message, "Try again in a second.")


class Pool:
    """A fixed number of turns; at most `queue` calls wait for one, further ones are refused.

    A call that turns out to take long goes on aside: it leaves its turn to others, and takes turns
    with its like, of whom half as many are under way at once. There are threads for all of these.
    seconds: a call that has waited for longer is refused when its turn comes: whoever asked has
    mostly left, and those behind wait for their turn, too.
    """

    def __init__(
        self,
        threads: int,
        queue: int,
        most_aside: int = MOST_ASIDE,
        seconds: float = float("inf"),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.threads = threads
        self.queue = queue
        self._most_aside = most_aside
        self._seconds = seconds
        self._clock = clock
        self._executor = ThreadPoolExecutor(threads + most_aside, thread_name_prefix="seeker-work")
        self._turns = threading.Semaphore(threads)
        self._long_turns = threading.Semaphore(max(1, threads // 2))
        self._lock = threading.Condition()
        self._under_way = 0
        self._aside = 0
        self.refused = 0

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Have something done; Busy if too much is waiting."""
        with self._lock:
            if self.full:
                self.refused += 1
                raise Busy()
            self._under_way += 1
        latest = self._clock() + self._seconds

        def begin() -> Result:
            if self._clock() > latest:
                self.refused += 1
                raise Busy()
            return work()

        try:
            future = self._executor.submit(self._in_turn, begin)
        except BaseException:
            self._done(None)
            raise
        future.add_done_callback(self._done)
        return future

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let the work of this thread go on aside; Busy if too much does already."""
        with self._lock:
            if self._aside >= self._most_aside:
                self.refused += 1
                raise Busy("Too many long sessions are being opened.")
            self._aside += 1
        self._turns.release()
        try:
            with self._long_turns:
                yield
        finally:
            with self._lock:
                self._aside -= 1
            self._turns.acquire()

    @property
    def waiting(self) -> int:
        """How many calls wait for a turn."""
        return max(0, self._under_way - self._aside - self.threads)

    @property
    def full(self) -> bool:
        """Whether the next call would be refused."""
        return self._under_way - self._aside >= self.threads + self.queue

    @property
    def idle(self) -> bool:
        """Whether nothing is under way: work that may wait would slow down whatever is."""
        return self._under_way == 0

    @property
    def free(self) -> bool:
        """Whether nothing is under way but what is aside."""
        return self._under_way == self._aside

    @property
    def long(self) -> int:
        """How many calls are aside."""
        return self._aside

    def close(self, seconds: float | None = None) -> bool:
        """Finish what is under way, then stop; return whether that took less than so long."""
        self._executor.shutdown(wait=False)
        with self._lock:
            return self._lock.wait_for(self._empty, seconds)

    def _empty(self) -> bool:
        return self._under_way == 0

    def _in_turn(self, work: Callable[[], Result]) -> Result:
        with self._turns:
            return work()

    def _done(self, _: object) -> None:
        with self._lock:
            self._under_way -= 1
            self._lock.notify_all()
