"""The calls with which others may look at a session, and go on from it by themselves."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from seeker.engine import Shown
from seeker.server.answers import answer, explanation_answer, page_answer, session_answer
from seeker.server.asking import check_length
from seeker.server.calls import (
    Id,
    ItemPath,
    Limit,
    Offset,
    Share,
    Turned,
    copier,
    starter,
)
from seeker.server.responses import problems
from seeker.server.schemas import (
    ExplanationAnswer,
    ForkAsked,
    PageAnswer,
    SessionAnswer,
    ShareAnswer,
)
from seeker.server.service import Authorization, Retried, Served, key_of
from seeker.server.strict import StrictRoute
from seeker.stores import Key

router = APIRouter(prefix="/v1", tags=["sharing"], route_class=StrictRoute)


@router.post(
    "/sessions/{id}/fork",
    status_code=201,
    response_model=SessionAnswer,
    responses=problems(401, 404, 409),
)
async def fork(
    turn: Turned,
    request: Request,
    body: ForkAsked | None = None,
    authorization: Authorization = None,
) -> Response:
    """Start a session with the same events, to go on from here without changing this one."""
    owner, _ = starter(request, turn.service, authorization)
    asked, allow = body or ForkAsked(), copier(request, turn.service)

    def work(key: Key | None) -> Shown:
        return turn.engine.fork(turn.id, asked.step, owner, key, allow=allow)

    return await turn.take("fork", asked, work, 201)


@router.post("/sessions/{id}/share", response_model=ShareAnswer, responses=problems(404))
async def share(id: Id, service: Served) -> Response:
    """Return the token with which others may look at this session; the same each time."""
    return JSONResponse({"share": await service.run(lambda: service.engine.share(id), id)})


@router.delete("/sessions/{id}/share", status_code=204, responses=problems(404))
async def unshare(id: Id, service: Served) -> Response:
    """Take the token back: nobody can look at this session with it any longer."""
    await service.run(lambda: service.engine.unshare(id), id)
    return Response(status_code=204)


# Those who look take turns by the token, so that however many they are, they leave the person
# whose session it is a turn of their own.


@router.get("/shared/{share}", response_model=SessionAnswer, responses=problems(404, 409))
async def look(share: Share, service: Served) -> Response:
    """Return where a shared session is; its `id` is the token."""
    engine = service.engine

    def work() -> Shown:
        return replace(engine.show(engine.shared(share)), id=share)

    return answer(session_answer(await service.run(work, share)))


@router.get("/shared/{share}/items", response_model=PageAnswer, responses=problems(404, 409))
async def items(share: Share, service: Served, offset: Offset = 0, limit: Limit = 48) -> Response:
    """Return a slice of the ranking of a shared session's step."""
    check_length("limit", limit, service.settings.page_limit)
    engine = service.engine
    name, page = await service.run(lambda: engine.more(engine.shared(share), offset, limit), share)
    return answer(page_answer(page, name))


@router.get(
    "/shared/{share}/explain/{item:path}",
    response_model=ExplanationAnswer,
    responses=problems(404, 409),
)
async def explain(share: Share, item: ItemPath, service: Served) -> Response:
    """Say which clicks brought an item to its place in a shared session."""
    engine = service.engine
    why = await service.run(lambda: engine.explain(engine.shared(share), item), share)
    return answer(explanation_answer(why))


@router.post(
    "/shared/{share}/fork",
    status_code=201,
    response_model=SessionAnswer,
    responses=problems(401, 404, 409),
)
async def go_on(
    share: Share,
    request: Request,
    service: Served,
    idempotency_key: Retried = None,
    authorization: Authorization = None,
) -> Response:
    """Start a session of one's own that goes on from where a shared one is."""
    owner, scope = starter(request, service, authorization)
    key = key_of(idempotency_key, scope, "fork", share)
    engine, allow = service.engine, copier(request, service)

    def work() -> Shown:
        return engine.fork(engine.shared(share), owner=owner, key=key, own=False, allow=allow)

    return answer(session_answer(await service.run(work, share)), 201)
