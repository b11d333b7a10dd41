"""The calls that do something in a session; each answers with the session as it is then."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from seeker.server.asking import check_filter, check_length, check_text
from seeker.server.calls import Turned
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
from seeker.server.strict import StrictRoute

router = APIRouter(prefix="/v1/sessions/{id}", tags=["sessions"], route_class=StrictRoute)


@router.post("/clicks", response_model=SessionAnswer, responses=problems(404, 409))
async def click(turn: Turned, body: ClickAsked) -> Response:
    """Give a verdict on an item; with `step`, a click on a page that has passed is a 409."""
    check_length("The length of shown", len(body.shown or ()), turn.service.settings.shown_limit)
    said = (turn.id, body.item, body.verdict, body.shown, body.step)
    return await turn.take("click", body, lambda key: turn.engine.click(*said, key))


@router.post("/undo", response_model=SessionAnswer, responses=problems(404, 409))
async def undo(turn: Turned, body: CountAsked | None = None) -> Response:
    """Take back the last things in effect."""
    asked = body or CountAsked()
    return await turn.take(
        "undo", asked, lambda key: turn.engine.undo(turn.id, asked.step, key, asked.count)
    )


@router.post("/redo", response_model=SessionAnswer, responses=problems(404, 409))
async def redo(turn: Turned, body: CountAsked | None = None) -> Response:
    """Bring back what was undone last, as long as nothing new was done since."""
    asked = body or CountAsked()
    return await turn.take(
        "redo", asked, lambda key: turn.engine.redo(turn.id, asked.step, key, asked.count)
    )


@router.post("/text", response_model=SessionAnswer, responses=problems(404, 409))
async def text(turn: Turned, request: Request, body: TextAsked) -> Response:
    """Give feedback in words; with `clear`, words that were said no longer count."""
    check_text("text", body.text, turn.service.settings)
    request.state.text = body.text
    act = turn.engine.unsay if body.clear else turn.engine.say
    return await turn.take("text", body, lambda key: act(turn.id, body.text, body.step, key))


@router.post("/filter", response_model=SessionAnswer, responses=problems(404, 409))
async def narrow(turn: Turned, body: FilterAsked) -> Response:
    """Show only items that pass a filter from now on; likes outside it still count."""
    check_filter(body.filter)
    return await turn.take(
        "filter", body, lambda key: turn.engine.narrow(turn.id, body.filter, body.step, key)
    )


@router.post("/exploration", response_model=SessionAnswer, responses=problems(404, 409))
async def explore(turn: Turned, body: ExplorationAsked) -> Response:
    """Show more surprising pages from now on, or less surprising ones."""
    return await turn.take(
        "exploration", body, lambda key: turn.engine.explore(turn.id, body.level, body.step, key)
    )


@router.post("/found", response_model=SessionAnswer, responses=problems(404, 409))
async def found(turn: Turned, body: FoundAsked) -> Response:
    """Mark the item that was sought."""
    return await turn.take(
        "found", body, lambda key: turn.engine.found(turn.id, body.item, body.step, key)
    )
