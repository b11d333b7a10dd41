"""Which statuses each call may answer with, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from seeker.server.problems import MEDIA_TYPE
from seeker.server.schemas import Problem, SessionProblem

_WHAT = {
    400: "The request cannot be read.",
    401: "A key is needed, or not known.",
    403: "The key is not for this.",
    404: "There is no such thing.",
    408: "The body did not arrive in time.",
    409: "The request does not fit the session; the answer shows where it is.",
    413: "The body is too long.",
    421: "The service does not go by the name that the request is for.",
    422: "A value cannot be used.",
    429: "Too many requests, or too many sessions.",
    500: "The service made a mistake.",
    503: "Too much is going on; try again after Retry-After seconds.",
}
ALWAYS = (400, 408, 413, 421, 422, 429, 500, 503)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return these statuses and those that any call may answer with."""
    return {
        status: {
            "description": _WHAT[status],
            "content": {
                MEDIA_TYPE: {
                    "schema": {
                        "$ref": "#/components/schemas/"
                        + (SessionProblem if status == 409 else Problem).__name__
                    }
                }
            },
        }
        for status in sorted({*ALWAYS, *statuses})
    }
