"""Threads for the work of many people, and for work that may wait."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Generic, TypeVar

from seeker.errors import SeekerError

Result = TypeVar("Result")
Lock = TypeVar("Lock")

MAX_LONG_CALLS = 8
"""Calls that take long, and that are under way or wait for it, at most."""


class BusyError(SeekerError):
    """So much is waiting already that waiting longer would help nobody."""

    http_status = 503

    def __init__(self, message: str = "More people are searching than can be served.") -> None:
        super().__init__(message, "Try again in a second.")


class NamedLocks(Generic[Lock]):
    """Locks by name; those that nobody holds or waits for take no memory.

    make: makes a lock, of threads or of an event loop. Waiting is left to who borrows one.
    """

    def __init__(self, make: Callable[[], Lock]) -> None:
        self._make = make
        self._guard = threading.Lock()
        self._locks: dict[str, tuple[Lock, int]] = {}

    @contextmanager
    def lend(self, name: str) -> Iterator[Lock]:
        """Lend the lock of a name to who holds it or waits for it in the block."""
        with self._guard:
            lock, users = self._locks.get(name) or (self._make(), 0)
            self._locks[name] = (lock, users + 1)
        try:
            yield lock
        finally:
            with self._guard:
                lock, users = self._locks.pop(name)
                if users > 1:
                    self._locks[name] = (lock, users - 1)

    def users(self, name: str) -> int:
        """Return how many hold a lock or wait for it."""
        return self._locks.get(name, (None, 0))[1]


class _Turns:
    """A number of turns, for which threads wait."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._free > 0)
            self._free -= 1

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Let another have this thread's turn."""
        with self._changed:
            self._free += 1
            self._changed.notify()

    def come_back(self) -> None:
        """Have a turn at once, be it one more than there are; the next waits for longer."""
        with self._changed:
            self._free -= 1


class _Lane:
    """Threads for calls of one kind, so many of which have a turn at once."""

    def __init__(self, turns: int, threads: int, name: str) -> None:
        self.turns = _Turns(turns)
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._here = threading.local()

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Have something done when it is its turn."""
        return self._executor.submit(self._in_turn, work)

    @property
    def mine(self) -> bool:
        """Whether this thread is one of these."""
        return getattr(self._here, "mine", False)

    def close(self) -> None:
        """Take in nothing any more."""
        self._executor.shutdown(wait=False)

    def _in_turn(self, work: Callable[[], Result]) -> Result:
        self._here.mine = True
        with self.turns:
            return work()


class WorkerPool:
    """A fixed number of turns; at most `queue` calls wait for one, further ones are refused.

    Calls that are known to be brief have as many turns of their own, so that they do not wait for
    what takes a hundred times as long.
    A call that turns out to take long goes on aside: it leaves its turn to others, and takes turns
    with its like, of whom half as many are under way at once. There are threads for all of these.
    It comes back without waiting: those who have all turns may wait for the session that it is at.
    seconds: a call that has waited for longer is refused when its turn comes: whoever asked has
    mostly left, and those behind wait for their turn, too.
    """

    def __init__(
        self,
        threads: int,
        queue: int,
        max_long: int = MAX_LONG_CALLS,
        seconds: float = float("inf"),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.threads = threads
        self.queue = queue
        self._max_long = max_long
        self._seconds = seconds
        self._clock = clock
        self._lane = _Lane(threads, threads + max_long, "seeker-work")
        self._brief_lane = _Lane(threads, threads + max_long, "seeker-brief")
        self._long_turns = threading.Semaphore(max(1, threads // 2))
        self._lock = threading.Condition()
        self._under_way = 0
        self._aside = 0
        self.refused = 0

    def enter(self) -> None:
        """Be under way, with a thread or without, until `leave`; BusyError if too much is."""
        with self._lock:
            if self.full:
                self.refused += 1
                raise BusyError()
            self._under_way += 1

    def leave(self) -> None:
        """Be under way no longer."""
        with self._lock:
            self._under_way -= 1
            self._lock.notify_all()

    def submit(self, work: Callable[[], Result], brief: bool = False) -> Future[Result]:
        """Have something done; BusyError if too much is waiting. brief: it takes milliseconds."""
        self.enter()
        latest = self._clock() + self._seconds

        def begin() -> Result:
            if self._clock() > latest:
                self.refused += 1
                raise BusyError()
            return work()

        try:
            future = (self._brief_lane if brief else self._lane).submit(begin)
        except BaseException:
            self.leave()
            raise
        future.add_done_callback(lambda _: self.leave())
        return future

    def go_on(self, work: Callable[[], Result]) -> Future[Result]:
        """Have something done in a thread that is under way already."""
        return self._lane.submit(work)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let the work of this thread go on aside; Busy if too much does already."""
        with self._lock:
            if self._aside >= self._max_long:
                self.refused += 1
                raise BusyError("Too many long sessions are being opened.")
            self._aside += 1
        turns = (self._brief_lane if self._brief_lane.mine else self._lane).turns
        turns.leave()
        try:
            with self._long_turns:
                yield
        finally:
            with self._lock:
                self._aside -= 1
            turns.come_back()

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
        self._lane.close()
        self._brief_lane.close()
        with self._lock:
            return self._lock.wait_for(self._empty, seconds)

    def _empty(self) -> bool:
        return self._under_way == 0


_RETRY_SECONDS = 0.05
"""Seconds after which a thread that found everybody busy looks again."""


MAX_WAITING_TASKS = 64
"""Tasks that wait at most."""


class SpareTime:
    """Time for work that is seldom worth it: a share of all time, saved up for some seconds.

    skipped: how often there was none.
    """

    def __init__(
        self,
        share: float = 0.1,
        saved_seconds: float = 0.5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.skipped = 0
        self._share = share
        self._saved_seconds = saved_seconds
        self._clock = clock
        self._left = saved_seconds
        self._at = clock()

    @contextmanager
    def spend(self) -> Iterator[bool]:
        """Tell whether there is time left; what is done meanwhile counts."""
        began = self._clock()
        self._left = min(self._saved_seconds, self._left + self._share * (began - self._at))
        self._at = began
        self.skipped += self._left <= 0.0
        try:
            yield self._left > 0.0
        finally:
            self._left -= self._clock() - began


class BackgroundWorker:
    """Tasks by name, the newest first; beyond `max_tasks`, the oldest are left undone.

    A task must be one that only makes later work cheaper: leaving it out changes no answer. Those
    that everybody gains by are not left out, but done when the others are.
    """

    def __init__(self, free: Callable[[], bool], max_tasks: int = MAX_WAITING_TASKS) -> None:
        self.free = free
        self._max_tasks = max_tasks
        self._tasks: OrderedDict[str, Callable[[], None]] = OrderedDict()
        self._kept: set[str] = set()
        self._changed = threading.Condition()
        self._stopped = False
        self.failed = 0
        self.dropped = 0
        self.spare_time = SpareTime()
        self._thread: threading.Thread | None = None

    def submit(
        self, name: str, task: Callable[[], None], last: bool = False, keep: bool = False
    ) -> None:
        """Have a task done when there is time; it replaces one of the same name.

        last: all others come before it. keep: it is done however many others there are.
        """
        with self._changed:
            self._tasks[name] = task
            self._tasks.move_to_end(name, last=not last)
            if keep and self._max_tasks:
                self._kept.add(name)
            for oldest in [one for one in self._tasks if one not in self._kept]:
                if len(self._tasks) - len(self._kept) <= self._max_tasks:
                    break
                del self._tasks[oldest]
                self.dropped += 1
            if self._tasks and self._thread is None and not self._stopped:
                self._thread = threading.Thread(
                    target=self._run, name="seeker-background", daemon=True
                )
                self._thread.start()
            self._changed.notify()

    def should_stop(self) -> bool:
        """Whether a task under way should stop: somebody wants something, or all is to end."""
        return self._stopped or not self.free()

    def __len__(self) -> int:
        return len(self._tasks)

    def close(self) -> None:
        """Stop after the task under way."""
        with self._changed:
            self._stopped = True
            self._tasks.clear()
            self._kept.clear()
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopped and not (self._tasks and self.free()):
                    self._changed.wait(_RETRY_SECONDS if self._tasks else None)
                if self._stopped:
                    return
                name, task = self._tasks.popitem(last=True)
                self._kept.discard(name)
            try:
                task()
            except Exception:
                # Nobody waits for this answer; whoever asks next meets the same error and is told.
                self.failed += 1
