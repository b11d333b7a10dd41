"""The whole flow against running servers, with both durable stores, call by call."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from test_server_parts import Server, folder_of, logged, postgres, serving, until

KEY = "a-key-that-names-this-request"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("server") / "shop")


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    place = tmp_path_factory.mktemp("store")
    if request.param == "sqlite":
        yield str(place / "s.sqlite")
    else:
        with postgres(place) as address:
            yield address


@pytest.fixture(scope="module")
def http(folder: Path, store: str) -> Iterator[httpx.Client]:
    """Two workers, so that no session can rely on what one of them remembers."""
    flags = ("--store", store, "--workers", "2", "--rate", "0", "--open-metrics")
    with serving(folder, folder.parent / "log", *flags) as client:
        yield client


def start(http: httpx.Client, **given: Any) -> dict[str, Any]:
    answer = http.post("/v1/sessions", json=given)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_a_search(http: httpx.Client) -> None:
    first = start(http, page_size=6, seed=3)
    assert set(first) == {
        *("id", "catalog", "step", "likes", "dislikes", "page", "belief"),
        *("query", "filter", "said", "exploration", "found", "undone", "history"),
    }
    assert set(first["page"]) == {"items", "offset", "limit", "total"}
    assert set(first["belief"]) == {"entropy", "candidates", "on_page", "views", "noise"}
    assert first["page"]["total"] == 120
    session = f"/v1/sessions/{first['id']}"
    ids = [item["id"] for item in first["page"]["items"]]
    click = {"item": ids[0], "verdict": "like", "step": 0, "shown": ids}
    second = http.post(f"{session}/clicks", json=click, headers={"Idempotency-Key": KEY})
    assert second.status_code == 200
    assert second.json()["likes"] == [ids[0]]
    stale = http.post(f"{session}/clicks", json={**click, "item": ids[1]})
    assert stale.status_code == 409
    assert stale.headers["content-type"] == "application/problem+json"
    assert stale.json()["session"] == second.json()
    third = http.post(f"{session}/text", json={"text": "a blue thing"}).json()
    assert third["step"] == 2
    again = http.post(f"{session}/clicks", json=click, headers={"Idempotency-Key": KEY})
    assert again.json() == second.json()
    other = {**click, "item": ids[1]}
    wrong = http.post(f"{session}/clicks", json=other, headers={"Idempotency-Key": KEY})
    assert wrong.status_code == 422
    assert http.get(session).json() == third
    back = http.post(f"{session}/undo").json()
    assert back == {**second.json(), "undone": 1}
    nothing = http.post(f"{session}/clicks", json={"item": ids[3], "verdict": "clear"})
    assert nothing.status_code == 409
    assert nothing.json()["session"] == back
    page = http.get(f"{session}/items", params={"offset": 6, "limit": 4}).json()
    assert (len(page["items"]), page["offset"], page["limit"]) == (4, 6, 4)
    why = http.get(f"{session}/explain/{'folder%2Fitem%2010'}").json()
    assert why["item"] == "folder/item 10"
    assert [one["item"] for one in why["clicks"]] == [ids[0]]
    kept = http.get(f"{session}/events").json()
    assert [event["type"] for event in kept["events"]] == ["start", "click", "say", "undo"]
    assert http.delete(session).status_code == 204
    assert http.get(session).status_code == 404
    assert http.delete(session).status_code == 404


def test_starting_twice_with_one_key_starts_once(http: httpx.Client) -> None:
    headers = {"Idempotency-Key": "start-this-search-once"}
    answers = [http.post("/v1/sessions", json={"seed": 1}, headers=headers) for _ in range(4)]
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert http.post("/v1/sessions", json={"seed": 2}, headers=headers).status_code == 422


def test_catalogs_items_and_pictures(http: httpx.Client) -> None:
    (line,) = http.get("/v1/catalogs").json()["catalogs"]
    assert (line["name"], line["items"], line["views"]) == ("shop", 120, ["vector"])
    facets = {one["name"]: one for one in http.get("/v1/catalogs/shop").json()["facets"]}
    assert (facets["price"]["low"], facets["price"]["high"]) == (0, 16)
    item = http.get("/v1/items/shop/folder/item 10").json()
    picture = http.get(item["media"])
    assert picture.status_code == 200
    assert picture.headers["content-type"] == "image/webp"
    assert "immutable" in picture.headers["cache-control"]
    assert "sandbox" in picture.headers["content-security-policy"]
    assert picture.headers["x-content-type-options"] == "nosniff"
    tag = {"If-None-Match": picture.headers["etag"]}
    assert http.get(item["media"], headers=tag).status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "../catalog.json",
        "..%2Fcatalog.json",
        "%2e%2e/items.sqlite",
        "..%2F..%2F..%2F..%2Fetc%2Fpasswd",
        "%2Fetc%2Fpasswd",
        "a%00.webp",
        "..%5Ccatalog.json",
        "x" * 999,
        "",
    ],
)
def test_no_path_leads_out_of_the_media_folder(http: httpx.Client, path: str) -> None:
    answer = http.get(
        httpx.URL(str(http.base_url)).copy_with(raw_path=f"/media/shop/{path}".encode())
    )
    assert answer.status_code in (404, 422)
    assert answer.headers["content-type"] == "application/problem+json"


def test_operations(http: httpx.Client, store: str, folder: Path, tmp_path: Path) -> None:
    assert http.get("/healthz").json() == {"live": True, "ready": True}
    mine = start(http, user="ann", query="red", seed=5)
    for call, body in (
        ("clicks", {"item": "item-1", "verdict": "like", "shown": ["item-1", "item-2"]}),
        ("text", {"text": "blue"}),
        ("text", {"text": "blue", "clear": True}),
        ("filter", {"filter": {"price": {"lt": 9}}}),
        ("filter", {"filter": None}),
        ("exploration", {"level": 2}),
        ("found", {"item": "item-4"}),
        ("undo", {"count": 2}),
        ("redo", {}),
    ):
        assert http.post(f"/v1/sessions/{mine['id']}/{call}", json=body).status_code == 200
    text = http.get("/metrics").text
    for name in (
        'seeker_request_seconds_bucket{call="/v1/sessions"',
        "seeker_belief_cache_hits",
        "seeker_queue_length",
        "seeker_sessions ",
    ):
        assert name in text
    assert http.get("/v1/export").status_code == 401
    docs = http.get("/docs")
    assert "/v1/sessions/{id}/clicks" in docs.text
    assert "<script" not in docs.text
    assert "http://" not in docs.text
    told = _seeker("sessions", "show", mine["id"], "--store", store)
    assert "looking for 'red'" in told
    assert [line[6:] for line in told.splitlines()[2:]] == [
        "like 'item-1' among 2 shown",
        "say 'blue', as keywords",
        "no longer say 'blue'",
        'only where {"price": {"lt": 9}}',
        "no filter",
        "explore 2 times as much as usual",
        "found 'item-4'",
        "undo 2 things",
        "redo",
    ]
    for kind in ("jsonl", "parquet"):
        out = tmp_path / f"sessions.{kind}"
        _seeker("sessions", "export", str(out), "--store", store, "--user", "ann")
    (line,) = [json.loads(one) for one in (tmp_path / "sessions.jsonl").read_text().splitlines()]
    assert (line["id"], line["user"]) == (mine["id"], "ann")
    from pyarrow import parquet

    row, *others = parquet.read_table(tmp_path / "sessions.parquet").to_pylist()
    assert [other["sequence"] for other in others] == list(range(2, 11))
    assert (row["session"], row["type"], row["sequence"]) == (mine["id"], "start", 1)
    assert "Deleted 1" in _seeker("sessions", "delete", "--user", "ann", "--store", store)
    assert http.get(f"/v1/sessions/{mine['id']}").status_code == 404


def _seeker(*arguments: str) -> str:
    command = [sys.executable, "-m", "seeker", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_security_headers_and_no_other_origin(http: httpx.Client) -> None:
    answer = http.get("/v1/catalogs", headers={"Origin": "https://elsewhere.example"})
    assert "access-control-allow-origin" not in answer.headers
    assert "unsafe-inline" not in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    given = http.get("/healthz", headers={"X-Request-Id": "my-request-1"})
    assert given.headers["x-request-id"] == "my-request-1"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"[1, 2]", 422),
        (b'"text"', 422),
        (b'{"page_size": NaN}', 400),
        (b'{"page_size": 1e999}', 400),
        (b'{"seed": 1' + b"0" * 5000 + b"}", 400),
        (b'{"page_size": 1000000000000000000000}', 422),
        (b'{"page_size": "12"}', 422),
        (b'{"page_size": 0}', 422),
        (b'{"page_size": 9999}', 422),
        (b'{"seed": -1}', 422),
        (b'{"query": "\\u0000"}', 422),
        (b'{"query": "\\ud800"}', 400),
        (b'{"query": "\xff"}', 400),
        (b'{"query": "' + b"x" * 2000 + b'"}', 422),
        (b'{"query": "' + b"x" * 70000 + b'"}', 413),
        (b'{"filter": ' + b'{"a":' * 40 + b"1" + b"}" * 40 + b"}", 400),
        (b"[" * 60000, 400),
        (b'{"filter": {"nothing": 1}}', 404),
        (b'{"filter": {"price": "cheap"}}', 422),
        (b'{"filter": {"price": {"lt": -1}}}', 422),
        (b'{"model": "none"}', 422),
        (b'{"model": {"name": "choice", "sigmas": "many"}}', 422),
        (b'{"model": {"name": "choice", "weights": ["a"]}}', 422),
        (b'{"model": {"name": "choice", "slip": 1e300}}', 422),
        (b'{"model": {"name": ["choice"]}}', 422),
        (b'{"strategy": {"name": "diverse", "base": {"name": "none"}}}', 422),
        (b'{"strategy": {"name": "boltzmann", "c": "hot"}}', 422),
        (b'{"user": [1, 2, 3]}', 422),
        (b'{"user": {"nothing": [1]}}', 404),
        (b'{"user": 7}', 422),
        (b'{"personalise": true}', 422),
        (b'{"catalog": "other"}', 404),
        (b'{"unknown": 1}', 422),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    http: httpx.Client, body: bytes, status: int
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = http.post("/v1/sessions", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["detail"]
    assert problem["title"]
    assert "hint" in problem


def test_clicks_that_make_no_sense(http: httpx.Client) -> None:
    session = f"/v1/sessions/{start(http)['id']}"
    for body, status in (
        ({"item": "nobody", "verdict": "like"}, 404),
        ({"item": "item-1", "verdict": "love"}, 422),
        ({"item": 5, "verdict": "like"}, 422),
        ({"item": "item-1", "verdict": "like", "shown": ["nobody"]}, 404),
        ({"item": "item-1", "verdict": "like", "shown": ["item-1"] * 600}, 422),
        ({"item": "item-1", "verdict": "like", "step": -1}, 422),
        ({"item": "item-1", "verdict": "like", "step": 2**70}, 422),
    ):
        assert http.post(f"{session}/clicks", json=body).status_code == status, body
    short = http.post(f"{session}/undo", headers={"Idempotency-Key": "short"})
    assert short.status_code == 422
    assert http.get(f"{session}/items", params={"limit": 5000}).status_code == 422
    assert http.get(session).json()["step"] == 0


def test_keys_limits_and_logs(folder: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    starter = _seeker("keys", "site", "--file", str(keys)).strip()
    admin = _seeker("keys", "boss", "--role", "admin", "--file", str(keys)).strip()
    assert starter not in keys.read_text()
    assert os.stat(keys).st_mode & 0o077 == 0
    log = tmp_path / "log"
    config = tmp_path / "seeker.toml"
    config.write_text('sessions-per-key = 3\ncors = ["https://shop.example"]\nrate = 5\n')
    flags = ("--config", str(config), "--store", "memory:", "--keys", str(keys), "--burst", "40")
    with serving(f"first={folder}", log, *flags) as http:

        def as_(key: str) -> dict[str, str]:
            return {"Authorization": f"Bearer {key}"}

        assert http.post("/v1/sessions", json={}).status_code == 401
        assert http.post("/v1/sessions", json={}, headers=as_("wrong")).status_code == 401
        asked = {"query": "a very secret wish", "catalog": "first"}
        mine = http.post("/v1/sessions", json=asked, headers=as_(starter))
        assert mine.status_code == 201
        for _ in range(2):
            http.post("/v1/sessions", json={}, headers=as_(starter))
        assert http.post("/v1/sessions", json={}, headers=as_(starter)).status_code == 429
        assert http.get("/metrics").status_code == 401
        assert http.get("/metrics", headers=as_(starter)).status_code == 403
        assert http.get("/metrics", headers=as_(admin)).status_code == 200
        exported = http.get("/v1/export", headers=as_(admin))
        assert len(exported.text.splitlines()) == 3
        origin = {"Origin": "https://shop.example"}
        opened = http.get("/v1/catalogs", headers=origin)
        assert opened.headers["access-control-allow-origin"] == "https://shop.example"
        id = mine.json()["id"]
        assert http.get(f"/v1/sessions/{id}").status_code == 200
        statuses = {http.get("/v1/catalogs").status_code for _ in range(60)}
        assert statuses == {200, 429}
    text = log.read_text()
    for secret in (id, starter, admin, "secret wish"):
        assert secret not in text
    calls = {line.get("call") for line in logged(log)}
    assert {"/v1/sessions", "/v1/sessions/{id}", "/metrics"} <= calls
    assert all("request" in line for line in logged(log) if line["message"] == "answered")


def test_a_stop_lets_requests_finish(folder: Path, tmp_path: Path) -> None:
    server = Server(folder, "--store", str(tmp_path / "s.sqlite")).start(tmp_path / "log").ready()
    assert server.process is not None
    address = httpx.URL(server.url)
    body = b'{"page_size": 3}'
    head = f"POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    with socket.create_connection((address.host, address.port), timeout=30) as half_way:
        half_way.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + body[:5])
        # Once another request has been answered, the beginning of this one has been read.
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        server.process.send_signal(signal.SIGTERM)
        until(lambda: _refuses(address))
        half_way.sendall(body[5:])
        assert half_way.recv(100).startswith(b"HTTP/1.1 201")
    assert server.stop() in (0, -signal.SIGTERM)
    assert "Traceback" not in (tmp_path / "log").read_text()
    assert not list(tmp_path.glob("*-wal")), "the log is folded into the file at the end"


def _refuses(address: httpx.URL) -> bool:
    try:
        socket.create_connection((address.host, address.port), timeout=5).close()
    except OSError:
        return True
    return False


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("nowhere",), "no catalog"),
        ((), "no catalog"),
        (("{folder}", "--port", "many"), "port"),
        (("{folder}", "--belief-cache", "much"), "size"),
        (("{folder}", "--store", "postgresql://127.0.0.1:1/x"), "PostgreSQL"),
        (("{folder}", "--config", "nowhere.toml"), "settings file"),
        (("{folder}", "--keys", "nowhere"), "keys"),
        (("{folder}", "--workers", "2", "--store", "memory:"), "memory"),
        (("{folder}", "--host", "203.0.113.1"), "listen"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_sentence(
    flags: tuple[str, ...], said: str, folder: Path, tmp_path: Path
) -> None:
    given = [flag.format(folder=folder) for flag in flags]
    command = [sys.executable, "-m", "seeker", "serve", *given]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert run.returncode != 0
    assert said in run.stderr
    assert "Traceback" not in run.stderr
