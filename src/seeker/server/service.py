"""What all routes share: the engine, the threads it works in, and who may do what."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request

from seeker.catalog import Catalog
from seeker.catalog.locks import WAIT_SECONDS
from seeker.engine import Catalogs, Engine, Pool
from seeker.engine.memory import give_back
from seeker.kernels.threads import cores
from seeker.server.gate import Gate
from seeker.server.hosts import AllowedHosts
from seeker.server.keys import Keys
from seeker.server.limits import Rate
from seeker.server.logs import LOGGER
from seeker.server.metrics import Metrics
from seeker.server.readiness import Readiness
from seeker.server.settings import Settings
from seeker.server.stopping import CLOSING
from seeker.stores import Key, open_store

Result = TypeVar("Result")


class Service:
    """The parts of a running service; exits: whether the process ends with it."""

    def __init__(self, settings: Settings, catalogs: Catalogs) -> None:
        give_back()
        self.settings = settings
        self.hosts = AllowedHosts(settings.host, settings.allowed_host)
        self.keys = Keys.read(settings.keys)
        self.rate = Rate(settings.rate, settings.burst)
        self.copying = Rate(settings.rate, settings.burst)
        """How many events a client may copy: as many as they may write by clicking."""
        self.metrics = Metrics()
        self.gate = Gate()
        self.ready = False
        self.exits = False
        self._expiring = False
        self._facets: dict[str, tuple[Catalog, list[dict[str, Any]]]] = {}
        self.pool = Pool(
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
        async with self.gate.turn(session, wait=self.settings.queue_timeout):
            return await asyncio.wrap_future(self.pool.submit(work))

    async def change(self, catalog: str, work: Callable[[], Result]) -> Result:
        """Have a catalog changed in a thread: one change at a time, the others wait without one."""
        # No session has an id with a blank in it.
        async with self.gate.turn(f"catalog {catalog}", "a change of this catalog", WAIT_SECONDS):
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
            LOGGER.error("Stopping without waiting for requests that hang.")
            return False
        self.engine.close()
        return not self._expiring


async def service_of(request: Request) -> Service:
    """Return the service that a request is for; plain functions would be called in a thread."""
    service: Service = request.app.state.service
    return service


Served = Annotated[Service, Depends(service_of)]

Retried = Annotated[
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


def key_of(name: str | None, scope: str, call: str, body: Any) -> Key | None:
    """Return an idempotency key with a fingerprint of what the request said."""
    if name is None:
        return None
    said = json.dumps([call, body], sort_keys=True)
    return Key(scope, name, hashlib.sha256(said.encode()).hexdigest())
