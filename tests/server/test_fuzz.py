"""Whatever is sent: no mistake of the service, no status that the document does not name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis

from seeker.engine import Catalogs
from seeker.server.app import create_app
from seeker.server.settings import Settings
from support.catalogs import random_catalog
from support.fuzzing import answered, tries
from support.servers import TIMEOUT_SECONDS, serving

schemathesis.serializer.alias("application/x-ndjson", "application/octet-stream")

# Requests are thought of when they are made: it takes seconds, and every process collects.
SCHEMA = schemathesis.pytest.from_fixture("document")


@pytest.fixture(scope="module")
def document() -> Any:
    app = create_app(
        Settings(store="memory:", open_metrics=True), Catalogs({"shop": random_catalog(30)})
    )
    return schemathesis.openapi.from_dict(dict(app.openapi()))


@pytest.fixture(scope="module")
def url(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("fuzz") / "log"
    flags = ("--store", "memory:", "--rate", "0", "--open-metrics", "--log-level", "error")
    with serving(folder, log, *flags) as client:
        yield str(client.base_url)
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="module")
def session(url: str) -> str:
    return str(httpx.post(f"{url}/v1/sessions", json={}, timeout=TIMEOUT_SECONDS).json()["id"])


@pytest.fixture(scope="module")
def share(url: str) -> str:
    """A token of a session of its own, so that what is shared stays shared."""
    id = httpx.post(f"{url}/v1/sessions", json={}, timeout=TIMEOUT_SECONDS).json()["id"]
    return str(httpx.post(f"{url}/v1/sessions/{id}/share", timeout=TIMEOUT_SECONDS).json()["share"])


@SCHEMA.parametrize()
@tries(12)
def test_any_request(case: schemathesis.Case[Any], url: str, session: str, share: str) -> None:
    # Half-way valid: otherwise every call would end at an unknown session.
    if "id" in case.path_parameters and "sessions" in case.path and case.method != "DELETE":
        case.path_parameters["id"] = session
    if "share" in case.path_parameters:
        case.path_parameters["share"] = share
    answered(case, url)
