"""Participants, and others, who want from a study what it does not give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from seeker.engine import Catalogs
from seeker.server.auth import make_key
from seeker.server.settings import Settings
from seeker.stores import open_store
from seeker.study.app import study_app
from seeker.study.design import Design, content_of
from seeker.study.export import study_rows
from seeker.study.tables import ParticipantTable, digest, tables_of
from support.catalogs import build_folder

CONSENT = "You agree."


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def http(place: Path) -> Iterator[TestClient]:
    folder, store = build_folder(place / "shop", 60), str(place / "s.sqlite")
    catalogs = Catalogs.open([str(folder)])
    name, catalog = catalogs.get()
    design = Design(
        name, content_of(catalog), len(catalog), ("choice",), ("greedy",), page_size=6, steps=5
    )
    opened = open_store(store)
    ParticipantTable(tables_of(opened)).begin(design, CONSENT, 0.0)
    opened.close()
    settings = Settings(store=store, rate=0, keys=str(place / "keys"))
    make_key("boss", "admin", settings.keys)
    with TestClient(
        study_app(settings, catalogs), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client


def _joined(http: TestClient) -> str:
    answer = http.post("/v1/study/participants", json={"consent": digest(CONSENT)})
    return f"/v1/study/participants/{answer.json()['key']}"


def _trial(http: TestClient, person: str) -> dict[str, Any]:
    return dict(http.post(f"{person}/trials").json()["current"])


@pytest.mark.parametrize("key", ["x", "%00", "a" * 22 + "%0a", "é" * 22, "=1+1"])
@pytest.mark.parametrize(
    ("method", "rest"),
    [("GET", ""), ("DELETE", ""), ("POST", "/trials"), ("POST", "/trials/0/stop")],
)
def test_what_cannot_be_a_key_is_nobody(http: TestClient, key: str, method: str, rest: str) -> None:
    answer = http.request(method, f"/v1/study/participants/{key}{rest}")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "Nobody takes part with this key."


def test_nobody_can_put_words_of_their_own_into_what_is_recorded(
    http: TestClient, place: Path
) -> None:
    """So no row of an export can be a formula, a script or a name."""
    for extra in ({"name": "=HYPERLINK()"}, {"label": "<script>"}):
        body = {"consent": digest(CONSENT), **extra}
        assert http.post("/v1/study/participants", json=body).status_code == 422
    person = _joined(http)
    trial = _trial(http, person)
    session = f"/v1/sessions/{trial['session']}"
    page = [item["id"] for item in http.get(session).json()["page"]["items"]]
    other = next(id for id in page if id != trial["target"]["id"])
    for body in (
        {"item": "=1+1", "verdict": "like"},
        {"item": other, "verdict": "like", "shown": ["=1+1"]},
        {"item": other, "verdict": "=1+1"},
    ):
        assert http.post(f"{session}/clicks", json=body).status_code == 422
    done = http.post(f"{session}/clicks", json={"item": other, "verdict": "dislike"})
    assert done.status_code == 200
    opened = open_store(str(place / "s.sqlite"))
    try:
        exported = list(study_rows(tables_of(opened)))
    finally:
        opened.close()
    assert exported
    for row in exported:
        assert re.fullmatch(r"[a-z0-9]{10}", row["participant"])
        assert "=1+1" not in str(row)


def test_one_cannot_do_in_the_search_of_another_what_one_could_not_in_ones_own(
    http: TestClient,
) -> None:
    one, other = _joined(http), _joined(http)
    mine, theirs = _trial(http, one), _trial(http, other)
    assert mine["session"] != theirs["session"]
    assert http.post(f"{other}/trials/1/stop").status_code == 409
    assert http.delete(one).status_code == 204
    assert http.get(f"/v1/sessions/{mine['session']}").status_code == 404
    assert http.get(f"/v1/sessions/{theirs['session']}").status_code == 200


def test_what_is_searched_cannot_be_changed_not_even_by_the_organiser(
    http: TestClient, place: Path
) -> None:
    admin = make_key("another", "admin", str(place / "other-keys"))
    for headers in ({}, {"Authorization": f"Bearer {admin}"}):
        answer = http.delete("/v1/items/shop/item-1", headers=headers)
        assert answer.status_code == 405
    assert http.get("/v1/items/shop/item-1").status_code == 200


def test_a_look_at_the_head_of_the_page_sees_the_page_of_the_study(http: TestClient) -> None:
    head, page = http.head("/"), http.get("/")
    assert head.status_code == page.status_code == 200
    assert head.headers["etag"] == page.headers["etag"]
    again = http.get("/", headers={"If-None-Match": page.headers["etag"]})
    assert again.status_code == 304
