"""Whatever is given as a setting of a model or a strategy: used as meant, or refused in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from seeker import display, models
from seeker.engine import Catalogs
from seeker.errors import SeekerError
from seeker.server.app import create_app
from seeker.server.settings import Settings
from support.catalogs import random_catalog

KINDS = {
    "model": (models.Choice, models.Relative, models.Pairwise, models.Bipartite),
    "strategy": (
        display.Boltzmann,
        display.Greedy,
        display.EpsilonGreedy,
        display.Random,
        display.Diverse,
        display.Informative,
        display.CorrelatedBoltzmann,
    ),
}

NUMBERS = (
    st.sampled_from([0, 1, -1, 2.0, 0.5, 1e-320, 1e-30, 1e30, 1e38, 1e39, 1e300, 1e308, -1e308])
    | st.integers()
    | st.integers(10**300, 10**320)
    | st.floats()
)
NAMES = [one.name for kind in KINDS.values() for one in kind]
SAID = "image colour unit raw broad log probability cover ranked inf submodular determinantal"
WORDS = st.sampled_from(["", *SAID.split(), *NAMES]) | st.text(max_size=6)
PLAIN = st.none() | st.booleans() | NUMBERS | WORDS
LISTS = st.lists(NUMBERS, max_size=20) | st.lists(WORDS, max_size=4) | st.lists(PLAIN, max_size=4)
SIGHTS = st.sampled_from([["image"], ["colour", "image"], ["image", "image"], ["nothing"], []])


def _described(kind: str) -> st.SearchStrategy[Any]:
    """Return settings that could be meant, with odd values, and what is nothing of the kind."""
    named = [
        st.fixed_dictionaries(
            {"name": st.just(one.name)},
            optional={
                field.name: PLAIN | LISTS | SIGHTS | _based(field.name) for field in fields(one)
            },
        )
        for one in KINDS[kind]
    ]
    anything = st.recursive(
        PLAIN | LISTS, lambda inner: st.dictionaries(WORDS, inner, max_size=3), max_leaves=6
    )
    odd = st.dictionaries(st.sampled_from(["name", "alpha", "base"]) | WORDS, anything, max_size=3)
    return st.one_of(*named, *named, odd, anything)


def _based(field: str) -> st.SearchStrategy[Any]:
    """Return other strategies where a strategy may be built on another."""
    if field != "base":
        return st.nothing()
    names = st.sampled_from([one.name for one in KINDS["strategy"]])
    return st.fixed_dictionaries({"name": names}, optional={"c": NUMBERS, "first": WORDS})


TRIES = settings(max_examples=80, derandomize=True, deadline=None, database=None)


@pytest.mark.parametrize("kind", KINDS)
@TRIES
@given(st.data())
def test_settings_are_read_or_refused(kind: str, data: st.DataObject) -> None:
    room: Any = {"model": models, "strategy": display}[kind]
    written: Any = data.draw(_described(kind))
    with suppress(SeekerError):
        one = room.from_json(written)
        assert room.to_json(one)["name"] == one.name


@pytest.fixture(scope="module")
def http() -> Iterator[TestClient]:
    app = create_app(
        Settings(store="memory:", rate=0), Catalogs({"shop": random_catalog(60, (8, 4))})
    )
    with TestClient(app, raise_server_exceptions=False, base_url="http://localhost") as client:
        yield client


def _searched(http: TestClient, asked: dict[str, Any]) -> None:
    """Begin a session, and if it may be, search a little: never a mistake of the service."""
    answer = http.post(
        "/v1/sessions", content=json.dumps(asked), headers={"Content-Type": "application/json"}
    )
    if answer.status_code != 201:
        assert answer.status_code in (400, 404, 422), answer.text
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert 10 < len(answer.json()["detail"]) < 600
        return
    session = f"/v1/sessions/{answer.json()['id']}"
    shown = answer.json()["page"]["items"]
    for verdict, item in zip(("like", "dislike", "like"), shown, strict=False):
        click = {"item": item["id"], "verdict": verdict}
        answer = http.post(f"{session}/clicks", json=click)
        assert answer.status_code == 200, (asked, answer.text)
    assert http.get(f"{session}/explain/{shown[0]['id']}").status_code == 200, asked
    looked = http.get(session)
    assert looked.status_code == 200, asked
    assert len(looked.json()["page"]["items"]) == 4, asked


@TRIES
@given(_described("model"))
@example({"name": "pairwise", "views": 0.5})
@example({"name": "pairwise", "views": ["image", "image"]})
@example({"name": "bipartite", "views": "image"})
@example({"name": "bipartite", "views": [["image"]]})
@example({"name": ["pairwise"]})
@example({"name": "relative", "floor": 1e39})
@example({"name": "choice", "weights": [1e308] * 15})
def test_any_model_over_http(http: TestClient, model: Any) -> None:
    _searched(http, {"model": model, "page_size": 4, "seed": 1})


@TRIES
@given(_described("strategy"))
@example({"name": "boltzmann", "c": 1e308})
@example({"name": "boltzmann", "schedule": [1e-320]})
@example({"name": "diverse", "base": {"name": "diverse"}})
@example({"name": "correlated", "c": 9e29, "correlation": 1, "reach": 1e-9})
@example({"name": "correlated", "correlation": 1e-320, "reach": 1e308})
def test_any_strategy_over_http(http: TestClient, strategy: Any) -> None:
    _searched(http, {"strategy": strategy, "page_size": 4, "seed": 1})


@pytest.mark.parametrize("views", [0.5, "image", [], ["image", "image"], [1], {"name": "x"}, True])
@pytest.mark.parametrize("name", ["pairwise", "bipartite"])
def test_views_that_cannot_be_are_refused_by_name(http: TestClient, name: str, views: Any) -> None:
    answer = http.post("/v1/sessions", json={"model": {"name": name, "views": views}})
    assert answer.status_code == 422, answer.text
    assert "views" in answer.json()["detail"] or "does not describe" in answer.json()["detail"]
