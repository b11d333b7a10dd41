"""Whether the service lives and is ready: asked aside, so that nothing can hold the answer up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from seeker.errors import SeekerError
from seeker.server.catalogs import shard_health
from seeker.server.learning import learning_status
from seeker.server.logging import LOGGER, log_error
from seeker.server.responses import HealthResponse, LearningResponse, ShardsResponse
from seeker.stores import StoreError, StoreFull

if TYPE_CHECKING:
    from seeker.cluster import FleetHealth
    from seeker.server.service import Service


Result = TypeVar("Result")

_POLL_SECONDS = 0.005
SILENT_SECONDS = 2.0
"""Before this, somebody is slow; after it, silent."""


@dataclass(frozen=True)
class Finding(Generic[Result]):
    """The last answer: a result, or an error. at: when it came, by the monotonic clock."""

    at: float
    result: Result | None = None
    error: SeekerError | None = None


class Probe(Generic[Result]):
    """Asks one question at a time. fresh: for so many seconds an answer is not asked for again."""

    def __init__(self, ask: Callable[[], Result], fresh: float = 0.0) -> None:
        self._ask = ask
        self._fresh = fresh
        self._changed = threading.Condition()
        self._asked_at: float | None = None
        self._thread: threading.Thread | None = None
        self.last: Finding[Result] | None = None

    @property
    def silent(self) -> bool:
        """Whether an answer has been waited for so long that none may come."""
        since = self._asked_at
        return since is not None and time.monotonic() - since > SILENT_SECONDS

    async def look(self, seconds: float) -> Finding[Result] | None:
        """Ask, wait for so many seconds at most, and return what was found last.

        Who comes to a question that others have asked so long ago does not wait: it may be silent.
        """
        began = time.monotonic()
        if self.last is None or began - self.last.at >= self._fresh:
            self._begin()
            while (asked := self._asked_at) is not None:
                if time.monotonic() - min(began, asked) >= seconds:
                    break
                await asyncio.sleep(_POLL_SECONDS)
        return self.last

    def _begin(self) -> None:
        with self._changed:
            if self._asked_at is not None:
                return
            self._asked_at = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="seeker-probe", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while self._asked_at is None:
                    self._changed.wait()
            try:
                finding = Finding(time.monotonic(), result=self._ask())
            except SeekerError as error:
                finding = Finding(time.monotonic(), error=error)
            except Exception as error:
                finding = Finding(time.monotonic(), error=SeekerError(repr(error)))
            with self._changed:
                self.last, self._asked_at = finding, None


_WAIT_SECONDS = 0.4
"""How long one who asks waits for the newest state before the last one is told."""
_FRESH_SECONDS = 1.0
"""The store is written to for this, so it is not asked more often, however often others ask."""
_COUNT_SECONDS = 5.0


class Readiness:
    """What is asked of the store and the shards for those who look after the service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        engine = service.engine
        self._store = Probe(engine.store.ping, fresh=_FRESH_SECONDS)
        self._sessions = Probe(engine.store.count)
        self._shards = Probe(lambda: shard_health(engine.catalogs))
        self._trouble = ""

    async def health(self) -> HealthResponse:
        """Return whether the service can serve, and why not, and how its shards are."""
        # Both at the same time: whoever asks whether the service lives waits for neither for long.
        shards, store = await asyncio.gather(self.shards(), self._store.look(_WAIT_SECONDS))
        reasons = self._reasons(shards, store)
        response = HealthResponse.model_construct(live=True, ready=not reasons)
        if reasons:
            response.reasons = reasons
        if self._service.settings.cluster:
            response.shards = {
                name: ShardsResponse(count=one.shards, silent=list(one.silent))
                for name, one in shards.items()
            }
        if self._service.settings.learn:
            response.learning = {
                name: LearningResponse(at=one.at, taken=one.taken, failures=one.failures)
                for name, one in learning_status().items()
            }
        return response

    async def sessions(self) -> int | None:
        """Return how many sessions are stored, or were when it was last known."""
        finding = await self._sessions.look(_COUNT_SECONDS)
        return None if finding is None else finding.result

    async def shards(self) -> dict[str, FleetHealth]:
        """Return how the shards of each catalog are; nothing where there are no shards."""
        if not self._service.settings.cluster:
            return {}
        finding = await self._shards.look(_WAIT_SECONDS)
        return finding.result if finding is not None and finding.result is not None else {}

    def _reasons(self, shards: Mapping[str, FleetHealth], store: Finding[None] | None) -> list[str]:
        """Return why the service cannot serve; nothing if it can."""
        service = self._service
        reasons = []
        if not service.ready:
            reasons.append("The service is still getting ready.")
        if service.pool.full:
            reasons.append("More is asked of the service than it can do at once.")
        silent = [name for name, one in shards.items() if len(one.silent) == one.shards]
        reasons += [f"No shard of the catalog '{name}' answers." for name in silent]
        trouble = self._store_trouble(store)
        return [*reasons, trouble] if trouble else reasons

    def _store_trouble(self, finding: Finding[None] | None) -> str:
        error: SeekerError | None = None
        if self._store.silent or finding is None:
            trouble = "The store does not answer."
        else:
            error = finding.error
            trouble = _sentence(error)
        if trouble != self._trouble:
            self._trouble = trouble
            if error is not None:
                log_error(error)
            elif trouble:
                LOGGER.error("store silent")
            else:
                LOGGER.info("store answers again")
        return trouble


def _sentence(error: SeekerError | None) -> str:
    if error is None:
        return ""
    if isinstance(error, StoreFull):
        return "The disk of the store is full."
    if isinstance(error, StoreError):
        return "The store cannot be read or written; the log says why."
    return "The store cannot be asked; the log says why."
