"""The calls that people make all the time, answered without the machinery that is for all calls.

FastAPI finds a route by trying one after the other, and solves its parameters by walking a tree of
dependencies: together that takes longer than finding a page. A route may say how it answers plain
requests directly. Whatever is out of the ordinary goes the general way, so refusals are the same,
and the OpenAPI document knows nothing of this.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from seeker.server.dependencies import (
    KEY_HEADER,
    KEY_PATTERN,
    MAX_AUTHORIZATION_CHARACTERS,
    TOKEN,
    parse_json,
)
from seeker.server.errors import RequestRefused
from seeker.server.requests import RequestBody
from seeker.server.service import Service

Body = TypeVar("Body", bound=RequestBody)
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


class Unusual(Exception):
    """A request that goes the general way."""


@dataclass(frozen=True)
class DirectRequest:
    """A request for a route that answers directly.

    id: of the session that its path names, or of the item; catalog: the name of that item's.
    """

    service: Service
    scope: Scope
    headers: Headers
    content: bytes
    id: str
    catalog: str = ""

    def body(self, type: type[Body]) -> Body:
        """Return the body; Unusual if it is none, or not as it must be."""
        if self.headers.get("content-type") != "application/json":
            raise Unusual
        try:
            return type.model_validate(parse_json(self.content))
        except (RequestRefused, ValidationError):
            raise Unusual from None

    @property
    def key(self) -> str | None:
        """The Idempotency-Key; Unusual if it is not as it must be."""
        key = self.headers.get(KEY_HEADER)
        if key is not None and not _KEY.fullmatch(key):
            raise Unusual
        return key

    @property
    def authorization(self) -> str | None:
        """What shows who asks; Unusual if it is too long."""
        value = self.headers.get("authorization")
        if value is not None and len(value) > MAX_AUTHORIZATION_CHARACTERS:
            raise Unusual
        return value


Direct: TypeAlias = Callable[[DirectRequest], Awaitable[Response]]

_SESSION = "/v1/sessions/"
_ITEM = "/v1/items/"
_PLAIN_NAME = re.compile("[A-Za-z0-9._-]{1,64}")
_MAX_ID_CHARACTERS = 1000
_TOKEN = re.compile(TOKEN)
_KEY = re.compile(KEY_PATTERN)


def directly(answer: Direct) -> Callable[[Endpoint], Endpoint]:
    """Say how the route of an endpoint answers plain requests; Unusual sends them on."""

    def mark(endpoint: Endpoint) -> Endpoint:
        endpoint.direct = answer  # type: ignore[attr-defined]
        return endpoint

    return mark


class DirectRoutes:
    """The routes that answer directly, by method and path."""

    def __init__(self, routers: Iterable[APIRouter]) -> None:
        self._routes = {
            (method, route.path): route
            for router in routers
            for route in router.routes
            if isinstance(route, APIRoute) and hasattr(route.endpoint, "direct")
            for method in route.methods or ()
        }

    async def answer(
        self, service: Service, scope: Scope, headers: Headers, content: bytes
    ) -> Response | None:
        """Return the answer to a request, or None if it goes the general way."""
        path, parameters = scope["path"], dict[str, str]()
        if path.startswith(_SESSION):
            id, slash, rest = path.removeprefix(_SESSION).partition("/")
            path, parameters = f"{_SESSION}{{id}}{slash}{rest}", {"id": id}
            if not _TOKEN.fullmatch(id):
                return None
        elif path.startswith(_ITEM):
            catalog, _, id = path.removeprefix(_ITEM).partition("/")
            path, parameters = f"{_ITEM}{{catalog}}/{{id:rest}}", {"catalog": catalog, "id": id}
            if not (_PLAIN_NAME.fullmatch(catalog) and 0 < len(id) <= _MAX_ID_CHARACTERS):
                return None
        route = self._routes.get((scope["method"], path))
        if route is None:
            return None
        try:
            request = DirectRequest(service, scope, headers, content, **{"id": "", **parameters})
            scope["route"], scope["path_params"] = route, parameters
            return await route.endpoint.direct(request)  # type: ignore[attr-defined, no-any-return]
        except Unusual:
            return None
