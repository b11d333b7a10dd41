"""What all routes share: the engine, the threads it works in, and who may do what."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import Any, TypeVar

from seeker.catalog import Catalog
from seeker.catalog.build.item_changes import ChangeResult, ItemChange
from seeker.engine import BusyError, Catalogs, Engine, SessionSnapshot, WorkerPool
from seeker.engine.cache import return_memory, usual_cache_bytes
from seeker.engine.workers import NamedLocks
from seeker.errors import Conflict, NotFound
from seeker.kernels.parallel import cores
from seeker.server.auth import ApiKeys
from seeker.server.changes import ChangeQueue
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
        try:
            return await self._changes[catalog].submit(changes)
        except NotFound:
            raise Conflict(
                "The folder of this catalog is not where it was when the service was started.",
                "Start the service again with the place where it is.",
            ) from None

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
