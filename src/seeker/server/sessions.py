"""The calls about sessions."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from seeker.engine import Shown
from seeker.server.answers import answer, explanation_answer, page_answer, session_answer
from seeker.server.asking import (
    check_filter,
    check_length,
    check_strategy,
    check_text,
    model_of,
    strategy_of,
)
from seeker.server.calls import Id, ItemPath, Limit, Offset, starter
from seeker.server.responses import problems
from seeker.server.schemas import (
    EventsAnswer,
    ExplanationAnswer,
    PageAnswer,
    SessionAnswer,
    StartAsked,
)
from seeker.server.service import Authorization, Retried, Served, key_of
from seeker.server.strict import StrictRoute

router = APIRouter(prefix="/v1/sessions", tags=["sessions"], route_class=StrictRoute)


@router.post("", status_code=201, response_model=SessionAnswer, responses=problems(401, 404, 409))
async def start(
    request: Request,
    service: Served,
    body: StartAsked,
    idempotency_key: Retried = None,
    authorization: Authorization = None,
) -> Response:
    """Start a session: its id is the only key to it."""
    owner, scope = starter(request, service, authorization)
    settings = service.settings
    check_length("page_size", body.page_size, settings.page_limit)
    check_text("query", body.query, settings)
    check_filter(body.filter)
    request.state.text = body.query
    key = key_of(idempotency_key, scope, "start", body.model_dump())
    model, strategy = model_of(body.model), strategy_of(body.strategy)
    check_strategy(strategy, body.page_size)

    def work() -> Shown:
        return service.engine.start(
            body.catalog,
            query=body.query,
            filter=body.filter,
            model=model,
            strategy=strategy,
            page_size=body.page_size,
            seed=body.seed,
            user=body.user,
            repeat=body.repeat,
            personalise=body.personalise,
            owner=owner,
            key=key,
        )

    return answer(session_answer(await service.run(work)), 201)


@router.get("/{id}", response_model=SessionAnswer, responses=problems(404, 409))
async def show(id: Id, service: Served) -> Response:
    """Return where a session is."""
    return answer(session_answer(await service.run(lambda: service.engine.show(id), id)))


@router.get("/{id}/items", response_model=PageAnswer, responses=problems(404, 409))
async def items(
    id: Id,
    service: Served,
    offset: Offset = 0,
    limit: Limit = 48,
) -> Response:
    """Return a slice of the ranking of this step."""
    check_length("limit", limit, service.settings.page_limit)
    name, page = await service.run(lambda: service.engine.more(id, offset, limit), id)
    return answer(page_answer(page, name))


@router.get(
    "/{id}/explain/{item:path}", response_model=ExplanationAnswer, responses=problems(404, 409)
)
async def explain(id: Id, item: ItemPath, service: Served) -> Response:
    """Say which clicks brought an item to its place."""
    return answer(
        explanation_answer(await service.run(lambda: service.engine.explain(id, item), id))
    )


@router.get("/{id}/events", response_model=EventsAnswer, responses=problems(404))
async def events(id: Id, service: Served) -> Response:
    """Return all that is kept of a session: a person's own data."""
    kept = await service.run(lambda: service.engine.kept(id), id)
    written: dict[str, Any] = {
        "id": kept.id,
        "catalog": kept.catalog,
        "user": kept.person,
        "began": kept.began,
        "active": kept.active,
        "events": list(kept.events),
    }
    return JSONResponse(written)


@router.delete("/{id}", status_code=204, responses=problems(404))
async def delete(id: Id, service: Served) -> Response:
    """Forget a session and all that belongs to it."""
    await service.run(lambda: service.engine.delete(id), id)
    return Response(status_code=204)
