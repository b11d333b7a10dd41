"""The calls that do something in a session: one for every kind of event that may be asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from seeker.engine import Shown
from seeker.server.calls import Turn, Turned
from seeker.server.responses import problems
from seeker.server.schemas import ACTS, ActAsked, SessionAnswer
from seeker.server.strict import StrictRoute
from seeker.session import Event, Say
from seeker.stores import Key

router = APIRouter(prefix="/v1/sessions/{id}", tags=["sessions"], route_class=StrictRoute)


class Actor(Protocol):
    """Who lets things happen in sessions."""

    def act(self, id: str, event: Event, step: int | None, key: Key | None) -> Shown:
        """Let something happen in a session."""
        ...


async def engine_of(turn: Turned) -> Actor:
    """Return the engine of the service."""
    return turn.engine


ENGINE = Annotated[Actor, Depends(engine_of)]


def act_route(asked: type[ActAsked], name: str, actor: Any = ENGINE) -> Callable[..., Any]:
    """Return the function behind a call; actor: a dependency.

    A body of which all may be left out may be left out itself.
    """

    async def act(request: Request, turn: Turn, by: Actor, body: ActAsked | None) -> Response:
        said = asked() if body is None else body
        said.check_limits(turn.service.settings)
        request.state.text = getattr(said, "text", None)
        event = said.event()
        return await turn.take(name, said, lambda key: by.act(turn.id, event, said.step, key))

    required = any(field.is_required() for field in asked.model_fields.values())
    act.__name__, act.__doc__ = name, asked.__doc__
    act.__annotations__ |= {
        "request": Request,
        "turn": Turned,
        "by": actor,
        "body": asked if required else asked | None,
    }
    act.__defaults__ = () if required else (None,)
    return act


for event, asked in ACTS.items():
    # Words are said at /text, too: it was so from the beginning.
    for path in (event.path, "text") if event is Say else (event.path,):
        name = event.type if path == event.path else path
        router.post(f"/{path}", response_model=SessionAnswer, responses=problems(404, 409))(
            act_route(asked, name)
        )
