"""Stores that are damaged, of an older version, in the wrong place, or not a store at all."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from seeker import Catalog
from seeker.engine import Catalogs
from seeker.errors import BadInput
from seeker.server.app import create_app
from seeker.server.settings import Settings
from seeker.session import Click
from seeker.stores import DamagedSession, StoreError, open_store, pseudonym
from support.engines import engine
from support.servers import seeker_run
from support.stores import connect, stored_session

ANN = "62ORkPaehDtlfoqhcaUVvw"


def test_a_store_of_the_version_before_goes_on(older: str, small: Catalog) -> None:
    store = open_store(older)
    try:
        one = engine(small, store, clock=lambda: 1_790_000_100.0)
        shown = one.show(ANN)
        assert (shown.step, shown.likes, shown.length) == (1, ["item 214"], 4)
        assert one.shared_session("qYxSR3S7Sh3XuC-ZpcNNMw") == ANN
        assert store.idempotency_record("key site", "first-key-of-sixteen") is not None
        after = one.act(ANN, Click(shown.page.ids[0], "like"), 1)
        assert engine(small, store, clock=lambda: 1_790_000_200.0).show(ANN) == after
        assert store.count() == 2
    finally:
        store.close()


DAMAGES = {
    "cut off": "UPDATE events SET body = substr(body, 1, 20) WHERE session = 'a' AND sequence = 2",
    "another": "UPDATE events SET body = '{}' WHERE session = 'a' AND sequence = 2",
    "no event": "UPDATE events SET body = '7', checksum = NULL"
    " WHERE session = 'a' AND sequence = 2",
    "missing": "DELETE FROM events WHERE session = 'a' AND sequence = 2",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_session_is_named_and_others_go_on(address: str, damage: str) -> None:
    store = open_store(address)
    try:
        for id in ("a", "b"):
            store.create(stored_session(id))
            store.append(id, 1, {"type": "click", "item": "x"}, 101.0)
            store.append(id, 2, {"type": "undo"}, 102.0)
        with connect(address) as connection:
            connection.execute(DAMAGES[damage])
        for after in (0, 1):
            with pytest.raises(DamagedSession) as told:
                store.load("a", after)
            assert (told.value.session, told.value.sequence) == ("a", 2)
        last, other = store.load("a", after=2), store.load("b")
        assert last is not None
        assert other is not None
        assert (len(last.events), len(other.events)) == (1, 3)
        assert store.delete("a"), "a damaged session can be deleted"
    finally:
        store.close()


def test_events_from_before_checksums_are_read_if_they_parse(older: str) -> None:
    store = open_store(older)
    try:
        with connect(older) as connection:
            connection.execute(f"UPDATE events SET body = '{{' WHERE session <> '{ANN}'")
        assert store.load(ANN) is not None
        (other,) = {*store.find()} - {ANN}
        with pytest.raises(DamagedSession):
            store.load(other)
    finally:
        store.close()


@pytest.fixture
def served(small: Catalog, address: str) -> Iterator[TestClient]:
    """A service that reads every session from the store, each time."""
    settings = Settings(store=address, rate=0, belief_cache=1)
    app = create_app(settings, Catalogs({"shop": small}))
    with TestClient(app, raise_server_exceptions=False, base_url="http://localhost") as client:
        yield client


def test_over_http_a_damaged_session_is_a_problem_of_its_own(
    served: TestClient, small: Catalog, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = (served.post("/v1/sessions", json={}).json()["id"] for _ in range(2))
    with connect(address) as connection:
        connection.execute(f"UPDATE events SET body = '{{' WHERE session = '{first}'")
    for call in ("", "/events", "/items"):
        answer = served.get(f"/v1/sessions/{first}{call}")
        assert answer.status_code == 500
        assert answer.json()["title"] == "Internal Server Error"
        assert "is damaged" in answer.json()["detail"]
        assert first in answer.json()["detail"]
        assert "new session" in answer.json()["hint"]
        assert served.get(f"/v1/sessions/{second}{call}").status_code == 200
    logged = [one for one in caplog.records if one.getMessage() == "session damaged"]
    assert logged
    assert first not in str([one.__dict__ for one in logged]), "an id opens its session"


def test_an_event_that_says_nothing_is_damage_and_no_change_of_the_catalog(
    served: TestClient, address: str
) -> None:
    id = served.post("/v1/sessions", json={}).json()["id"]
    with connect(address) as connection:
        connection.execute("UPDATE events SET body = '{\"schema\":2}', checksum = NULL")
    assert "is damaged" in served.get(f"/v1/sessions/{id}").json()["detail"]


def test_an_export_leaves_damaged_sessions_out_and_says_so(address: str, tmp_path: Path) -> None:
    store = open_store(address)
    for id in ("a", "b", "c"):
        store.create(stored_session(id))
    store.close()
    with connect(address) as connection:
        connection.execute("UPDATE events SET body = '{' WHERE session = 'b'")
    out = tmp_path / "sessions.jsonl"
    run = seeker_run("sessions", "export", str(out), "--store", address)
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == [
        pseudonym("a"),
        pseudonym("c"),
    ]
    assert run.returncode == 1
    assert "'b' is damaged" in run.stderr
    assert "1 damaged" in run.stderr


def test_a_database_of_something_else_is_left_as_it_is(folder: Path, tmp_path: Path) -> None:
    (table,) = folder.rglob("items*.sqlite")
    copy = tmp_path / "items.sqlite"
    shutil.copy(table, copy)
    marked = tmp_path / "marked.sqlite"
    with closing(sqlite3.connect(marked)) as connection:
        connection.execute("PRAGMA application_id = 77")
        connection.execute("VACUUM")
    for file in (copy, marked):
        before = file.read_bytes()
        with pytest.raises(BadInput, match="something else"):
            open_store(str(file))
        assert file.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["items.sqlite", "marked.sqlite"]


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    file = tmp_path / "made.sqlite"
    file.touch()
    for _ in range(2):
        open_store(str(file)).close()


@pytest.mark.parametrize("part", ["-wal", "-shm"])
def test_a_store_without_its_log_takes_nothing_in(tmp_path: Path, part: str) -> None:
    file = tmp_path / "s.sqlite"
    store = open_store(str(file))
    try:
        store.create(stored_session("a"))
        beside = tmp_path / f"s.sqlite{part}"
        beside.rename(tmp_path / "away")
        with pytest.raises(StoreError, match="moved or removed"):
            store.append("a", 1, {}, 101.0)
        (tmp_path / "away").rename(beside)
        store.append("a", 1, {}, 101.0)
    finally:
        store.close()
    again = open_store(str(file))
    found = again.load("a")
    again.close()
    assert found is not None
    assert found.length == 2


def test_why_a_store_failed_is_logged_and_not_told_to_clients(
    small: Catalog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "s.sqlite"
    app = create_app(Settings(store=str(file), rate=0), Catalogs({"shop": small}))
    with TestClient(app, base_url="http://localhost") as client:
        assert client.post("/v1/sessions", json={}).status_code == 201
        file.rename(tmp_path / "away.sqlite")
        with caplog.at_level(logging.ERROR, "seeker"):
            answer = client.post("/v1/sessions", json={})
        (tmp_path / "away.sqlite").rename(file)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    for internal in ("sqlite", "moved", str(tmp_path), "--store"):
        assert internal not in answer.text
    reasons = [
        one.fields["reason"]  # type: ignore[attr-defined]
        for one in caplog.records
        if one.getMessage() == "store failed"
    ]
    assert "moved or removed" in reasons[0]
