"""What several calls have in common: parts of addresses, who starts a session, the answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.responses import Response

from seeker.engine import Engine, SessionSnapshot, no_session, no_share
from seeker.errors import NotFound
from seeker.server.errors import RequestRefused
from seeker.server.schemas import RequestBody
from seeker.server.serializers import json_response, session_response
from seeker.server.service import IdempotencyKeyHeader, Service, ServiceDep, make_idempotency_key
from seeker.stores import IdempotencyKey


class RestConvertor(PathConvertor):
    """`{item:rest}`: the rest of an address, be there slashes or line breaks in it."""

    regex = "(?s:.*)"


register_url_convertor("rest", RestConvertor())

_TOKEN = "[A-Za-z0-9_-]{22}"
TOKEN_SCHEMA = {"pattern": f"^{_TOKEN}$"}
"""How the OpenAPI document describes what opens something."""


def token_check(missing: Callable[[], NotFound]) -> AfterValidator:
    """Return a check of what opens something: what has another form opens nothing."""

    def check(given: str) -> str:
        if not re.fullmatch(_TOKEN, given):
            raise missing()
        return given

    return AfterValidator(check)


Id = Annotated[
    str,
    Path(description="The id of a session.", json_schema_extra=TOKEN_SCHEMA),
    token_check(no_session),
]
Share = Annotated[
    str,
    Path(description="The token of a shared session.", json_schema_extra=TOKEN_SCHEMA),
    token_check(no_share),
]
ItemPath = Annotated[str, Path(min_length=1, max_length=1000, description="The id of an item.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]
Limit = Annotated[int, Query(ge=1, le=10_000)]


@dataclass(frozen=True)
class SessionTurn:
    """A request to do something in a session; key: its Idempotency-Key."""

    id: str
    service: Service
    key: str | None

    @property
    def engine(self) -> Engine:
        """The engine of the service."""
        return self.service.engine

    async def take(
        self,
        call: str,
        body: RequestBody,
        act: Callable[[IdempotencyKey | None], SessionSnapshot],
        status: int = 200,
    ) -> Response:
        """Do it when it is this session's turn, once however often it is asked."""
        key = make_idempotency_key(self.key, self.id, call, body.model_dump())
        shown = await self.service.run(lambda: act(key), self.id)
        return json_response(session_response(shown), status)


async def session_turn(
    id: Id, service: ServiceDep, idempotency_key: IdempotencyKeyHeader = None
) -> SessionTurn:
    """Return the turn that a request asks for."""
    return SessionTurn(id, service, idempotency_key)


SessionTurnDep = Annotated[SessionTurn, Depends(session_turn)]


def session_starter(
    request: Request, service: Service, authorization: str | None
) -> tuple[str | None, str]:
    """Return the name of who starts a session, and the scope of their idempotency keys.

    The address keeps one client's idempotency keys from opening another's door, also where a proxy
    adds the same API key for all who come.
    """
    owner = service.keys.may_start(authorization)
    client = request.client.host if request.client else ""
    return owner, f"key {owner} from {client}" if owner else f"from {client}"


def copier(request: Request, service: Service) -> Callable[[int], None]:
    """Return what refuses to copy events if a client has copied more than they could have clicked.

    One request copies a whole session: what is written counts, not how often it is asked for.
    """
    client = request.client.host if request.client else ""

    def allow(events: int) -> None:
        wait = service.copying.wait(client, events)
        if wait:
            raise RequestRefused(
                429,
                "This client has copied more than anybody needs.",
                f"Wait {wait} s.",
                {"Retry-After": str(wait)},
            )

    return allow
