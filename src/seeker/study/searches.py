"""The calls about sessions, as far as a participant of a study may make them.

They have the addresses and answers of the usual service, so that the page's grid works unchanged;
whatever would show more than the page, such as the events with the model in them, is not here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from seeker.server.acts import act_route
from seeker.server.answers import answer, session_answer
from seeker.server.calls import Id
from seeker.server.responses import problems
from seeker.server.schemas import (
    ActAsked,
    ClickAsked,
    FoundAsked,
    RedoAsked,
    SessionAnswer,
    UndoAsked,
)
from seeker.server.service import Served
from seeker.server.strict import StrictRoute
from seeker.session import Click, Event, Found, Redo, Undo
from seeker.study.participants import Searched

router = APIRouter(prefix="/v1/sessions", tags=["searches"], route_class=StrictRoute)


@router.get("/{id}", response_model=SessionAnswer, responses=problems(404, 409))
async def show(id: Id, service: Served, study: Searched) -> Response:
    """Return where a search is."""
    return answer(session_answer(await service.run(lambda: study.show(id), id)))


class UndoOneAsked(UndoAsked):
    """Take back the last thing done."""

    count: Literal[1] = 1


class RedoOneAsked(RedoAsked):
    """Bring back what was undone last."""

    count: Literal[1] = 1


ACTS: Mapping[type[Event], type[ActAsked]] = {
    Click: ClickAsked,
    Undo: UndoOneAsked,
    Redo: RedoOneAsked,
    Found: FoundAsked,
}

for event, asked in ACTS.items():
    router.post(
        f"/{{id}}/{event.path}", response_model=SessionAnswer, responses=problems(404, 409)
    )(act_route(asked, event.type, Searched))
