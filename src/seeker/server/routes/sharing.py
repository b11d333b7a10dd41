"""The calls with which others may look at a session, and go on from it by themselves."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import Response

from seeker.engine import SessionSnapshot
from seeker.server.dependencies import (
    PICTURE_CONTENT,
    Authorization,
    Id,
    IdempotencyKeyHeader,
    ItemPath,
    Limit,
    Offset,
    ServiceDep,
    SessionTurnDep,
    Share,
    StrictRoute,
    copy_limit,
    make_idempotency_key,
    session_starter,
)
from seeker.server.errors import problem_statuses
from seeker.server.requests import ForkRequest, check_length
from seeker.server.responses import (
    ExplanationResponse,
    PageResponse,
    SessionResponse,
    ShareResponse,
)
from seeker.server.serializers import (
    example_picture,
    explanation_response,
    json_response,
    page_response,
    session_response,
)
from seeker.stores import IdempotencyKey

router = APIRouter(prefix="/v1", tags=["sharing"], route_class=StrictRoute)


@router.post(
    "/sessions/{id}/fork",
    status_code=201,
    response_model=SessionResponse,
    responses=problem_statuses(401, 404, 409),
)
async def fork(
    turn: SessionTurnDep,
    request: Request,
    body: ForkRequest | None = None,
    authorization: Authorization = None,
) -> Response:
    """Start a session with the same events, to go on from here without changing this one."""
    starter = session_starter(request.scope, turn.service, authorization)
    body, allow = body or ForkRequest(), copy_limit(request.scope, turn.service)
    step = body.step

    def work(key: IdempotencyKey | None) -> SessionSnapshot:
        return turn.engine.fork(turn.id, step, starter.owner, starter.network, key, allow=allow)

    return await turn.take("fork", body, work, 201)


@router.post("/sessions/{id}/share", response_model=ShareResponse, responses=problem_statuses(404))
async def share(id: Id, service: ServiceDep) -> Response:
    """Return the token with which others may look at this session; the same each time."""
    token = await service.run(lambda: service.engine.share(id), id)
    return json_response(ShareResponse(share=token))


@router.delete("/sessions/{id}/share", status_code=204, responses=problem_statuses(404))
async def unshare(id: Id, service: ServiceDep) -> Response:
    """Take the token back: nobody can look at this session with it any longer."""
    await service.run(lambda: service.engine.unshare(id), id)
    return Response(status_code=204)


# Those who look take turns by the token, so that however many they are, they leave the person
# whose session it is a turn of their own.


@router.get("/shared/{share}", response_model=SessionResponse, responses=problem_statuses(404, 409))
async def look(share: Share, service: ServiceDep) -> Response:
    """Return where a shared session is; its `id` is the token."""
    engine = service.engine

    def work() -> SessionSnapshot:
        return replace(engine.show(engine.shared_session(share)), id=share)

    return json_response(session_response(await service.run(work, share), shared=True))


@router.get(
    "/shared/{share}/items", response_model=PageResponse, responses=problem_statuses(404, 409)
)
async def items(
    share: Share, service: ServiceDep, offset: Offset = 0, limit: Limit = 48
) -> Response:
    """Return a slice of the ranking of a shared session's step."""
    check_length("limit", limit, service.settings.page_limit)
    engine = service.engine
    name, page = await service.run(
        lambda: engine.more(engine.shared_session(share), offset, limit), share
    )
    return json_response(page_response(page, name))


@router.get(
    "/shared/{share}/explain/{item:rest}",
    response_model=ExplanationResponse,
    responses=problem_statuses(404, 409, 410),
)
async def explain(share: Share, item: ItemPath, service: ServiceDep) -> Response:
    """Say which clicks brought an item to its place in a shared session."""
    engine = service.engine
    why = await service.run(lambda: engine.explain(engine.shared_session(share), item), share)
    return json_response(explanation_response(why))


@router.get(
    "/shared/{share}/examples/{item:rest}",
    response_class=Response,
    responses={**problem_statuses(404, 409), 200: PICTURE_CONTENT},
)
async def example(share: Share, item: ItemPath, service: ServiceDep) -> Response:
    """Return the thumbnail of a picture that was given as an example in a shared session."""
    engine = service.engine
    return example_picture(
        await service.run(lambda: engine.thumbnail(engine.shared_session(share), item), share)
    )


@router.post(
    "/shared/{share}/fork",
    status_code=201,
    response_model=SessionResponse,
    responses=problem_statuses(401, 404, 409),
)
async def go_on(
    share: Share,
    request: Request,
    service: ServiceDep,
    idempotency_key: IdempotencyKeyHeader = None,
    authorization: Authorization = None,
) -> Response:
    """Start a session of one's own that goes on from where a shared one is."""
    starter = session_starter(request.scope, service, authorization)
    key = make_idempotency_key(idempotency_key, starter.scope, "fork", share)
    engine, allow = service.engine, copy_limit(request.scope, service)

    def work() -> SessionSnapshot:
        return engine.fork(
            engine.shared_session(share),
            owner=starter.owner,
            network=starter.network,
            key=key,
            own=False,
            allow=allow,
        )

    return json_response(session_response(await service.run(work, share)), 201)
