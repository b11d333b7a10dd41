"""Whatever is sent to a study: no mistake of the service, no status that the document lacks."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis

from seeker.engine import Catalogs
from seeker.server.settings import Settings
from seeker.stores.sqlite import SqliteStore
from seeker.study.app import study_app
from seeker.study.design import Design, content_of
from seeker.study.tables import ParticipantTable
from study.parts import StudyServer
from support.catalogs import random_catalog
from support.documents import ROOT
from support.fuzzing import answered, tries
from support.servers import TIMEOUT_SECONDS


@pytest.fixture(scope="module")
def calls() -> dict[str, Any]:
    """Return the OpenAPI document of a study, of which only the calls of its own are tried."""
    catalog = random_catalog(30)
    design = Design("shop", content_of(catalog), 30, ("choice",), ("greedy",))
    with tempfile.TemporaryDirectory() as place:
        file = f"{place}/study.sqlite"
        store = SqliteStore(file)
        ParticipantTable(store).begin(design, "You agree.", 0.0)
        store.close()
        app = study_app(Settings(store=file), Catalogs({"shop": catalog}))
        document = dict(app.openapi())
    own = ("/v1/study", "/v1/sessions")
    paths = {path: item for path, item in document["paths"].items() if path.startswith(own)}
    return {**document, "paths": paths}


@pytest.fixture(scope="module")
def document(calls: dict[str, Any]) -> Any:
    return schemathesis.openapi.from_dict(calls)


# Requests are thought of when they are made: it takes seconds, and every process collects.
SCHEMA = schemathesis.pytest.from_fixture("document")


@pytest.fixture(scope="module")
def url(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("fuzz")
    flags = ("--store", str(place / "study.sqlite"), "--rate", "0", "--log-level", "error")
    # Enough steps and targets that whatever is tried meets a search that goes on.
    many = ("--steps", "1000", "--targets-per-person", "40")
    with StudyServer(folder, *flags, *many).running(place / "log") as server:
        yield server.url
    assert "Traceback" not in (place / "log").read_text()


@pytest.fixture(scope="module")
def key(url: str) -> str:
    digest = httpx.get(f"{url}/v1/study", timeout=TIMEOUT_SECONDS).json()["digest"]
    joined = httpx.post(
        f"{url}/v1/study/participants", json={"consent": digest}, timeout=TIMEOUT_SECONDS
    )
    return str(joined.json()["key"])


def test_the_calls_are_those_that_the_documentation_lists(calls: dict[str, Any]) -> None:
    page = (ROOT / "docs/how-to/run-a-study.md").read_text("utf-8")
    listed = re.findall(r"`(GET|POST|DELETE) (/v1/\S+?)`", page.partition("## The calls")[2])
    served = [(method.upper(), path) for path, item in calls["paths"].items() for method in item]
    assert sorted(listed) == sorted(served)


@SCHEMA.parametrize()
@tries(8)
def test_any_request(case: schemathesis.Case[Any], url: str, key: str) -> None:
    # Half-way valid: otherwise every call would end at somebody unknown.
    if "key" in case.path_parameters and case.method != "DELETE":
        case.path_parameters["key"] = key
    if "id" in case.path_parameters:
        trial = httpx.post(
            f"{url}/v1/study/participants/{key}/trials", timeout=TIMEOUT_SECONDS
        ).json()["current"]
        case.path_parameters["id"] = trial["session"]
    answered(case, url)
