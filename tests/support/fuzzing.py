"""How a service is tried with whatever its own document allows, and what it must never answer."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi import checks


def tries(examples: int) -> settings:
    """Return how often each call is tried; the same requests are made every time."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


def answered(case: schemathesis.Case[Any], url: str) -> None:
    """Make a request: neither a mistake of the service, nor anything the document does not say."""
    case.validate_response(
        case.call(base_url=url),
        checks=[
            schemathesis.checks.not_a_server_error,
            checks.status_code_conformance,
            checks.content_type_conformance,
            checks.response_schema_conformance,
        ],
    )
