"""The calls for those who look after the service: health, figures, exports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import JSONResponse, Response, StreamingResponse

from seeker.server.exporting import lines
from seeker.server.logs import log_error
from seeker.server.problems import Refused
from seeker.server.responses import problems
from seeker.server.schemas import HealthAnswer, UserName
from seeker.server.service import Authorization, Served

router = APIRouter(tags=["operations"])


@router.get("/healthz", response_model=HealthAnswer, responses=problems())
async def live(service: Served) -> Response:
    """Say whether the service lives; it is alive if this answers, ready or not.

    Nobody waits for the store here, nor for a thread: what is known of them is told.
    """
    health = await service.readiness.shards()
    reasons = await service.readiness.reasons(health)
    why = {"reasons": reasons} if reasons else {}
    return JSONResponse(
        {"live": True, "ready": not reasons, **why, **service.readiness.shards_json(health)}
    )


@router.get("/healthz/ready", response_model=HealthAnswer, responses=problems())
async def ready(service: Served) -> Response:
    """Answer 200 only if the service can serve: kernels are loaded, store and shards answer."""
    health = await service.readiness.shards()
    reasons = await service.readiness.reasons(health)
    if reasons:
        raise Refused(503, f"The service is not ready. {' '.join(reasons)}", "Try again.")
    return JSONResponse({"live": True, "ready": True, **service.readiness.shards_json(health)})


@router.get(
    "/metrics",
    response_class=Response,
    responses={**problems(401, 403), 200: {"content": {"text/plain": {}}}},
)
async def metrics(service: Served, authorization: Authorization = None) -> Response:
    """Return figures for Prometheus; needs an admin key unless the service opens them."""
    if not service.settings.open_metrics:
        service.keys.check_admin(authorization)
    sessions = await service.readiness.sessions()
    service.metrics.note(service.engine, service.pool)
    service.metrics.note_shards(await service.readiness.shards())
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
