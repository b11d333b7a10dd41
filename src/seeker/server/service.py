"""What all routes share: the engine, the threads it works in, and who may do what."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from seeker.catalog import Catalog
from seeker.catalog.build.item_changes import ChangeResult, ItemChange
from seeker.catalog.build.update import apply_changes
from seeker.engine import BusyError, Catalogs, Engine, SessionSnapshot, WorkerPool
from seeker.engine.cache import return_memory, usual_cache_bytes
from seeker.engine.workers import NamedLocks
from seeker.errors import BadInput, Conflict
from seeker.kernels.parallel import cores
from seeker.server.auth import ApiKeys
from seeker.server.health import Readiness
from seeker.server.logging import LOGGER
from seeker.server.metrics import Metrics
from seeker.server.middleware import AllowedHosts, RateLimiter, security_headers
from seeker.server.placement import this_worker
from seeker.server.processes import EXIT_CODE
from seeker.server.settings import Settings
from seeker.session import Event
from seeker.stores import IdempotencyKey, StaleWriteError, open_store
from seeker.stores.base import WriteAlone

_MAX_WAITING_CHANGES = 20_000
"""Changes of items of one catalog that wait to be written."""

_MAX_WAITING_BYTES = 64_000_000
"""Bytes of pictures of one catalog's items that wait with them."""

Changed: TypeAlias = tuple[int, list[ChangeResult]]
"""The version of a catalog, and what became of changes of its items."""

Waiting: TypeAlias = tuple[Sequence[ItemChange], asyncio.Future[Changed]]
"""Changes that wait to be written, and who waits for them."""

_CHANGES_SHARE = 4
"""Writing changes of a catalog may take one in so many seconds while they keep coming."""

_MAX_PAUSE_SECONDS = 0.5
"""For so long, at most, changes wait for others that go with them."""

_ANSWERS_AT_ONCE = 4
"""Changes that are answered before anybody else is."""

_MAX_WAITING_REQUESTS = 32
"""Requests that wait for one turn; whoever comes then is told to come later."""


class RequestTurns:
    """Requests take turns before they take a thread, so that no session has all threads.

    There is a turn for each session, for those who look at a shared one, and for each participant
    of a study. What is in memory has the engine's own lock: who
    waits for a turn holds none, or the threads could all wait for those who wait for a thread.
    """

    def __init__(self) -> None:
        self._locks = NamedLocks(asyncio.Lock)

    @asynccontextmanager
    async def turn(
        self, key: str, what: str = "this session", seconds: float | None = None
    ) -> AsyncIterator[None]:
        """Wait for a turn; BusyError if too many wait already, or after so many seconds.

        key: whose turn; what: said of it.
        """
        others = self._locks.users(key)
        if others >= _MAX_WAITING_REQUESTS:
            raise BusyError(f"Too many requests wait for {what}.")
        with self._locks.lend(key) as lock:
            try:
                # A clock is only needed where there is somebody to wait for.
                async with asyncio.timeout(seconds) if others else nullcontext():
                    await lock.acquire()
            except TimeoutError:
                raise BusyError(f"Other requests for {what} take long.") from None
            try:
                yield
            finally:
                lock.release()


CLOSING = 0.2
"""The part of the time for a stop that is kept for what comes after the last answer."""


def exit_within(seconds: float) -> threading.Timer:
    """End the process after so many seconds, unless it has come to its end, or that is cancelled.

    Threads that wait for a database, or for a disk that does not answer, cannot be ended, and
    Python waits for its threads.
    """
    timer = threading.Timer(seconds, exit_now)
    timer.daemon = True
    timer.start()
    return timer


def exit_now() -> None:
    """End the process although something hangs."""
    LOGGER.error("exit without waiting")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(EXIT_CODE)


class ChangeQueue:
    """Changes of one catalog's items: those that come close together are written together.

    The first is written at once. Those that come meanwhile, and for a while after it, share the
    next version: what a version costs beside its changes is paid once for all of them. They are
    written in a thread of their own: people who click need not wait for it, and it is no reason to
    put off what is done between clicks.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="seeker-changes")
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
        self._thread.shutdown(wait=False)

    async def _write(self) -> None:
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

    async def _apply(self, batch: list[Waiting]) -> None:
        together = [one for changes, _ in batch for one in changes]
        work = self._thread.submit(apply_changes, self._folder, together)
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


def _picture_bytes(changes: Sequence[ItemChange]) -> int:
    return sum(len(one.picture or b"") for one in changes)


def _fail(waiting: Waiting, error: Exception) -> None:
    _, done = waiting
    if not done.done():
        done.set_exception(error)


Result = TypeVar("Result")


class Service:
    """The parts of a running service: the store and the threads are open."""

    def __init__(self, settings: Settings, catalogs: Catalogs) -> None:
        return_memory()
        self.settings = settings
        self.headers = security_headers(settings)
        self.hosts = AllowedHosts(settings.host, settings.allowed_host)
        self.keys = ApiKeys.read(settings.keys, settings.private)
        self.rate = RateLimiter(settings.rate, settings.burst)
        self.copying = RateLimiter(settings.rate, settings.burst)
        """How many events a client may copy: as many as they may write by clicking."""
        self.metrics = Metrics()
        self.worker = this_worker()
        self._turns = RequestTurns()
        self.ready = False
        self._expiring = False
        self._changes: dict[str, ChangeQueue] = {}
        self._facets: dict[str, tuple[Catalog, list[dict[str, Any]]]] = {}
        self.pool = WorkerPool(
            settings.threads or cores() + 1, settings.queue, seconds=settings.queue_timeout
        )
        self.engine = Engine(
            catalogs,
            open_store(settings.store, settings.store_timeouts),
            cache_bytes=settings.belief_cache or usual_cache_bytes(settings.workers),
            lifetime=settings.session_days * 86_400.0,
            sessions_per_key=settings.sessions_per_key,
            free=lambda: self.pool.idle,
            refresh=not settings.no_refresh,
            aside=self.pool.aside,
            alone=lambda: self.pool.free,
            owns=lambda id: self.worker is None or self.worker.owns(id),
        )
        self.readiness = Readiness(self)

    async def run(
        self, work: Callable[[], Result], session: str | None = None, brief: bool = False
    ) -> Result:
        """Have something done in a thread; one thing at a time for each session.

        brief: it is known to take milliseconds; of what a session is asked, the engine knows.
        """
        if session is None:
            return await asyncio.wrap_future(self.pool.submit(work, brief))
        async with self._turns.turn(session, seconds=self.settings.queue_timeout):
            brief = self.engine.brief(session)
            return await asyncio.wrap_future(self.pool.submit(work, brief))

    async def act(
        self, id: str, event: Event, step: int | None, key: IdempotencyKey | None
    ) -> SessionSnapshot:
        """Let something happen in a session when it is its turn.

        What takes a millisecond or so is done here: handing it over to a thread and back would take
        as long again, and more in a crowd. Whatever else is waited for meanwhile goes on.
        """
        async with self._turns.turn(id, seconds=self.settings.queue_timeout):
            pending = self._begin(id, event, step, key) if self.ready else None
            if pending is not None:
                # Somebody else may have been at the session: a thread looks.
                with suppress(StaleWriteError):
                    return await pending
            work = partial(self.engine.act, id, event, step, key)
            return await asyncio.wrap_future(self.pool.submit(work, self.engine.brief(id)))

    def _begin(
        self, id: str, event: Event, step: int | None, key: IdempotencyKey | None
    ) -> asyncio.Future[SessionSnapshot] | None:
        """Let something happen at once, if it can; what is returned is there when it is stored."""
        self.pool.enter()
        try:
            pending = self.engine.begin(id, event, step, key)
        except BaseException:
            self.pool.leave()
            raise
        if pending is None:
            self.pool.leave()
            return None
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[SessionSnapshot] = loop.create_future()

        def tell(outcome: Future[SessionSnapshot]) -> None:
            self.pool.leave()
            if answer.cancelled():
                return
            error = outcome.exception()
            if error is None:
                answer.set_result(outcome.result())
            else:
                answer.set_exception(error)

        def finish() -> None:
            outcome: Future[SessionSnapshot] = Future()
            try:
                outcome.set_result(pending.finish())
            except BaseException as error:
                outcome.set_exception(error)
            tell(outcome)

        def stored(write: Future[None]) -> None:
            if isinstance(write.exception(), WriteAlone):
                waiting = self.pool.go_on(pending.finish)
                waiting.add_done_callback(lambda one: loop.call_soon_threadsafe(tell, one))
            else:
                loop.call_soon_threadsafe(finish)

        write = pending.write.future
        if write.done() and not isinstance(write.exception(), WriteAlone):
            finish()  # The disk was quicker than the page.
        else:
            # Whoever asked may leave; what was begun is finished all the same.
            write.add_done_callback(stored)
        return answer

    async def change(
        self, catalog: str, changes: Sequence[ItemChange]
    ) -> tuple[int, list[ChangeResult]]:
        """Have items of a catalog changed; return its version and what became of each change.

        Changes that come while others are being written share one version. When this returns, they
        are on disk.
        """
        folder = self.engine.catalogs.folder(catalog)
        if folder is None:
            raise Conflict("This catalog is not in a folder, so its items cannot be changed.")
        if catalog not in self._changes:
            self._changes[catalog] = ChangeQueue(folder)
        return await self._changes[catalog].submit(changes)

    def facets(self, name: str, catalog: Catalog) -> list[dict[str, Any]]:
        """Return the facets of a catalog; they are counted once for each version of it."""
        version, facets = self._facets.get(name, (None, []))
        if version is not catalog:
            spread = catalog.facets(catalog.only)
            hidden = catalog.presentation.hidden
            facets = [facet.to_json() for name, facet in spread.items() if name not in hidden]
            self._facets[name] = (catalog, facets)
        return facets

    def expire(self) -> int:
        """Forget the sessions that nobody has used for their lifetime; return how many."""
        self._expiring = True
        try:
            return self.engine.expire()
        finally:
            self._expiring = False

    def close(self) -> bool:
        """Finish what is under way and let go of everything; return whether nothing hangs."""
        if not self.pool.close(self.settings.stop_timeout * CLOSING):
            # Whoever still has a connection must not lose it in the midst of using it.
            LOGGER.error("requests hang at the stop")
            return False
        for queue in self._changes.values():
            queue.close()
        self.engine.close()
        return not self._expiring
