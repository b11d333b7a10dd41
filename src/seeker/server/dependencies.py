"""What routes share: bodies read strictly, parts of addresses, headers, and a session's turn."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Protocol, TypeVar

from fastapi import Depends, Header, HTTPException, Path, Query, Request
from fastapi.routing import APIRoute
from pydantic import AfterValidator
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import Response
from starlette.types import Message, Scope

from seeker.catalog.attributes import shorten
from seeker.engine import Engine, SessionSnapshot, no_session, no_share
from seeker.errors import NotFound
from seeker.server.errors import RequestRefused
from seeker.server.requests import ActRequest, RequestBody, is_form
from seeker.server.serializers import json_response, session_response
from seeker.server.service import Service
from seeker.session import Event
from seeker.stores import IdempotencyKey

MAX_JSON_DEPTH = 16


class StrictRoute(APIRoute):
    """A route whose body is read by `parse_json`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the usual handler, for a stricter request."""
        handler = super().get_route_handler()
        takes_picture = getattr(self.endpoint, "takes_picture", False)

        async def handle(request: Request) -> Response:
            if takes_picture and is_form(request.headers.get("content-type")):
                return await handler(await unpack_form(request))
            return await handler(StrictRequest(request.scope, request.receive))

        return handle


class StrictRequest(Request):
    """A request whose JSON is read strictly."""

    async def json(self) -> Any:
        """Return the body's values."""
        try:
            return parse_json(await self.body())
        except RequestRefused as error:
            # FastAPI lets only its own kind of error through from here.
            raise HTTPException(error.http_status, error.message) from None


PICTURE_FORM: dict[str, Any] = {
    "requestBody": {
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["picture"],
                    "additionalProperties": False,
                    "properties": {
                        "picture": {"type": "string", "format": "binary"},
                        "request": {"type": "string", "description": "What else is said, as JSON."},
                    },
                }
            }
        }
    }
}
"""How the OpenAPI document describes a body that may come with a picture."""

PICTURE_CONTENT: dict[str, Any] = {"description": "The picture.", "content": {"image/webp": {}}}


Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def takes_picture(endpoint: Endpoint) -> Endpoint:
    """Mark the function behind a call whose body may be a form with a picture."""
    endpoint.takes_picture = True  # type: ignore[attr-defined]
    return endpoint


def picture_of(request: Request) -> bytes | None:
    """Return the picture that came with a request."""
    picture: bytes | None = getattr(request.state, "picture", None)
    return picture


async def unpack_form(request: Request) -> StrictRequest:
    """Return a request with what the part `request` of a form says; the picture is in its state.

    The whole body is here already and not longer than it may be. Nothing is written to a disk.
    """
    parser = _FormParser(request.headers, request.stream(), max_files=1, max_fields=1)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise RequestRefused(400, f"The form cannot be read: {error.message}") from None
    picture, said = form.get("picture"), form.get("request", "{}")
    contents = await picture.read() if isinstance(picture, UploadFile) else None
    others = [name for name in form if name not in _FORM_PARTS]
    await form.close()
    if others:
        # Were it left out in silence, whoever has sent it would take it for said.
        raise RequestRefused(
            400,
            f"The form has a part {shorten(others[0])}, but only `picture` and `request` are read.",
            "What else is said goes into `request`, as JSON.",
        )
    if contents is None or not isinstance(said, str):
        raise RequestRefused(
            400, "The form has no file called `picture`.", "What else is said goes into `request`."
        )
    request.state.picture = contents
    headers = [(b"content-type", b"application/json")]
    headers += [one for one in request.scope["headers"] if one[0] != b"content-type"]
    body = said.encode("utf-8", "replace")

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return StrictRequest({**request.scope, "headers": headers}, receive)


_FORM_PARTS = ("picture", "request")


class _FormParser(MultiPartParser):
    spool_max_size = sys.maxsize


def parse_json(body: bytes) -> Any:
    """Return the values of a JSON text, or refuse it with the reason.

    No NaN, no infinity, no half letters, no key twice, not too deep.
    """
    try:
        text = body.decode("utf-8")
        value = _DECODER.decode(text)
        if "\\u" in text:
            # A text such as "\\ud800" is half a letter: it can be read, but never be written again.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError:
        raise RequestRefused(400, "The body is not UTF-8.") from None
    except UnicodeEncodeError:
        raise RequestRefused(400, "The body holds half a letter (a lone surrogate).") from None
    except RecursionError:
        raise RequestRefused(400, "The body's JSON is nested too deeply.") from None
    except ValueError as error:
        raise RequestRefused(400, f"The body is not JSON: {error}.") from None
    if text.count("[") + text.count("{") >= MAX_JSON_DEPTH and _depth(value) > MAX_JSON_DEPTH:
        raise RequestRefused(400, "The body's JSON is nested too deeply.")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys are all different: of two values, nobody knows which counts."""
    object = dict(pairs)
    if len(object) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise RequestRefused(400, f"The body says {twice[:100]!r} twice.", "Say it once.")
    return object


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large")
    return value


_DECODER = json.JSONDecoder(
    parse_constant=_constant, parse_float=_number, object_pairs_hook=_object
)


def _depth(value: object) -> int:
    """Return how deeply a value is nested; the body limit bounds the work."""
    level, deep = [value], 0
    while level:
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        deep += 1
        if deep > MAX_JSON_DEPTH:
            break
    return deep


class RestConvertor(PathConvertor):
    """`{item:rest}`: the rest of an address, be there slashes or line breaks in it."""

    regex = "(?s:.*)"


register_url_convertor("rest", RestConvertor())

TOKEN = "[A-Za-z0-9_-]{22}"
"""What opens something: 128 random bits."""
TOKEN_SCHEMA = {"pattern": f"^{TOKEN}$"}
"""How the OpenAPI document describes what opens something."""


def token_check(missing: Callable[[], NotFound]) -> AfterValidator:
    """Return a check of what opens something: what has another form opens nothing."""

    def check(token: str) -> str:
        if not re.fullmatch(TOKEN, token):
            raise missing()
        return token

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
NETWORK_GROUPS = 4096

ItemPath = Annotated[str, Path(min_length=1, max_length=1000, description="The id of an item.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]
Limit = Annotated[int, Query(ge=1, le=10_000)]


async def service_of(request: Request) -> Service:
    """Return the service that a request is for; plain functions would be called in a thread."""
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(service_of)]

KEY_HEADER = "Idempotency-Key"
KEY_PATTERN = "[!-~]{16,128}"
IdempotencyKeyHeader = Annotated[
    str | None,
    Header(
        alias=KEY_HEADER,
        min_length=16,
        max_length=128,
        pattern=r"^[!-~]+$",
        description="Names this request, such as a UUID: a retry with the same name and body "
        "answers as the first time did.",
    ),
]
MAX_AUTHORIZATION_CHARACTERS = 500
Authorization = Annotated[
    str | None,
    Header(
        description="Bearer KEY, where the service asks for keys.",
        max_length=MAX_AUTHORIZATION_CHARACTERS,
    ),
]


def make_idempotency_key(
    name: str | None, scope: str, call: str, body: RequestBody | str
) -> IdempotencyKey | None:
    """Return an idempotency key with a fingerprint of what the request said."""
    if name is None:
        return None
    values = body if isinstance(body, str) else body.fingerprint()
    request = json.dumps([call, values], sort_keys=True)
    return IdempotencyKey(scope, name, hashlib.sha256(request.encode()).hexdigest())


class Actor(Protocol):
    """Who lets things happen in sessions."""

    def act(
        self, id: str, event: Event, step: int | None, key: IdempotencyKey | None
    ) -> SessionSnapshot:
        """Let something happen in a session."""
        ...


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
        """Do something when it is this session's turn, once however often it is asked."""
        key = make_idempotency_key(self.key, self.id, call, body)
        snapshot = await self.service.run(lambda: act(key), self.id)
        return json_response(session_response(snapshot), status)

    async def act(self, call: str, body: ActRequest, actor: Actor) -> Response:
        """Let something happen when it is this session's turn, once however often it is asked."""
        key = make_idempotency_key(self.key, self.id, call, body)
        event, step = body.event(), body.step
        if actor is self.service.engine:
            snapshot = await self.service.act(self.id, event, step, key)
        else:
            work = partial(actor.act, self.id, event, step, key)
            snapshot = await self.service.run(work, self.id)
        return json_response(session_response(snapshot))


async def session_turn(
    id: Id, service: ServiceDep, idempotency_key: IdempotencyKeyHeader = None
) -> SessionTurn:
    """Return the turn that a request asks for."""
    return SessionTurn(id, service, idempotency_key)


SessionTurnDep = Annotated[SessionTurn, Depends(session_turn)]


@dataclass(frozen=True)
class SessionStarter:
    """Who starts a session: the name of their API key, and the address they come from."""

    owner: str | None
    address: str

    @property
    def scope(self) -> str:
        """The scope of their idempotency keys.

        The address keeps one client's keys from opening another's door, also where a proxy adds
        the same API key for all who come.
        """
        source = f"from {self.address}"
        return f"key {self.owner} {source}" if self.owner else source

    @property
    def network(self) -> int | None:
        """One of 4,096 groups of networks, of which thousands share each: it names nobody.

        It says only whether many searches may be one machine's, so that it does not count for many.
        """
        try:
            address = ipaddress.ip_address(self.address)
        except ValueError:
            return None
        address = getattr(address, "ipv4_mapped", None) or address
        network = address.packed[: 3 if address.version == 4 else 6]
        digest = hashlib.sha256(network).digest()
        return (digest[0] << 8 | digest[1]) % NETWORK_GROUPS


def session_starter(scope: Scope, service: Service, authorization: str | None) -> SessionStarter:
    """Return who starts a session, if they may."""
    owner = service.keys.may_start(authorization)
    return SessionStarter(owner, client_address(scope))


def client_address(scope: Scope) -> str:
    """Return the address of who makes a request."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def copy_limit(scope: Scope, service: Service) -> Callable[[int], None]:
    """Return what refuses to copy events if a client has copied more than they could have clicked.

    One request copies a whole session: what is written counts, not how often it is asked for.
    """
    client = client_address(scope)

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
