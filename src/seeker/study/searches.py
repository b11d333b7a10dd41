"""The calls about sessions, as far as a participant of a study may make them.

They have the addresses and answers of the usual service, so that the page's grid works unchanged;
whatever would show more than the page, such as the events with the model in them, is not here.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from seeker.errors import BadInput
from seeker.server.asking import check_length
from seeker.server.calls import Id, Turned, answer
from seeker.server.responses import problems
from seeker.server.schemas import ClickAsked, CountAsked, FoundAsked, SessionAnswer
from seeker.server.service import Served
from seeker.server.strict import StrictRoute
from seeker.study.participants import Searched

router = APIRouter(prefix="/v1/sessions", tags=["searches"], route_class=StrictRoute)


@router.get("/{id}", response_model=SessionAnswer, responses=problems(404, 409))
async def show(id: Id, service: Served, study: Searched) -> Response:
    """Return where a search is."""
    return answer(await service.run(lambda: study.show(id), id))


@router.post("/{id}/clicks", response_model=SessionAnswer, responses=problems(404, 409))
async def click(turn: Turned, study: Searched, body: ClickAsked) -> Response:
    """Give a verdict on an item of the page."""
    check_length("The length of shown", len(body.shown or ()), turn.service.settings.shown_limit)
    said = (turn.id, body.item, body.verdict, body.shown, body.step)
    return await turn.take("click", body, lambda key: study.click(*said, key))


@router.post("/{id}/undo", response_model=SessionAnswer, responses=problems(404, 409))
async def undo(turn: Turned, study: Searched, body: CountAsked | None = None) -> Response:
    """Take back the last thing done."""
    asked = _one(body)
    return await turn.take("undo", asked, lambda key: study.undo(turn.id, asked.step, key))


@router.post("/{id}/redo", response_model=SessionAnswer, responses=problems(404, 409))
async def redo(turn: Turned, study: Searched, body: CountAsked | None = None) -> Response:
    """Bring back what was undone last."""
    asked = _one(body)
    return await turn.take("redo", asked, lambda key: study.redo(turn.id, asked.step, key))


@router.post("/{id}/found", response_model=SessionAnswer, responses=problems(404, 409))
async def found(turn: Turned, study: Searched, body: FoundAsked) -> Response:
    """Say that an item of the page is the one; a 409 if it is not."""
    return await turn.take(
        "found", body, lambda key: study.found(turn.id, body.item, body.step, key)
    )


def _one(body: CountAsked | None) -> CountAsked:
    asked = body or CountAsked()
    if asked.count != 1:
        raise BadInput("In a study one thing is taken back at a time.", "Leave out count.")
    return asked
