"""Writes of many people in one transaction: one wait for the disk serves all who came together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import NamedTuple

from seeker.stores.base import PendingWrite, StaleWriteError, StoreLocked

_MAX_WRITES = 256
"""Writes in one transaction, at most."""
_IDLE_SECONDS = 5.0
"""After so long without a write the thread ends; the next write starts another."""


class Statement(NamedTuple):
    """A statement that changes one row; if it changes none, the write is stale, for a reason."""

    sql: str
    values: tuple[object, ...]
    stale: str


class Write(NamedTuple):
    """Statements about a session that take effect together or not at all."""

    session: str
    statements: Sequence[Statement]


@dataclass(frozen=True, eq=False)
class _Waiting:
    write: Write
    since: float = field(default_factory=time.monotonic)
    future: Future[None] = field(default_factory=Future)


class WriteQueue:
    """Commits writes in a thread of its own, all that are there in one transaction.

    commit(writes): has all of them on disk when it returns, and none of them if it raises:
    StaleWriteError if one does not fit; then each is tried by itself. WriteAlone if one would have
    to wait for somebody else: whoever wants it written waits for that in their own thread, by
    alone(write). seconds: how long a write may wait for its turn.
    """

    def __init__(
        self,
        commit: Callable[[Sequence[Write]], None],
        alone: Callable[[Write], None],
        seconds: float,
    ) -> None:
        self._commit = commit
        self._alone = alone
        self._seconds = seconds
        self._queue: SimpleQueue[_Waiting] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, write: Write) -> PendingWrite:
        """Have something written soon."""
        waiting = _Waiting(write)
        with self._lock:
            self._queue.put(waiting)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="seeker-store-writer", daemon=True
                )
                self._thread.start()
        return PendingWrite(waiting.future, lambda: self._alone(write))

    def _run(self) -> None:
        while True:
            try:
                batch = [self._queue.get(timeout=_IDLE_SECONDS)]
            except Empty:
                with self._lock:
                    if self._queue.empty():
                        self._thread = None
                        return
                continue
            while len(batch) < _MAX_WRITES and not self._queue.empty():
                batch.append(self._queue.get())
            self._keep(self._in_time(batch))

    def _in_time(self, batch: Iterable[_Waiting]) -> list[_Waiting]:
        """Give up those that have waited for too long; return the others."""
        earliest = time.monotonic() - self._seconds
        in_time = []
        for one in batch:
            if one.since >= earliest:
                in_time.append(one)
            else:
                one.future.set_exception(
                    StoreLocked("other writes have taken long", "Check the store and its disk.")
                )
        return in_time

    def _keep(self, batch: Sequence[_Waiting]) -> None:
        """Commit writes together; where one of several is stale, each by itself."""
        if not batch:
            return
        try:
            self._commit([one.write for one in batch])
        except StaleWriteError as error:
            if len(batch) == 1:
                batch[0].future.set_exception(error)
            else:
                for one in batch:
                    self._keep([one])
        except BaseException as error:
            for one in batch:
                one.future.set_exception(error)
        else:
            for one in batch:
                one.future.set_result(None)
