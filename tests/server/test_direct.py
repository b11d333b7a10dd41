"""Calls that are answered directly are answered as they would be the general way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from seeker.engine import Catalogs
from seeker.server.app import create_app
from seeker.server.auth import Role, make_key
from seeker.server.responses import BeliefResponse, ItemResponse, SessionResponse
from seeker.server.settings import Settings
from session.recording import catalog
from support.catalogs import build_folder, random_catalog

DIRECT, GENERAL = "application/json", "application/json; charset=utf-8"
KEY = {"Idempotency-Key": "a-key-of-some-length"}

CALLS: list[tuple[str, str, Any, dict[str, str]]] = [
    ("POST", "/clicks", {"item": "item 3", "verdict": "like", "step": 0}, {}),
    ("POST", "/clicks", {"item": "item 4", "verdict": "dislike", "shown": ["item 5"]}, KEY),
    ("POST", "/clicks", {"item": "item 4", "verdict": "dislike", "shown": ["item 5"]}, KEY),
    ("POST", "/clicks", {"item": "item 6", "verdict": "like"}, KEY),
    ("POST", "/clicks", {"item": "item 6", "verdict": "like"}, {"Idempotency-Key": "short"}),
    ("POST", "/clicks", {"item": "item 6", "verdict": "like", "step": 1}, {}),
    ("POST", "/clicks", {"item": "nothing", "verdict": "like"}, {}),
    ("POST", "/clicks", {"item": "item 6", "verdict": "love"}, {}),
    ("POST", "/clicks", {"item": "item 6"}, {}),
    ("POST", "/clicks", {"item": "item 6", "verdict": "like", "more": 1}, {}),
    ("POST", "/clicks", [], {}),
    ("POST", "/clicks", {"item": "item 7", "verdict": "like", "shown": ["item 8"] * 20}, {}),
    ("POST", "/clicks?unknown=1", {"item": "item 7", "verdict": "like"}, {}),
    ("POST", "/explore", {"level": 2.0}, {}),
    ("POST", "/filter", {"filter": {"price": {"lt": 10}}}, {}),
    ("POST", "/undo", {}, {}),
    ("POST", "/redo", {"count": 1}, {}),
    ("POST", "/nothing", {}, {}),
    ("GET", "", None, {}),
    ("GET", "?unknown=1", None, {}),
    ("HEAD", "", None, {}),
    ("PUT", "/clicks", {}, {}),
]


def answers(kind: str) -> Iterator[Any]:
    """Yield what a script of calls is answered with: status, headers and body."""
    settings = Settings(store="memory:", rate=0, shown_limit=12, log_texts=True)
    app = create_app(settings, Catalogs({"shop": random_catalog()}))
    with TestClient(app, raise_server_exceptions=False, base_url="http://localhost") as http:
        headers = {"Content-Type": kind}
        started = http.post("/v1/sessions", content='{"seed": 5}', headers={**headers, **KEY})
        id = started.json()["id"]
        for body in ("{", '{"seed": -1}', '{"seed": 1, "seed": 2}', '{"query": "\\ud800"}'):
            yield answered(http.post("/v1/sessions", content=body, headers=headers), id)
        long = {**headers, "Authorization": "Bearer " + "x" * 600}
        yield answered(http.post("/v1/sessions", content="{}", headers=long), id)
        yield answered(started, id)
        for method, path, body, more in CALLS:
            content = None if body is None else json.dumps(body)
            address = f"/v1/sessions/{id}{path}"
            answer = http.request(method, address, content=content, headers={**headers, **more})
            yield answered(answer, id)
        yield answered(http.get("/v1/sessions/short"), id)
        yield answered(http.get(f"/v1/sessions/{'a' * 22}"), id)


def answered(answer: Any, id: str) -> tuple[int, dict[str, str], str]:
    headers = {name: value for name, value in answer.headers.items() if name != "x-request-id"}
    return answer.status_code, headers, answer.text.replace(id, "ID")


def test_directly_and_in_general_the_answers_are_the_same() -> None:
    directly, generally = list(answers(DIRECT)), list(answers(GENERAL))
    assert directly == generally
    assert {status for status, *_ in directly} >= {200, 201, 400, 404, 405, 409, 422}


ITEM_CALLS: list[tuple[str, str, str]] = [
    ("PATCH", "item-1", '{"attributes": {"price": 3.5}}'),
    ("PATCH", "item-1", '{"attributes": {"price": 3.5}}'),
    ("PATCH", "item-1", '{"attributes": {"price": "dear"}}'),
    ("PATCH", "nothing", '{"title": "new"}'),
    ("PATCH", "item-1", '{"title": 3}'),
    ("PATCH", "item-1", "{"),
    ("PATCH", "item-1", '{"title": "a", "title": "b"}'),
    ("PATCH", "folder/item%200", '{"title": "in a folder"}'),
    ("PATCH", "", '{"title": "none"}'),
    ("PATCH", "x" * 1001, '{"title": "long"}'),
    ("PUT", "item-2", '{"title": "just this"}'),
    ("PUT", "new", json.dumps({"title": "new", "vectors": {"vector": [0.5] * 12}})),
    ("PUT", "bare", "{}"),
    ("PUT", "item-3", "[]"),
    ("POST", "item-3", "{}"),
]


def item_answers(kind: str, place: Path) -> Iterator[Any]:
    """Yield what a script of changes is answered with: status, headers and body."""
    folder, keys = build_folder(place / "shop", 12), str(place / "keys")
    roles: tuple[Role, ...] = ("admin", "start")
    admin, client = (make_key(role, role, keys) for role in roles)
    settings = Settings(catalogs=(str(folder),), keys=keys, store="memory:", rate=0)
    app = create_app(settings)
    with TestClient(app, raise_server_exceptions=False, base_url="http://localhost") as http:
        for key in (None, client, "wrong", "x" * 600):
            headers = {"Content-Type": kind, "Authorization": f"Bearer {key}"}
            answer = http.patch("/v1/items/shop/item-1", content="{}", headers=headers)
            yield answered(answer, admin)
        headers = {"Content-Type": kind, "Authorization": f"Bearer {admin}"}
        for method, item, content in ITEM_CALLS:
            address = f"/v1/items/shop/{item}"
            yield answered(http.request(method, address, content=content, headers=headers), admin)
        for address in ("/v1/items/other/item-1", "/v1/items/shop", f"/v1/items/{'s' * 65}/1"):
            yield answered(http.patch(address, content="{}", headers=headers), admin)


def test_changes_of_items_are_answered_alike_either_way(tmp_path: Path) -> None:
    directly = list(item_answers(DIRECT, tmp_path / "directly"))
    assert directly == list(item_answers(GENERAL, tmp_path / "generally"))
    assert {status for status, *_ in directly} >= {200, 201, 400, 401, 403, 404, 405, 422}


def test_a_call_is_counted_under_its_pattern_either_way() -> None:
    settings = Settings(store="memory:", rate=0, open_metrics=True)
    app = create_app(settings, Catalogs({"shop": random_catalog()}))
    with TestClient(app, base_url="http://localhost") as http:
        id = http.post("/v1/sessions", json={}).json()["id"]
        for kind in (DIRECT, GENERAL):
            click = json.dumps({"item": "item 1", "verdict": "like"})
            headers = {"Content-Type": kind}
            http.post(f"/v1/sessions/{id}/clicks", content=click, headers=headers)
        figures = http.get("/metrics").text
    call = 'seeker_answers_total{call="/v1/sessions/{id}/clicks",method="POST",status="200"} 2.0'
    assert call in figures


def test_answers_have_the_shape_that_is_promised() -> None:
    """They are made of plain values, so nothing but this test compares them with their model."""
    app = create_app(Settings(store="memory:", rate=0), Catalogs({"shop": catalog()}))
    acts: list[tuple[str, Any]] = [
        ("clicks", {"item": "item 3", "verdict": "like"}),
        ("clicks", {"item": "item 4", "verdict": "dislike"}),
        ("say", {"text": "blue"}),
        ("filter", {"filter": {"price": {"lt": 100}}}),
        ("focus", {"views": {"looks": 2.0}}),
        ("explore", {"level": 2.0}),
        ("found", {"item": "item 3"}),
    ]
    with TestClient(app, base_url="http://localhost") as http:
        id = http.post("/v1/sessions", json={"seed": 5, "query": "red"}).json()["id"]
        for path, body in acts:
            answer = http.post(f"/v1/sessions/{id}/{path}", json=body).json()
            model = SessionResponse.model_validate(answer)
            assert model.model_dump(mode="json", exclude_unset=True) == answer
            assert {*answer} == {*SessionResponse.model_fields}
            assert {*answer["belief"]} == {*BeliefResponse.model_fields}
            fields = ItemResponse.model_fields.items()
            required = {name for name, field in fields if field.is_required()}
            assert {*answer["page"]["items"][0]} >= required
    assert [one["type"] for one in answer["history"]][:4] == ["click", "click", "say", "filter"]
