"""Changes of items: those that come close together are written together, aside from clicks."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

from seeker.catalog.build.item_changes import ItemChange
from seeker.catalog.build.update import apply_changes
from seeker.engine import BusyError
from seeker.errors import BadInput
from seeker.server.change_writer import Changed, WriterProcess, WriterProcessDied
from seeker.server.logging import LOGGER

_MAX_WAITING_CHANGES = 20_000
"""Changes of items of one catalog that wait to be written."""

_MAX_WAITING_BYTES = 64_000_000
"""Bytes of pictures of one catalog's items that wait with them."""

Waiting: TypeAlias = tuple[Sequence[ItemChange], asyncio.Future[Changed]]
"""Changes that wait to be written, and who waits for them."""

_CHANGES_SHARE = 4
"""Writing changes of a catalog may take one in so many seconds while they keep coming."""

_MAX_PAUSE_SECONDS = 0.5
"""For so long, at most, changes wait for others that go with them."""

_ANSWERS_AT_ONCE = 4
"""Changes that are answered before anybody else is."""

_IDLE_SECONDS = 60.0
"""A process that has had nothing to write for so long is ended."""

_RESTART_SECONDS = 60.0
"""After the death of such a process, the next is started no sooner."""


class ChangeQueue:
    """Changes of one catalog's items: those that come close together are written together.

    The first is written at once. Those that come meanwhile, and for a while after it, share the
    next version: what a version costs beside its changes is paid once for all of them. Where some
    have come meanwhile, a process of its own is started to write those to come, and ended when
    there have been none for a while; until it is ready, a thread writes them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="seeker-changes")
        self._process: WriterProcess | None = None
        self._may_start_at = 0.0
        self._idle: asyncio.TimerHandle | None = None
        self._waiting: deque[Waiting] = deque()
        self._count = 0
        self._bytes = 0
        self._task: asyncio.Task[None] | None = None

    async def submit(self, changes: Sequence[ItemChange]) -> Changed:
        """Return the version and what became of the changes when they are on disk."""
        count, bytes = self._count + len(changes), self._bytes + _picture_bytes(changes)
        if count > _MAX_WAITING_CHANGES or bytes > _MAX_WAITING_BYTES:
            raise BusyError("Too many changes of this catalog wait.")
        self._count, self._bytes = count, bytes
        done: asyncio.Future[Changed] = asyncio.get_running_loop().create_future()
        self._waiting.append((changes, done))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write())
        # Whoever hangs up takes nothing away from the others.
        return await asyncio.shield(done)

    def close(self) -> None:
        """Take in nothing any more."""
        if self._idle is not None:
            self._idle.cancel()
        self._thread.submit(self._end_process)
        self._thread.shutdown(wait=False)

    async def _write(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        while self._waiting:
            began, batch = time.monotonic(), self._take()
            try:
                await self._apply(batch)
            except BadInput:
                # What somebody asked for cannot be done at all: the others need not suffer for it.
                for one in batch:
                    await self._apply_alone(one)
            except Exception as error:
                for one in batch:
                    _fail(one, error)
            taken = time.monotonic() - began
            await asyncio.sleep(min((_CHANGES_SHARE - 1) * taken, _MAX_PAUSE_SECONDS))
            if self._waiting:
                self._thread.submit(self._start_process)
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(_IDLE_SECONDS, self._thread.submit, self._end_process)

    async def _apply(self, batch: list[Waiting]) -> None:
        together = [one for changes, _ in batch for one in changes]
        work = self._thread.submit(self._apply_changes, together)
        version, results = await asyncio.wrap_future(work)
        for place, (changes, done) in enumerate(batch):
            mine, results = results[: len(changes)], results[len(changes) :]
            if not done.done():
                done.set_result((version, mine))
            if place % _ANSWERS_AT_ONCE == 0:
                # Whoever clicks meanwhile need not wait until all of these are answered.
                await asyncio.sleep(0)

    async def _apply_alone(self, one: Waiting) -> None:
        try:
            await self._apply([one])
        except Exception as error:
            _fail(one, error)

    def _take(self) -> list[Waiting]:
        """Return the first that wait and can go together: no item is changed twice."""
        batch, ids = [], set[str]()
        while self._waiting and ids.isdisjoint(one.id for one in self._waiting[0][0]):
            changes, done = self._waiting.popleft()
            self._count -= len(changes)
            self._bytes -= _picture_bytes(changes)
            ids.update(one.id for one in changes)
            batch.append((changes, done))
        return batch

    # What follows is done by the one thread, one thing after the other.

    def _apply_changes(self, changes: Sequence[ItemChange]) -> Changed:
        if self._process is not None and self._process.ended:
            self._lose_process()
        if self._process is None or not self._process.listens:
            return apply_changes(self._folder, changes)
        try:
            return self._process.apply(changes)
        except WriterProcessDied:
            self._lose_process()
            raise

    def _start_process(self) -> None:
        if self._process is None and time.monotonic() >= self._may_start_at:
            try:
                self._process = WriterProcess(self._folder)
            except OSError:
                self._lose_process()

    def _lose_process(self) -> None:
        """Do without a process for a while."""
        LOGGER.warning("no process to write changes")
        self._may_start_at = time.monotonic() + _RESTART_SECONDS
        self._end_process()

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()


def _picture_bytes(changes: Sequence[ItemChange]) -> int:
    return sum(len(one.picture or b"") for one in changes)


def _fail(waiting: Waiting, error: Exception) -> None:
    _, done = waiting
    if not done.done():
        done.set_exception(error)
