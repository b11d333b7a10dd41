"""Whether the service can serve, as far as it is known: whoever asks never waits for the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from seeker.errors import SeekerError
from seeker.server.logs import LOGGER, log_error
from seeker.server.opening import shard_health
from seeker.server.probe import Probe
from seeker.stores import StoreFailed, StoreFull

if TYPE_CHECKING:
    from seeker.cluster import Health
    from seeker.server.service import Service

_LOOK_SECONDS = 0.4
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

    async def reasons(self, health: Mapping[str, Health]) -> list[str]:
        """Return why the service cannot serve; nothing if it can. health: of the shards."""
        service = self._service
        reasons = []
        if not service.ready:
            reasons.append("The service is still getting ready.")
        if service.pool.full:
            reasons.append("More is asked of the service than it can do at once.")
        silent = [name for name, one in health.items() if len(one.silent) == one.shards]
        reasons += [f"No shard of the catalog '{name}' answers." for name in silent]
        trouble = await self._store_trouble()
        return [*reasons, trouble] if trouble else reasons

    async def sessions(self) -> int | None:
        """Return how many sessions are kept, or were when it was last known."""
        found = await self._sessions.look(_COUNT_SECONDS)
        return None if found is None else found.result

    def shards_json(self, health: Mapping[str, Health]) -> dict[str, Any]:
        """Return which shards of each catalog are silent, for an answer; nothing without shards."""
        if not self._service.settings.cluster:
            return {}
        return {
            "shards": {
                name: {"count": one.shards, "silent": list(one.silent)}
                for name, one in health.items()
            }
        }

    async def shards(self) -> dict[str, Health]:
        """Return how the shards of each catalog are; nothing where there are no shards."""
        if not self._service.settings.cluster:
            return {}
        found = await self._shards.look(_LOOK_SECONDS)
        return found.result if found is not None and found.result is not None else {}

    async def _store_trouble(self) -> str:
        found = await self._store.look(_LOOK_SECONDS)
        error: SeekerError | None = None
        if self._store.silent or found is None:
            trouble = "The store does not answer."
        else:
            error = found.error
            trouble = _sentence(error)
        if trouble != self._trouble:
            self._trouble = trouble
            if error is not None:
                log_error(error)
            elif trouble:
                LOGGER.error("The store does not answer.")
            else:
                LOGGER.info("The store answers again.")
        return trouble


def _sentence(error: SeekerError | None) -> str:
    if error is None:
        return ""
    if isinstance(error, StoreFull):
        return "The disk of the store is full."
    if isinstance(error, StoreFailed):
        return "The store cannot be read or written; the log says why."
    return "The store cannot be asked; the log says why."
