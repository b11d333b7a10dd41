"""JSON read strictly: no NaN, no infinity, no half letters, no key twice, not too deep."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from seeker.server.errors import RequestRefused

MAX_JSON_DEPTH = 16


class StrictRoute(APIRoute):
    """A route whose body is read by `parsed`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the usual handler, for a stricter request."""
        usual = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await usual(StrictRequest(request.scope, request.receive))

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


def parse_json(body: bytes) -> Any:
    """Return the values of a JSON text, or refuse it with the reason."""
    try:
        text = body.decode("utf-8")
        value = json.loads(
            text, parse_constant=_constant, parse_float=_number, object_pairs_hook=_object
        )
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
    if _depth(value) > MAX_JSON_DEPTH:
        raise RequestRefused(400, "The body's JSON is nested too deeply.")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys are all different: of two values, nobody knows which counts."""
    made = dict(pairs)
    if len(made) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise RequestRefused(400, f"The body says {twice[:100]!r} twice.", "Say it once.")
    return made


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large")
    return value


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
