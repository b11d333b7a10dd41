"""What all routes share: the engine, the threads it works in, and who may do what."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request

from seeker.catalog import Catalog
from seeker.catalog.file_lock import WAIT_SECONDS
from seeker.engine import BusyError, Catalogs, Engine, WorkerPool
from seeker.engine.cache import return_memory
from seeker.engine.workers import NamedLocks
from seeker.kernels.parallel import cores
from seeker.server.auth import ApiKeys
from seeker.server.health import Readiness
from seeker.server.hosts import AllowedHosts
from seeker.server.logging import LOGGER
from seeker.server.metrics import Metrics
from seeker.server.settings import Settings
from seeker.stores import IdempotencyKey, open_store

_MAX_WAITING_REQUESTS = 32
"""Requests that wait for one turn; whoever comes then is told to come later."""


class RequestTurns:
    """Requests take turns before they take a thread, so that no session has all threads.

    There is a turn for each session, for those who look at a shared one, for each participant of a
    study and for each catalog that is changed. What is in memory has the engine's own lock: who
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
        if self._locks.users(key) >= _MAX_WAITING_REQUESTS:
            raise BusyError(f"Too many requests wait for {what}.")
        with self._locks.lend(key) as lock:
            try:
                async with asyncio.timeout(seconds):
                    await lock.acquire()
            except TimeoutError:
                raise BusyError(f"Other requests for {what} take long.") from None
            try:
                yield
            finally:
                lock.release()


_MOST_CLIENTS = 10_000


class RateLimiter:
    """A bucket of tokens per client, refilled at a rate; 0 lets everything through. Thread-safe."""

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, cost: float = 1.0) -> int:
        """Take tokens; return 0, or after how many seconds a client may ask again, who has none.

        What costs more than there is may be had on credit: the next has to wait for longer.
        """
        if not self._rate:
            return 0
        with self._lock:
            now = self._clock()
            tokens, then = self._buckets.pop(client, (float(self._burst), now))
            tokens = min(float(self._burst), tokens + (now - then) * self._rate)
            allowed = tokens >= 1.0
            self._buckets[client] = (tokens - cost if allowed else tokens, now)
            if len(self._buckets) > _MOST_CLIENTS:
                self._buckets.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((1.0 - tokens) / self._rate))


EXIT_CODE = 7
"""Of a process that was stopped and did not wait any longer for what hung."""

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
        self.hosts = AllowedHosts(settings.host, settings.allowed_host)
        self.keys = ApiKeys.read(settings.keys)
        self.rate = RateLimiter(settings.rate, settings.burst)
        self.copying = RateLimiter(settings.rate, settings.burst)
        """How many events a client may copy: as many as they may write by clicking."""
        self.metrics = Metrics()
        self._turns = RequestTurns()
        self.ready = False
        self._expiring = False
        self._facets: dict[str, tuple[Catalog, list[dict[str, Any]]]] = {}
        self.pool = WorkerPool(
            settings.threads or cores() + 1, settings.queue, seconds=settings.queue_timeout
        )
        self.engine = Engine(
            catalogs,
            open_store(settings.store, settings.store_timeouts),
            cache_bytes=settings.belief_cache,
            lifetime=settings.session_days * 86_400.0,
            sessions_per_key=settings.sessions_per_key,
            free=lambda: self.pool.idle,
            refresh=not settings.no_refresh,
            aside=self.pool.aside,
            alone=lambda: self.pool.free,
        )
        self.readiness = Readiness(self)

    async def run(self, work: Callable[[], Result], session: str | None = None) -> Result:
        """Have something done in a thread; one thing at a time for each session."""
        if session is None:
            return await asyncio.wrap_future(self.pool.submit(work))
        async with self._turns.turn(session, seconds=self.settings.queue_timeout):
            return await asyncio.wrap_future(self.pool.submit(work))

    async def change(self, catalog: str, work: Callable[[], Result]) -> Result:
        """Have a catalog changed in a thread: one change at a time, the others wait without one."""
        # No session has an id with a blank in it.
        async with self._turns.turn(f"catalog {catalog}", "a change of this catalog", WAIT_SECONDS):
            return await asyncio.wrap_future(self.pool.submit(work))

    def facets(self, name: str, catalog: Catalog) -> list[dict[str, Any]]:
        """Return the facets of a catalog; they are counted once for each version of it."""
        held = self._facets.get(name)
        if held is None or held[0] is not catalog:
            counted = [facet.to_json() for facet in catalog.facets().values()]
            held = self._facets[name] = (catalog, counted)
        return held[1]

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
        self.engine.close()
        return not self._expiring


async def service_of(request: Request) -> Service:
    """Return the service that a request is for; plain functions would be called in a thread."""
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(service_of)]

IdempotencyKeyHeader = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=16,
        max_length=128,
        pattern=r"^[!-~]+$",
        description="Names this request, such as a UUID: a retry with the same name and body "
        "answers as the first time did.",
    ),
]
Authorization = Annotated[
    str | None,
    Header(description="Bearer KEY, where the service asks for keys.", max_length=500),
]


def make_idempotency_key(
    name: str | None, scope: str, call: str, body: Any
) -> IdempotencyKey | None:
    """Return an idempotency key with a fingerprint of what the request said."""
    if name is None:
        return None
    said = json.dumps([call, body], sort_keys=True)
    return IdempotencyKey(scope, name, hashlib.sha256(said.encode()).hexdigest())
