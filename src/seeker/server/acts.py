"""The calls that do something in a session; each answers with the session as it is then."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from seeker.server.asking import check_length, check_text
from seeker.server.calls import Id, answer
from seeker.server.responses import problems
from seeker.server.schemas import (
    ClickAsked,
    CountAsked,
    ExplorationAsked,
    FilterAsked,
    FoundAsked,
    SessionAnswer,
    TextAsked,
)
from seeker.server.service import Retried, Served, key_of
from seeker.server.strict import StrictRoute

router = APIRouter(prefix="/v1/sessions/{id}", tags=["sessions"], route_class=StrictRoute)


@router.post("/clicks", response_model=SessionAnswer, responses=problems(404, 409))
async def click(
    id: Id, service: Served, body: ClickAsked, idempotency_key: Retried = None
) -> Response:
    """Give a verdict on an item; with `step`, a click on a page that has passed is a 409."""
    check_length("The length of shown", len(body.shown or ()), service.settings.shown_limit)
    key = key_of(idempotency_key, id, "click", body.model_dump())
    engine = service.engine
    return answer(
        await service.run(
            lambda: engine.click(id, body.item, body.verdict, body.shown, body.step, key), id
        )
    )


@router.post("/undo", response_model=SessionAnswer, responses=problems(404, 409))
async def undo(
    id: Id, service: Served, body: CountAsked | None = None, idempotency_key: Retried = None
) -> Response:
    """Take back the last things in effect."""
    asked = body or CountAsked()
    key = key_of(idempotency_key, id, "undo", asked.model_dump())
    engine = service.engine
    return answer(await service.run(lambda: engine.undo(id, asked.step, key, asked.count), id))


@router.post("/redo", response_model=SessionAnswer, responses=problems(404, 409))
async def redo(
    id: Id, service: Served, body: CountAsked | None = None, idempotency_key: Retried = None
) -> Response:
    """Bring back what was undone last, as long as nothing new was done since."""
    asked = body or CountAsked()
    key = key_of(idempotency_key, id, "redo", asked.model_dump())
    engine = service.engine
    return answer(await service.run(lambda: engine.redo(id, asked.step, key, asked.count), id))


@router.post("/text", response_model=SessionAnswer, responses=problems(404, 409))
async def text(
    id: Id, request: Request, service: Served, body: TextAsked, idempotency_key: Retried = None
) -> Response:
    """Give feedback in words; with `clear`, words that were said no longer count."""
    check_text("text", body.text, service.settings)
    request.state.text = body.text
    key = key_of(idempotency_key, id, "text", body.model_dump())
    act = service.engine.unsay if body.clear else service.engine.say
    return answer(await service.run(lambda: act(id, body.text, body.step, key), id))


@router.post("/filter", response_model=SessionAnswer, responses=problems(404, 409))
async def narrow(
    id: Id, service: Served, body: FilterAsked, idempotency_key: Retried = None
) -> Response:
    """Show only items that pass a filter from now on; likes outside it still count."""
    key = key_of(idempotency_key, id, "filter", body.model_dump())
    engine = service.engine
    return answer(await service.run(lambda: engine.narrow(id, body.filter, body.step, key), id))


@router.post("/exploration", response_model=SessionAnswer, responses=problems(404, 409))
async def explore(
    id: Id, service: Served, body: ExplorationAsked, idempotency_key: Retried = None
) -> Response:
    """Show more surprising pages from now on, or less surprising ones."""
    key = key_of(idempotency_key, id, "exploration", body.model_dump())
    engine = service.engine
    return answer(await service.run(lambda: engine.explore(id, body.level, body.step, key), id))


@router.post("/found", response_model=SessionAnswer, responses=problems(404, 409))
async def found(
    id: Id, service: Served, body: FoundAsked, idempotency_key: Retried = None
) -> Response:
    """Mark the item that was sought."""
    key = key_of(idempotency_key, id, "found", body.model_dump())
    engine = service.engine
    return answer(await service.run(lambda: engine.found(id, body.item, body.step, key), id))
