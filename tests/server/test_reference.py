"""The page on the HTTP interface is complete, its commands run, and its errors happen."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from seeker.engine import Catalogs
from seeker.server.app import create_app
from seeker.server.auth import make_key
from seeker.server.errors import ALWAYS
from seeker.server.settings import Settings
from support.catalogs import build_folder, random_catalog
from support.documents import ROOT, Reader, blocks
from support.servers import PHRASES, serving

PAGE = ROOT / "docs" / "reference" / "http.md"
_CALL = re.compile(r"^\| `(GET|POST|PUT|PATCH|DELETE) ([^`]+)` \|(.*)\|(.*)\|$", re.MULTILINE)
_STATUS = re.compile(r"^\| (\d{3}) \| (.+) \|$", re.MULTILINE)
ELSEWHERE = {
    408: "is in test_hostile_server, where requests must arrive sooner",
    500: "is in test_hostile_files, where a metric of one's own fails",
    503: "is in test_server_stuck, where the store is held up",
}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    app = create_app(Settings(store="memory:"), Catalogs({"shop": random_catalog(30)}))
    return dict(app.openapi())


def _calls(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method.upper(), path): call
        for path, calls in document["paths"].items()
        for method, call in calls.items()
    }


def test_the_page_lists_every_call_and_no_other(document: dict[str, Any]) -> None:
    listed = [(method, path) for method, path, _, _ in _CALL.findall(PAGE.read_text())]
    assert len(set(listed)) == len(listed)
    assert set(listed) == set(_calls(document))


def test_the_page_names_every_field_that_may_be_asked(document: dict[str, Any]) -> None:
    shapes = document["components"]["schemas"]
    rows = {(row[0], row[1]): row[2] for row in _CALL.findall(PAGE.read_text())}
    for call, about in _calls(document).items():
        named = set(re.findall(r"`([a-z_]+)`", rows[call]))
        asked = {one["name"] for one in about.get("parameters", []) if one["in"] == "query"}
        schema = about.get("requestBody", {}).get("content", {}).get("application/json", {})
        given = schema.get("schema", {})
        for one in (given, *given.get("anyOf", ())):
            if "$ref" in one:
                asked |= set(shapes[one["$ref"].rsplit("/", 1)[-1]]["properties"])
        assert asked <= named, call


def test_the_page_names_every_key_of_a_session(document: dict[str, Any]) -> None:
    section = PAGE.read_text().split("## A session")[1].split("## Errors")[0]
    named = set(re.findall(r"`([a-z_]+)`", section))
    shapes = document["components"]["schemas"]
    for shape in ("SessionResponse", "ItemResponse", "BeliefResponse"):
        assert set(shapes[shape]["properties"]) <= named
    kinds = shapes["HistoryEntry"]["properties"]["type"]["enum"]
    assert set(kinds) <= named


def test_the_page_names_every_error(document: dict[str, Any]) -> None:
    listed = {int(status) for status, _ in _STATUS.findall(PAGE.read_text())}
    documented = {
        int(status)
        for call in _calls(document).values()
        for status in call["responses"]
        if int(status) >= 400
    }
    assert listed == documented | {405}
    assert set(ALWAYS) <= documented


def test_what_the_page_does_with_curl(tmp_path: Path, document: dict[str, Any]) -> None:
    with Reader(tmp_path) as reader:
        for block in blocks(PAGE):
            reader.do(block, f"http.md, line {block.line}")
    log = "".join(file.read_text() for file in tmp_path.glob("server-*.log"))
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    answered = {
        (line["method"], re.sub(r":path\}", "}", line["call"]))
        for line in lines
        if line["message"] == "answered" and line["status"] < 400
    }
    assert set(_calls(document)) <= answered
    secrets = [(tmp_path / name).read_text().strip() for name in ("shop.key", "keeper.key")]
    first = json.loads((tmp_path / "first.json").read_text())
    for secret in (*secrets, first["id"], "blue", "ann"):
        assert secret not in log


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, str, str]]:
    """A server that asks for keys, and a key to start sessions and one for all."""
    place = tmp_path_factory.mktemp("keyed")
    folder, keys = build_folder(place / "shop", 30), str(place / "keys")
    shop, keeper = make_key("shop", "start", keys), make_key("keeper", "admin", keys)
    flags = ("--keys", keys, "--sessions-per-key", "3", "--store", "memory:", "--rate", "0")
    with serving(folder, place / "log", *flags) as http:
        yield http, shop, keeper


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


ERRORS: dict[int, Callable[[httpx.Client, str, str], httpx.Response]] = {
    400: lambda http, shop, _: http.post(
        "/v1/sessions", content="{", headers={**_bearer(shop), "Content-Type": "application/json"}
    ),
    401: lambda http, *_: http.post("/v1/sessions", json={}),
    403: lambda http, shop, _: http.get("/metrics", headers=_bearer(shop)),
    404: lambda http, *_: http.get("/v1/sessions/aaaaaaaaaaaaaaaaaaaaaa"),
    405: lambda http, *_: http.delete("/v1/catalogs"),
    409: lambda http, _, keeper: http.post(f"/v1/sessions/{_started(http, keeper)}/undo"),
    410: lambda http, _, keeper: [
        http.delete("/v1/items/shop/item-3", headers=_bearer(keeper)),
        http.get("/v1/items/shop/item-3"),
    ][-1],
    413: lambda http, *_: http.post("/v1/sessions", content=b"x" * 70_000),
    421: lambda http, *_: http.get("/v1/catalogs", headers={"Host": "evil.example"}),
    422: lambda http, shop, _: http.post(
        "/v1/sessions", json={"page_size": 0}, headers=_bearer(shop)
    ),
    429: lambda http, shop, _: [
        http.post("/v1/sessions", json={}, headers=_bearer(shop)) for _ in range(4)
    ][-1],
}


def _started(http: httpx.Client, key: str) -> str:
    return str(http.post("/v1/sessions", json={}, headers=_bearer(key)).json()["id"])


@pytest.mark.parametrize("status", sorted(ERRORS))
def test_errors_happen_as_the_page_says(status: int, keyed: tuple[httpx.Client, str, str]) -> None:
    answer = ERRORS[status](*keyed)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert problem["title"] == PHRASES[status]
    assert problem["detail"]
    assert "hint" in problem


def test_every_error_of_the_page_is_tried_somewhere() -> None:
    listed = {int(status) for status, _ in _STATUS.findall(PAGE.read_text())}
    assert listed == ERRORS.keys() | ELSEWHERE.keys()


def test_an_admin_key_takes_an_item_out_of_a_catalog(
    keyed: tuple[httpx.Client, str, str],
) -> None:
    http, shop, keeper = keyed
    address = "/v1/items/shop/folder%2Fitem%2010"
    for headers, status in (({}, 401), (_bearer("wrong"), 401), (_bearer(shop), 403)):
        assert http.delete(address, headers=headers).status_code == status
    before = http.get("/v1/catalogs/shop").json()
    assert http.get(address).status_code == 200
    assert http.delete(address, headers=_bearer(keeper)).status_code == 204
    assert http.get(address).status_code == 410
    after = http.get("/v1/catalogs/shop").json()
    assert (after["items"], after["version"]) == (before["items"] - 1, before["version"] + 1)
    assert http.delete(address, headers=_bearer(keeper)).status_code == 404


def test_items_are_taken_out_one_after_the_other(keyed: tuple[httpx.Client, str, str]) -> None:
    """Twelve at once go one after the other or together, and a session that liked one goes on."""
    http, _, keeper = keyed
    headers = _bearer(keeper)
    session = f"/v1/sessions/{_started(http, keeper)}"
    gone = [f"item-{n}" for n in range(11, 24) if n % 10]
    click = {"item": gone[0], "verdict": "like", "shown": gone[:3]}
    assert http.post(f"{session}/clicks", json=click).status_code == 200
    before = http.get("/v1/catalogs/shop").json()

    def remove(item: str) -> int:
        return http.delete(f"/v1/items/shop/{item}", headers=headers).status_code

    with ThreadPoolExecutor(len(gone)) as threads:
        assert list(threads.map(remove, gone)) == [204] * 12
    after = http.get("/v1/catalogs/shop").json()
    assert after["items"] == before["items"] - 12
    assert before["version"] < after["version"] <= before["version"] + 12
    shown = http.get(session).json()
    assert shown["likes"] == [gone[0]]
    assert not {item["id"] for item in shown["page"]["items"]} & {*gone}
    other = {"item": shown["page"]["items"][0]["id"], "verdict": "dislike"}
    assert http.post(f"{session}/clicks", json=other).status_code == 200
