"""Files that change under a running service: no click is lost in silence, nothing leaks."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

import seeker
from seeker.engine import BusyError, Catalogs
from seeker.errors import SeekerError
from seeker.server.app import create_app
from seeker.server.auth import make_key
from seeker.server.service import RequestTurns
from seeker.server.settings import Settings
from seeker.stores import StoreError, open_store
from support.catalogs import build_folder
from support.servers import until


@contextmanager
def served(place: Path, **given: Any) -> Iterator[TestClient]:
    """Serve the catalog of a place in this process, with a store beside it."""
    settings = Settings(store=str(place / "s.sqlite"), rate=0, **given)
    # A clock that leaps: the folder is looked at whenever the catalog is asked for.
    seconds = iter(range(0, 10**9, 10))
    opened = Catalogs.open([str(place / "shop")])
    catalogs = Catalogs({"shop": opened.get()[1]}, clock=lambda: float(next(seconds)))
    with TestClient(
        create_app(settings, catalogs), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_folder(tmp_path_factory.mktemp("built") / "shop", 30)


@pytest.fixture
def place(built: Path, tmp_path: Path) -> Path:
    """A copy of the catalog that a test may damage."""
    shutil.copytree(built, tmp_path / "shop")
    return tmp_path


def _start(http: TestClient, **given: Any) -> Any:
    return http.post("/v1/sessions", json=given)


def test_a_mistake_of_the_service_is_logged_and_tells_nothing(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A metric of one's own fails once it is served: nobody foresaw that."""
    fails = False

    def metric(query: Any, vectors: Any) -> Any:
        if fails:
            raise KeyError("secret")
        return abs(vectors - query).sum(axis=1)

    vectors = [[float(n), float(n % 7)] for n in range(30)]
    catalog = seeker.Catalog.from_arrays(map(str, range(30)), {"x": vectors}, metric=metric)
    settings = Settings(store=str(place / "s.sqlite"), rate=0)
    app = create_app(settings, Catalogs({"shop": catalog}))
    with TestClient(app, raise_server_exceptions=False, base_url="http://localhost") as http:
        fails = True
        with caplog.at_level(logging.ERROR, "seeker"):
            answer = _start(http)
            assert http.get("/v1/catalogs").status_code == 200, "it goes on"
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    request = answer.headers["x-request-id"]
    assert answer.json()["hint"] == f"Report it with the request id {request}."
    for secret in ("Traceback", "KeyError", "secret", str(place), ".py"):
        assert secret not in answer.text
    (logged,) = (one for one in caplog.records if getattr(one, "fields", {}).get("request"))
    assert logged.fields == {"request": request}  # type: ignore[attr-defined]
    assert logged.exc_info is not None
    assert logged.exc_info[0] is KeyError


def test_an_item_table_that_lacks_a_row_is_told(place: Path) -> None:
    (table,) = (place / "shop").rglob("items*.sqlite")
    with closing(sqlite3.connect(table)) as connection, connection:
        connection.execute("DELETE FROM known WHERE row = 7")
    with served(place) as http:
        answer = http.get("/v1/items/shop/item-7")
    assert answer.status_code == 503
    assert "lacks row 7" in answer.json()["detail"]


@pytest.mark.parametrize("damage", ["garbage", "cut off"])
def test_an_item_table_that_cannot_be_read_is_no_fault_of_the_client(
    place: Path, damage: str
) -> None:
    with served(place) as http:
        (table,) = (place / "shop").rglob("items*.sqlite")
        table.write_bytes(b"garbage" * 1000 if damage == "garbage" else table.read_bytes()[:999])
        answer = _start(http, query="red")
    assert answer.status_code == 503
    assert answer.json()["title"] == "Service Unavailable"
    assert "item table of the catalog cannot be read" in answer.json()["detail"]
    assert answer.headers["retry-after"]
    assert str(place) not in answer.text


def test_a_new_version_that_cannot_be_opened_is_not_served(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with served(place) as http:
        session = _start(http).json()
        (place / "shop" / "catalog.json").write_text("{")
        for _ in range(2):
            answer = _start(http)
            assert answer.status_code == 201
        assert http.get(f"/v1/sessions/{session['id']}").json() == session
    (told,) = {
        (one.getMessage(), one.fields["catalog"])  # type: ignore[attr-defined]
        for one in caplog.records
        if one.levelname == "WARNING"
    }
    assert told == ("new version not served", "shop")
    assert str(place) not in answer.text


def test_a_view_that_leads_out_of_the_folder_is_not_written(place: Path) -> None:
    """The catalog is exchanged under the service; then an item is to be taken out of it."""
    boss = {"Authorization": f"Bearer {make_key('boss', 'admin', str(place / 'keys'))}"}
    with served(place, keys=str(place / "keys")) as http:
        file = place / "shop" / "catalog.json"
        written = json.loads(file.read_text())
        written["views"] = {"../../../letter": written["views"]["vector"]}
        file.write_text(json.dumps(written))
        (place / "letter.npy").write_text("mine")
        answer = http.delete("/v1/items/shop/item-1", headers=boss)
        assert answer.status_code == 422
        assert "names a view" in answer.json()["detail"]
        assert http.get("/v1/items/shop/item-1").status_code == 200, "people go on"
    assert (place / "letter.npy").read_text() == "mine"
    assert not list(place.glob("*.building"))


def test_who_waits_too_long_for_a_turn_is_told() -> None:
    async def both() -> None:
        turns = RequestTurns()
        async with turns.turn("catalog shop", "a change of this catalog"):
            with pytest.raises(BusyError, match="a change of this catalog take long"):
                async with turns.turn("catalog shop", "a change of this catalog", 0.0):
                    pytest.fail("two at once")
            async with turns.turn("catalog other", "a change of this catalog", 0.0):
                pass
        async with turns.turn("catalog shop", "a change of this catalog", 0.0):
            pass

    asyncio.run(both())


def test_a_catalog_that_was_moved_away_is_searched_on(place: Path) -> None:
    with served(place) as http:
        first = _start(http).json()
        (place / "shop").rename(place / "elsewhere")
        item = first["page"]["items"][0]
        click = {"item": item["id"], "verdict": "like"}
        assert http.post(f"/v1/sessions/{first['id']}/clicks", json=click).status_code == 200
        assert http.get(item["media"]).status_code == 404


def test_pictures_that_are_gone_or_no_files_are_not_there(place: Path) -> None:
    with served(place) as http:
        first, second, *_ = (item["media"] for item in _start(http).json()["page"]["items"])
        for address, gone in ((first, False), (second, True)):
            (file,) = (place / "shop").rglob(address.rsplit("/", 1)[1])
            file.unlink()
            if not gone:
                file.mkdir()
            assert http.get(address).status_code == 404


def test_pictures_of_any_name_are_served_but_nothing_beside_them(place: Path) -> None:
    media = place / "shop" / "media"
    (some, *_) = media.rglob("*.webp")
    odd = media / '日本 \n"x".webp'
    shutil.copy(some, odd)
    (media / "out.webp").symlink_to(place / "shop" / "catalog.json")
    (media / "notes.txt").write_text("nothing for others")
    with served(place) as http:
        answer = http.get(f"/media/shop/{quote(odd.name)}")
        assert answer.status_code == 200
        assert answer.content == some.read_bytes()
        tag = {"If-None-Match": answer.headers["etag"]}
        assert http.get(f"/media/shop/{quote(odd.name)}", headers=tag).status_code == 304
        for name in ("out.webp", "notes.txt", "nothing.webp", "../catalog.json"):
            assert http.get(f"/media/shop/{quote(name, safe='')}").status_code == 404


def test_a_store_that_was_removed_takes_nothing_in(place: Path) -> None:
    with served(place) as http:
        first = _start(http).json()
        session = f"/v1/sessions/{first['id']}"
        click = {"item": first["page"]["items"][0]["id"], "verdict": "like"}
        for file in place.glob("s.sqlite*"):
            file.rename(place / f"away-{file.name}")
        for answer in (
            http.post(f"{session}/clicks", json=click),
            http.get(session),
            _start(http),
            http.get("/healthz/ready"),
        ):
            assert answer.status_code == 503
            assert answer.headers["retry-after"]
        assert not list(place.glob("s.sqlite*")), "no empty store is made in its place"
        for file in place.glob("away-*"):
            file.rename(place / file.name.removeprefix("away-"))
        answer = http.post(f"{session}/clicks", json=click)
        assert answer.status_code == 200
        assert answer.json()["likes"] == [click["item"]]


def test_a_store_that_is_no_database_any_longer_is_not_ready(place: Path) -> None:
    with served(place) as http:
        assert _start(http).status_code == 201
        for file in place.glob("s.sqlite*"):
            file.write_bytes(b"garbage" * 1000)
        assert _start(http).status_code == 503

        def told() -> bool:
            health = http.get("/healthz").json()
            assert health["live"]
            return "cannot be read or written" in str(health.get("reasons"))

        until(told)
        assert not http.get("/healthz").json()["ready"]


def test_a_store_in_the_place_of_another_is_not_mixed_with_it(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    store = open_store(str(file))
    try:
        file.rename(tmp_path / "old.sqlite")
        open_store(str(file)).close()
        for ask in (store.ping, store.count, lambda: store.delete("x")):
            with pytest.raises(StoreError, match="moved or removed"):
                ask()
    finally:
        store.close()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:a s3cret@127.0.0.1/x",
        "postgresql://ann:s3cret@[::/x",
        "postgresql://ann:%zzs3cret@127.0.0.1/x",
        "postgresql://ann:s3cret@127.0.0.1:1/x",
        "postgresql://ann:s3cret@127.0.0.1:many/x",
    ],
)
def test_no_error_shows_the_password_of_a_database(address: str, tmp_path: Path) -> None:
    for use in (open_store, lambda place: seeker.build(place, tmp_path / "out", table="things")):
        with pytest.raises(SeekerError) as told:
            use(address)
        assert "s3cret" not in str(told.value)


def test_a_locked_store_is_waited_for_and_then_told(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with served(place, store_lock_timeout=0.1) as http:
        first = _start(http).json()
        session = f"/v1/sessions/{first['id']}"
        click = {"item": first["page"]["items"][0]["id"], "verdict": "like", "step": 0}
        key = {"Idempotency-Key": "one-click-tried-again"}
        with closing(sqlite3.connect(place / "s.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            answer = http.post(f"{session}/clicks", json=click, headers=key)
            assert answer.status_code == 503
            assert "locked" not in answer.text
            assert "locked" in str([getattr(one, "fields", "") for one in caplog.records])
            assert http.get(session).json() == first, "nothing has happened, and reading goes on"
            other.execute("ROLLBACK")
        for _ in range(2):
            answer = http.post(f"{session}/clicks", json=click, headers=key)
            assert (answer.status_code, answer.json()["likes"]) == (200, [click["item"]])
        kept = http.get(f"{session}/events").json()["events"]
        assert [json.dumps(event["type"]) for event in kept] == ['"start"', '"click"']


@contextmanager
def _small_disk(most: int) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_loses_nothing_that_was_answered(place: Path) -> None:
    with served(place) as http:
        first = _start(http).json()
        session = f"/v1/sessions/{first['id']}"
        items = [item["id"] for item in first["page"]["items"]]

        def click(number: int) -> int:
            body = {"item": items[number % 12], "verdict": ("like", "dislike")[number % 2]}
            return int(http.post(f"{session}/clicks", json={**body, "shown": items}).status_code)

        # The file of the log is as large as this already, or will be soon.
        (log,) = place.glob("s.sqlite-wal")
        with _small_disk(log.stat().st_size + 50_000):
            statuses: list[int] = []
            while not statuses or statuses[-1] == 200:
                statuses.append(click(len(statuses)))
            assert statuses[-1] == 503
            kept = http.get(f"{session}/events").json()["events"]
            assert len(kept) == len(statuses), "the start, and what was answered with 200"
        assert click(len(statuses)) == 200, "with room again it goes on"
        assert len(http.get(f"{session}/events").json()["events"]) == len(statuses) + 1
