"""The whole flow against running servers, with both durable stores, call by call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from seeker.stores import pseudonym
from support.servers import PHRASES, seeker_output, serving, start, tcp_segments, until

KEY = "a-key-that-names-this-request"


@pytest.fixture(scope="module")
def http(
    folder: Path, store: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """Two workers, so that no session can rely on what one of them remembers."""
    flags = ("--store", store, "--workers", "2", "--rate", "0", "--open-metrics")
    with serving(folder, tmp_path_factory.mktemp("server") / "log", *flags) as client:
        yield client


def test_a_search(http: httpx.Client) -> None:
    first = start(http, page_size=6, seed=3)
    assert set(first) == {
        *("id", "catalog", "step", "likes", "dislikes", "examples", "page", "belief", "focus"),
        *("query", "filter", "said", "words", "exploration", "found", "undone", "history"),
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


def test_several_workers_send_an_answer_in_one_piece(http: httpx.Client) -> None:
    assert tcp_segments(http, "/v1/catalogs") == 1


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
    until(lambda: http.get("/healthz").json() == {"live": True, "ready": True})
    mine = start(http, user="ann", query="red", seed=5)
    for call, body in (
        ("clicks", {"item": "item-1", "verdict": "like", "shown": ["item-1", "item-2"]}),
        ("text", {"text": "blue"}),
        ("unsay", {"text": "blue"}),
        ("filter", {"filter": {"price": {"lt": 9}}}),
        ("filter", {"filter": None}),
        ("explore", {"level": 2}),
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
    told = seeker_output("sessions", "show", mine["id"], "--store", store)
    assert "looking for 'red'" in told
    assert [line[16:] for line in told.splitlines()[2:]] == [
        "like 'item-1' among 2 shown",
        "say 'blue'",
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
        seeker_output("sessions", "export", str(out), "--store", store, "--user", "ann")
    (line,) = [json.loads(one) for one in (tmp_path / "sessions.jsonl").read_text().splitlines()]
    assert (line["id"], line["user"]) == (pseudonym(mine["id"]), "ann")
    assert len(line["times"]) == len(line["events"]) == 10
    assert line["times"] == sorted(line["times"])
    assert (line["times"][0], line["times"][-1]) == (line["began"], line["active"])
    from pyarrow import parquet

    row, *others = parquet.read_table(tmp_path / "sessions.parquet").to_pylist()
    assert [other["sequence"] for other in others] == list(range(2, 11))
    assert (row["session"], row["type"], row["sequence"]) == (line["id"], "start", 1)
    assert [one["at"] for one in (row, *others)] == line["times"]
    for name in (line["id"], line["id"][:10]):
        assert seeker_output("sessions", "show", name, "--store", store) == told
    assert "Deleted 1" in seeker_output("sessions", "delete", "--user", "ann", "--store", store)
    assert http.get(f"/v1/sessions/{mine['id']}").status_code == 404


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
    assert problem["title"] == PHRASES[status]
    assert "hint" in problem
    assert "code" in problem


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
