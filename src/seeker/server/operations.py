"""The calls for those who look after the service: health, figures, exports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import JSONResponse, Response, StreamingResponse

from seeker.errors import SeekerError
from seeker.server.exporting import lines
from seeker.server.logs import log_error
from seeker.server.opening import shard_health
from seeker.server.responses import problems
from seeker.server.schemas import HealthAnswer, UserName
from seeker.server.service import Authorization, Served, Service

if TYPE_CHECKING:
    from seeker.cluster import Health

router = APIRouter(tags=["operations"])


async def _ready(service: Service, health: Mapping[str, Health]) -> bool:
    """Return whether people can be served: by the store, and by some shard of every catalog."""
    if not service.ready or any(len(one.silent) == one.shards for one in health.values()):
        return False
    try:
        await service.run(service.engine.store.ping)
    except SeekerError:
        return False
    return True


async def _health(service: Service) -> Mapping[str, Health]:
    """Return how the shards of each catalog are; nothing where there are no shards."""
    if not service.settings.cluster:
        return {}
    try:
        return await service.run(lambda: shard_health(service.engine.catalogs))
    except SeekerError:
        return {}


@router.get("/healthz", response_model=HealthAnswer, responses=problems())
async def live(service: Served) -> Response:
    """Say whether the service lives; it is alive if this answers, ready or not."""
    health = await _health(service)
    told = {name: {"count": one.shards, "silent": list(one.silent)} for name, one in health.items()}
    shards = {"shards": told} if service.settings.cluster else {}
    return JSONResponse({"live": True, "ready": await _ready(service, health), **shards})


@router.get("/healthz/ready", response_model=HealthAnswer, responses=problems())
async def ready(service: Served) -> Response:
    """Answer 200 only if the service can serve: kernels are loaded, store and shards answer."""
    if not await _ready(service, await _health(service)):
        from seeker.server.problems import Refused

        raise Refused(503, "The service is not ready.", "Try again in a second.")
    return JSONResponse({"live": True, "ready": True})


@router.get(
    "/metrics",
    response_class=Response,
    responses={**problems(401, 403), 200: {"content": {"text/plain": {}}}},
)
async def metrics(service: Served, authorization: Authorization = None) -> Response:
    """Return figures for Prometheus; needs an admin key unless the service opens them."""
    if not service.settings.open_metrics:
        service.keys.check_admin(authorization)
    sessions = await service.run(service.engine.store.count)
    service.metrics.note(service.engine, service.pool)
    if service.settings.cluster:
        service.metrics.note_shards(
            await service.run(lambda: shard_health(service.engine.catalogs))
        )
    return Response(service.metrics.text(sessions), media_type=CONTENT_TYPE_LATEST)


@router.get(
    "/v1/export",
    response_class=StreamingResponse,
    responses={**problems(401, 403), 200: {"content": {"application/x-ndjson": {}}}},
)
async def export(
    service: Served,
    user: Annotated[UserName | None, Query()] = None,
    owner: Annotated[UserName | None, Query(max_length=64)] = None,
    authorization: Authorization = None,
) -> Response:
    """Return all sessions, or those of one user, as JSON Lines; needs an admin key."""
    service.keys.check_admin(authorization)

    def written() -> Iterator[str]:
        for line in lines(service.engine.store, log_error, user, owner):
            yield json.dumps(line) + "\n"

    return StreamingResponse(written(), media_type="application/x-ndjson")
