"""Requests with bad intentions: each is refused in words, and nothing happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from starlette.testclient import TestClient
from starlette.types import Message

from seeker import Catalog
from seeker.engine import Catalogs
from seeker.server.app import create_app
from seeker.server.settings import Settings
from support.catalogs import random_catalog

HUGE = "1" + "0" * 400


@pytest.fixture(scope="module")
def http() -> Iterator[TestClient]:
    settings = Settings(store="memory:", rate=0)
    app = create_app(settings, Catalogs({"shop": random_catalog(60, (8, 4))}))
    with TestClient(app, raise_server_exceptions=False, base_url="http://localhost") as client:
        yield client


def _posted(http: TestClient, path: str, body: str | bytes, kind: str = "application/json") -> Any:
    return http.post(path, content=body, headers={"Content-Type": kind})


def _started(http: TestClient, **given: Any) -> dict[str, Any]:
    answer = http.post("/v1/sessions", json=given)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


@pytest.mark.parametrize(
    "id", ["x", "%00", "a%0a", "a" * 21 + "%0A", "é" * 22, "a" * 5000, "a" * 22 + "'--"]
)
@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("GET", "/v1/sessions/{}"),
        ("DELETE", "/v1/sessions/{}"),
        ("GET", "/v1/sessions/{}/items"),
        ("GET", "/v1/sessions/{}/explain/x"),
        ("GET", "/v1/sessions/{}/events"),
        ("POST", "/v1/sessions/{}/undo"),
        ("POST", "/v1/sessions/{}/fork"),
        ("GET", "/v1/shared/{}"),
        ("POST", "/v1/shared/{}/fork"),
    ],
)
def test_what_cannot_be_an_id_is_no_session(
    http: TestClient, method: str, address: str, id: str
) -> None:
    answer = http.request(method, address.format(id))
    assert answer.status_code == 404
    assert "session" in answer.json()["detail"]
    assert "[A-Z" not in answer.text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (f'{{"filter": {{"price": {HUGE}}}}}', 422),
        (f'{{"filter": {{"price": [-{HUGE}]}}}}', 422),
        (f'{{"filter": {{"price": {{"lt": {HUGE}}}}}}}', 201),
        (f'{{"filter": {{"price": {{"gt": {HUGE}}}}}}}', 422),
        (f'{{"model": {{"name": "pairwise", "alpha": {HUGE}}}}}', 422),
        (f'{{"user": {{"image": [{HUGE}]}}}}', 422),
        (json.dumps({"filter": {"kind": ["kind 1"] * 900}}), 201),
        (json.dumps({"filter": {"kind": ["kind 1"] * 1000}}), 422),
        ('{"strategy": {"name": "diverse", "pool": 1000000000}}', 422),
        ('{"strategy": {"name": "diverse", "pool": 1e308}, "page_size": 100}', 422),
        ('{"strategy": {"name": "diverse", "pool": 5}, "page_size": 200}', 201),
        ('{"strategy": {"name": "diverse", "pool": 6}, "page_size": 200}', 422),
    ],
)
def test_numbers_beyond_all_measure(http: TestClient, body: str, status: int) -> None:
    answer = _posted(http, "/v1/sessions", body)
    assert answer.status_code == status, answer.text


def test_a_filter_longer_than_anybody_chooses_is_refused(http: TestClient) -> None:
    session = f"/v1/sessions/{_started(http)['id']}"
    for count, status in ((900, 200), (1000, 422)):
        body = {"filter": {"kind": ["kind 1"] * count}}
        assert http.post(f"{session}/filter", json=body).status_code == status


@pytest.mark.parametrize(
    "model",
    [
        {"name": "bipartite", "alpha1": 1e308, "alpha2": 1e308},
        {"name": "pairwise", "alpha": 1e12},
        {"name": "choice", "beta": 1e300},
    ],
)
@pytest.mark.parametrize("verdict", ["like", "dislike"])
def test_models_beyond_all_measure_still_answer(
    http: TestClient, model: dict[str, Any], verdict: str
) -> None:
    first = _started(http, model=model, seed=1)
    click = {"item": first["page"]["items"][0]["id"], "verdict": verdict}
    answer = http.post(f"/v1/sessions/{first['id']}/clicks", json=click)
    assert answer.status_code == 200, answer.text
    assert answer.json()["belief"]["views"]


@pytest.mark.parametrize(
    ("body", "where", "said"),
    [
        ('{"model": []}', "body.model", "Input should be a valid string, or: Input should be"),
        ('{"user": 7}', "body.user", "Input should be a valid string, or: "),
        ('{"shelf": 1}', "body.shelf", "There is no such field"),
        ("[]", "body", "Input should be a JSON object"),
        ('{"query": "\\u0007"}', "body.query", "control characters cannot be read"),
    ],
)
def test_what_is_wrong_is_said_without_words_of_python(
    http: TestClient, body: str, where: str, said: str
) -> None:
    answer = _posted(http, "/v1/sessions", body)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{where}: {said}")
    for secret in ("function", "constrained", "dict[", "_readable", "Value error"):
        assert secret not in answer.text


@pytest.mark.parametrize(
    ("path", "body", "twice"),
    [
        ("/v1/sessions", '{"seed": 1, "page_size": 4, "seed": 2}', "seed"),
        ("/v1/sessions", '{"filter": {"kind": "kind 1", "kind": "kind 2"}}', "kind"),
        (
            "/v1/sessions/{}/clicks",
            '{"item": "a", "verdict": "like", "verdict": "like"}',
            "verdict",
        ),
    ],
)
def test_what_is_said_twice_is_refused(http: TestClient, path: str, body: str, twice: str) -> None:
    """Readers of JSON differ in which of the two counts."""
    answer = _posted(http, path.format(_started(http)["id"]), body)
    assert answer.status_code == 400
    assert answer.json()["detail"] == f"The body says '{twice}' twice."


def test_an_idempotency_key_of_odd_letters_is_refused_in_words(http: TestClient) -> None:
    headers = {"Idempotency-Key": "with spaces in between"}
    answer = http.post("/v1/sessions", json={}, headers=headers)
    assert answer.status_code == 422
    assert "letters that cannot be used" in answer.json()["detail"]


def test_one_api_key_for_all_visitors_does_not_open_one_s_search_to_another(tmp_path: Path) -> None:
    """A proxy that adds a key for everybody must not make everybody's idempotency keys one."""
    from seeker.server.auth import make_key

    keys = str(tmp_path / "keys")
    headers = {
        "Authorization": f"Bearer {make_key('shop', 'start', keys)}",
        "Idempotency-Key": "search-number-0001",
    }
    settings = Settings(store="memory:", rate=0, keys=keys)
    app = create_app(settings, Catalogs({"shop": random_catalog(30)}))
    with TestClient(app, base_url="http://localhost", client=("192.0.2.1", 1)) as ann:
        bob = TestClient(app, base_url="http://localhost", client=("192.0.2.2", 1))
        ids = [
            one.post("/v1/sessions", json={}, headers=headers).json()["id"]
            for one in (ann, bob, ann)
        ]
    assert ids[0] == ids[2]
    assert ids[0] != ids[1]


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_only_what_says_that_it_is_json_is_read(http: TestClient, kind: str) -> None:
    """Pages of other sites may send these kinds without asking; JSON they may not."""
    session = f"/v1/sessions/{_started(http)['id']}"
    answer = _posted(http, f"{session}/clicks", '{"item": "3", "verdict": "like"}', kind)
    assert answer.status_code == 422
    assert "application/json" in answer.json()["hint"]


def test_pages_of_other_origins_can_read_why_they_were_refused() -> None:
    settings = Settings(store="memory:", rate=0.001, burst=1, cors=("https://shop.example",))
    origin = {"Origin": "https://shop.example"}
    with TestClient(
        create_app(settings, Catalogs({"shop": random_catalog(30)})), base_url="http://localhost"
    ) as client:
        statuses = []
        for _ in range(2):
            answer = client.get("/v1/catalogs", headers=origin)
            assert answer.headers["access-control-allow-origin"] == "https://shop.example"
            statuses.append(answer.status_code)
        assert statuses == [200, 429]
        assert "Retry-After" in answer.headers["access-control-expose-headers"]
        assert client.get("/healthz-or-so", headers=origin).status_code == 429


ODD = [
    "a\nb",
    "a/b",
    "/a",
    "a//b",
    "100%",
    "a?b#c",
    "\n",
    " ",
    "é\u202e",
    "a" * 1000,
    "\x7f",
]


def test_items_of_any_id_can_be_reached() -> None:
    vectors = np.random.default_rng(0).normal(size=(len(ODD), 4))
    catalog = Catalog.from_arrays(ODD, {"v": vectors})
    with TestClient(
        create_app(Settings(store="memory:", rate=0), Catalogs({"s": catalog})),
        base_url="http://localhost",
    ) as http:
        session = f"/v1/sessions/{_started(http)['id']}"
        for item in ODD:
            place = quote(item, safe="")
            assert http.get(f"/v1/items/s/{place}").json()["id"] == item
            assert http.get(f"{session}/explain/{place}").json()["item"] == item
            click = {"item": item, "verdict": "like", "shown": ODD}
            assert item in http.post(f"{session}/clicks", json=click).json()["likes"]


def test_words_that_are_no_methods_do_not_fill_the_figures() -> None:
    settings = Settings(store="memory:", rate=0, open_metrics=True)
    with TestClient(
        create_app(settings, Catalogs({"shop": random_catalog(30)})), base_url="http://localhost"
    ) as client:
        for n in range(3):
            assert client.request(f"WORD{n}", "/v1/catalogs").status_code == 405
            assert client.request(f"WORD{n}", f"/nowhere/{n}").status_code in (404, 405)
        figures = client.get("/metrics").text
    assert 'call="/v1/catalogs",method="ANY",status="405"} 3.0' in figures
    assert "WORD" not in figures
    assert "nowhere" not in figures


class Wire:
    """A client that says bit by bit what it wants, below HTTP."""

    def __init__(self, path: str, *messages: Message, length: int) -> None:
        self.scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "scheme": "http",
            "server": ("here", 80),
            "client": ("somebody", 1),
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(length).encode()),
            ],
        }
        self._messages = list(messages)
        self.answers: list[Message] = []

    async def receive(self) -> Message:
        return self._messages.pop(0)

    async def send(self, message: Message) -> None:
        self.answers.append(message)


def test_a_request_that_breaks_off_does_nothing(http: TestClient) -> None:
    """An undo without a body would be a whole request, if nobody knew that one was to come."""
    first = _started(http)
    session = f"/v1/sessions/{first['id']}"
    item = first["page"]["items"][0]["id"]
    http.post(f"{session}/clicks", json={"item": item, "verdict": "like"})
    count = json.dumps({"count": 1}).encode()
    gone = {"type": "http.disconnect"}
    for said in (b"", b"{}", count):
        begun = {"type": "http.request", "body": said, "more_body": True}
        wire = Wire(f"{session}/undo", begun, gone, length=len(said) + 5)
        assert http.portal is not None
        http.portal.call(http.app, wire.scope, wire.receive, wire.send)
        assert wire.answers == []
    assert http.get(session).json()["likes"] == [item]


def test_an_answer_that_fails_half_way_breaks_off(tmp_path: Path) -> None:
    """Whoever reads an export must not take half of it for the whole."""
    import sqlite3

    from seeker.server.auth import make_key

    store, keys = tmp_path / "s.sqlite", str(tmp_path / "keys")
    admin = make_key("boss", "admin", keys)
    settings = Settings(store=str(store), rate=0, keys=keys)
    app = create_app(settings, Catalogs({"shop": random_catalog(30)}))
    with TestClient(app, raise_server_exceptions=False, base_url="http://localhost") as client:
        asks = {"Authorization": f"Bearer {admin}"}
        for _ in range(3):
            assert client.post("/v1/sessions", json={}, headers=asks).status_code == 201

        for name in ("user", "owner"):
            # PostgreSQL would take the first for a failure of its own.
            for odd in ("%00", "", "x" * 201):
                assert client.get(f"/v1/export?{name}={odd}", headers=asks).status_code == 422

        whole = {"type": "http.request", "body": b"", "more_body": False}
        wire = Wire("/v1/export", whole, length=0)
        wire.scope["method"] = "GET"
        wire.scope["headers"] = [(b"authorization", f"Bearer {admin}".encode())]

        async def receive() -> Message:
            if wire._messages:
                return await wire.receive()
            await asyncio.sleep(3600)
            raise AssertionError

        async def send(message: Message) -> None:
            await wire.send(message)
            if len(wire.answers) == 2:
                with sqlite3.connect(store) as connection:
                    connection.execute("DROP TABLE events")
                connection.close()

        assert client.portal is not None
        client.portal.call(app, wire.scope, receive, send)
    kinds = [message["type"] for message in wire.answers]
    assert kinds.count("http.response.start") == 1
    assert wire.answers[0]["status"] == 200
    assert all(message.get("more_body", True) for message in wire.answers), "it has no end"
