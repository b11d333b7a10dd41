"""Errors as application/problem+json: what was wrong, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from seeker.engine import Moved
from seeker.errors import SeekerError
from seeker.server.answers import session_json

MEDIA_TYPE = "application/problem+json"
_TITLES = {
    400: "That request cannot be read",
    401: "A key is needed",
    403: "That is not allowed",
    404: "There is no such thing here",
    405: "That cannot be done here",
    413: "That is too long",
    415: "That is not JSON",
    422: "That value cannot be used",
    429: "That is too much",
    500: "Something went wrong",
    503: "Too much is going on",
}


class Refused(SeekerError):
    """A request that goes no further."""

    def __init__(
        self, status: int, message: str, hint: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, hint)
        self.http_status = status
        self.title = _TITLES[status]
        self.headers = dict(headers or {})


def problem(
    status: int,
    detail: str,
    hint: str = "",
    title: str | None = None,
    headers: Mapping[str, str] | None = None,
    **more: object,
) -> Response:
    """Return a problem as an answer."""
    body = {
        "type": "about:blank",
        "title": title or _TITLES.get(status, "Something went wrong"),
        "status": status,
        "detail": detail,
        "hint": hint,
        **more,
    }
    return Response(
        json.dumps(body, ensure_ascii=True), status, dict(headers or {}), media_type=MEDIA_TYPE
    )


def of_error(error: SeekerError) -> Response:
    """Return an error of ours as an answer; a conflict shows where the session is."""
    headers = dict(getattr(error, "headers", {}))
    if error.http_status == 503:
        headers["Retry-After"] = "1"
    more: dict[str, Any] = {}
    if isinstance(error, Moved):
        more["session"] = session_json(error.shown)
    return problem(
        error.http_status, error.message, error.hint, title=error.title, headers=headers, **more
    )


def of_validation(errors: Sequence[Mapping[str, Any]]) -> Response:
    """Return what is wrong with a request's values: the first thing in words, all as a list."""
    listed = [
        {"where": ".".join(str(part) for part in one["loc"]), "what": str(one["msg"])}
        for one in errors[:10]
    ]
    first = listed[0] if listed else {"where": "request", "what": "not valid"}
    return problem(
        422,
        f"{first['where']}: {first['what']}.",
        "The call is described at /docs.",
        errors=listed,
    )
