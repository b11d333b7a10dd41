"""Errors as application/problem+json: what was wrong, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from seeker.engine import StaleStepError
from seeker.errors import SeekerError
from seeker.server.logging import log_error
from seeker.server.responses import ProblemResponse, SessionProblemResponse
from seeker.server.serializers import session_response

_WHAT = {
    400: "The request cannot be read.",
    401: "A key is needed, or not known.",
    403: "The key is not for this.",
    404: "There is no such thing.",
    408: "The body did not arrive in time.",
    409: "The request does not fit the session; the answer shows where it is.",
    410: "The item has left the catalog.",
    413: "The body is too long.",
    421: "The service does not go by the name that the request is for.",
    422: "A value cannot be used.",
    429: "Too many requests, or too many sessions.",
    500: "The service made a mistake.",
    503: "Too much is going on; try again after Retry-After seconds.",
}
_CODES = {
    401: "key",
    403: "key",
    404: "not-found",
    408: "late",
    409: "conflict",
    410: "not-found",
    413: "too-large",
    429: "too-many",
    500: "mistake",
    503: "busy",
}
"""What each status is about; the page has a sentence for each code in every language."""
ALWAYS = (400, 408, 413, 421, 422, 429, 500, 503)


def problem_statuses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return these statuses and those that any call may answer with."""
    return {
        status: {
            "description": _WHAT[status],
            "content": {
                MEDIA_TYPE: {
                    "schema": {
                        "$ref": "#/components/schemas/"
                        + (SessionProblemResponse if status == 409 else ProblemResponse).__name__
                    }
                }
            },
        }
        for status in sorted({*ALWAYS, *statuses})
    }


MEDIA_TYPE = "application/problem+json"
_NEW_PHRASES = {413: "Content Too Large", 422: "Unprocessable Content"}
"""As RFC 9110 has them; older Pythons know those of the RFCs before."""


class RequestRefused(SeekerError):
    """A request that goes no further."""

    def __init__(
        self, status: int, message: str, hint: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, hint)
        self.http_status = status
        self.headers = dict(headers or {})


def problem_response(
    status: int,
    detail: str,
    hint: str = "",
    headers: Mapping[str, str] | None = None,
    code: str = "",
    **more: object,
) -> Response:
    """Return a problem as RFC 9457 has it: its title is the status in words, and no more."""
    body = {
        "type": "about:blank",
        "title": _NEW_PHRASES.get(status) or HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "hint": hint,
        "code": code or _CODES.get(status, "refused"),
        **more,
    }
    return Response(
        json.dumps(body, ensure_ascii=True), status, dict(headers or {}), media_type=MEDIA_TYPE
    )


def error_response(error: SeekerError) -> Response:
    """Return an error of ours as an answer; a conflict shows where the session is."""
    log_error(error)
    headers = dict(getattr(error, "headers", {}))
    if error.http_status == 503:
        headers["Retry-After"] = str(getattr(error, "retry_after", 1))
    more: dict[str, Any] = {}
    if isinstance(error, StaleStepError):
        more["session"] = session_response(error.snapshot)
    return problem_response(
        error.http_status, error.message, error.hint, headers, error.code, **more
    )


def validation_response(errors: Sequence[Mapping[str, Any]], sent_as: str) -> Response:
    """Return what is wrong with a request's values: the first in words, all as a list.

    sent_as: the Content-Type of the body, which is read as JSON only if it says that it is.
    """
    listed = [{"where": _where(one["loc"]), "what": _what(one)} for one in errors[:10]]
    where = listed[0]["where"]
    # Where several kinds of value may be, each of them says why this is none.
    reasons = dict.fromkeys(one["what"] for one in listed if one["where"] == where)
    hint = "The call is described at /docs."
    if where == "body" and "json" not in sent_as.lower():
        hint = "Send it with the header Content-Type: application/json."
    return problem_response(422, f"{where}: {', or: '.join(reasons)}.", hint, errors=listed)


def _where(place: Sequence[str | int]) -> str:
    """Return where a value is, without the kinds of value that were tried there."""
    deeper = [part for part in place[2:] if isinstance(part, int)]
    return ".".join(map(str, (*place[:2], *deeper)))


def _what(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a value, in words for people who write JSON and not Python."""
    words = {
        "string_pattern_mismatch": "This holds letters that cannot be used here",
        "model_attributes_type": "Input should be a JSON object",
        "dict_type": "Input should be a JSON object",
        "extra_forbidden": "There is no such field",
    }
    return words.get(error["type"], str(error["msg"]).removeprefix("Value error, "))
