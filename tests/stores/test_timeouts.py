"""Stores that are held up: people are told soon, the service lives, starts and stops in time."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from starlette.testclient import TestClient

from seeker import Catalog
from seeker.engine import Catalogs
from seeker.server.app import create_app
from seeker.server.health import Probe
from seeker.server.processes import EXIT_CODE
from seeker.server.settings import Settings
from seeker.stores import Store, StoreError, Timeouts, open_store
from support.servers import TIMEOUT_SECONDS, Server, until
from support.stores import NewStore, stopped, stored_session

PATIENT = Timeouts(TIMEOUT_SECONDS, TIMEOUT_SECONDS, TIMEOUT_SECONDS, TIMEOUT_SECONDS)


def served(settings: Settings, catalog: Catalog) -> TestClient:
    """Serve a catalog in this process."""
    app = create_app(settings, Catalogs({"shop": catalog}))
    return TestClient(app, base_url="http://localhost")


@contextmanager
def locked(address: str) -> Iterator[None]:
    """Let another process hold the lock of a store: nobody can write."""
    if address.startswith("postgresql:"):
        with psycopg.connect(address) as connection:
            connection.execute("LOCK TABLE sessions, store_probe IN EXCLUSIVE MODE")
            yield
            connection.rollback()
        return
    with closing(sqlite3.connect(address, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_who_waits_for_a_lock_is_told_soon(
    address: str, small: Catalog, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(store=address, rate=0, store_lock_timeout=0.1)
    with served(settings, small) as http:
        first = http.post("/v1/sessions", json={}).json()
        session = f"/v1/sessions/{first['id']}"
        click = {"item": first["page"]["items"][0]["id"], "verdict": "like", "step": 0}
        with locked(address):
            answer = http.post(f"{session}/clicks", json=click)
            assert http.get(session).json() == first, "reading goes on"
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["retry-after"] == "2"
        assert answer.json()["hint"] == "Try again in 2 seconds."
        for internal in ("lock", "SQL", "Postgre", address):
            assert internal not in answer.text
        assert "lock" in str([getattr(one, "fields", "") for one in caplog.records])
        assert http.post(f"{session}/clicks", json=click).status_code == 200


def test_a_database_that_is_stopped_is_hung_up_on(new_store: NewStore) -> None:
    address = new_store("postgres")
    store = open_store(address, Timeouts(connect=2.0, lock=0.2, statement=0.2))
    try:
        store.create(stored_session("a"))
        with stopped(address):
            with pytest.raises(StoreError, match="did not answer within"):
                store.append("a", 1, {}, 101.0)
            with pytest.raises(StoreError, match="PostgreSQL") as told:
                store.load("a")  # by a new connection
            assert address not in str(told.value)
        found = store.load("a")
        assert found is not None
        store.append("a", found.length, {}, 102.0)
    finally:
        store.close()


def test_a_silent_store_is_waited_for_by_the_first_who_asks_and_not_by_all() -> None:
    """Whether the service lives is asked often, and each answer would be late."""
    answer = threading.Event()
    probe = Probe(answer.wait)
    try:
        assert asyncio.run(probe.look(seconds=0.01)) is None
        with pytest.raises(StopIteration):  # it returns at its first step, without a pause
            probe.look(seconds=0.01).send(None)
    finally:
        answer.set()


def test_a_statement_that_takes_too_long_is_broken_off(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "s.sqlite"), Timeouts(statement=0.2))
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    try:
        with pytest.raises(StoreError, match="longer than"), store.reading() as run:  # type: ignore[attr-defined]
            run(endless)
        store.create(stored_session("a"))
    finally:
        store.close()


def test_a_service_whose_store_is_held_up_lives_and_stops(
    address: str, folder: Path, tmp_path: Path
) -> None:
    """Its only thread waits for the lock, as long as it likes; a stop does not."""
    # So that the store is one already, and nobody waits at the start.
    open_store(address).close()
    waits = [f"--{name}" for name in ("store-lock-timeout", "store-timeout", "queue-timeout")]
    patient = [given for name in waits for given in (name, str(TIMEOUT_SECONDS))]
    flags = ("--store", address, "--threads", "1", "--stop-timeout", "1", *patient)
    with (
        Server(folder, *flags).running(tmp_path / "log") as server,
        ThreadPoolExecutor(1) as pool,
        server.client() as http,
    ):
        assert server.process is not None
        with locked(address):
            stuck = pool.submit(_started, server.url)
            until(lambda: not http.get("/healthz").json()["ready"])
            health = http.get("/healthz").json()
            assert health["live"]
            assert "The store does not answer." in health["reasons"]
            refused = http.get("/healthz/ready")
            assert refused.status_code == 503
            assert "The store does not answer." in refused.json()["detail"]
            assert not stuck.done()
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(TIMEOUT_SECONDS) == EXIT_CODE
        assert stuck.result(TIMEOUT_SECONDS) in (503, None), "told, or hung up on"
    log = (tmp_path / "log").read_text()
    assert "exit without waiting" in log
    assert "Traceback" not in log


def _started(url: str) -> int | None:
    try:
        return httpx.post(f"{url}/v1/sessions", json={}, timeout=TIMEOUT_SECONDS).status_code
    except httpx.TransportError:
        return None


@contextmanager
def being_upgraded(address: str) -> Iterator[None]:
    """Let another process be at upgrading a store."""
    if not address.startswith("postgresql:"):
        with locked(address):
            yield
        return
    with psycopg.connect(address) as connection:
        connection.execute("SELECT pg_advisory_lock(7316015)")
        yield


def test_a_start_waits_for_who_upgrades_the_store_and_says_so(
    older: str, caplog: pytest.LogCaptureFixture
) -> None:
    opened: list[Store] = []
    with being_upgraded(older):
        start = threading.Thread(target=lambda: opened.append(open_store(older, PATIENT)))
        start.start()
        until(lambda: "store locked" in caplog.text)
        assert not opened
    start.join(TIMEOUT_SECONDS)
    assert opened[0].count() == 2
    opened[0].close()


def test_a_start_does_not_wait_for_ever(older: str) -> None:
    with being_upgraded(older), pytest.raises(StoreError, match="another process is"):
        open_store(older, Timeouts(lock=0.1, start=0.1))


def test_a_start_needs_no_lock_where_nothing_is_to_be_upgraded(address: str) -> None:
    open_store(address).close()
    with being_upgraded(address):
        store = open_store(address, Timeouts(lock=0.1, start=0.1))
        assert store.count() == 0
        store.close()


def test_a_full_disk_is_told(new_store: NewStore, small: Catalog) -> None:
    """PostgreSQL says so of every write."""
    address = new_store("postgres")
    settings = Settings(store=address, rate=0)
    with served(settings, small) as http:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(
                "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
                "$$BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END$$"
            )
            for table in ("sessions", "store_probe"):
                connection.execute(
                    f"CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON {table} "
                    "FOR EACH ROW EXECUTE FUNCTION full_disk()"
                )
        assert http.post("/v1/sessions", json={}).status_code == 503

        def told() -> bool:
            health = http.get("/healthz").json()
            return not health["ready"] and "The disk of the store is full." in health["reasons"]

        until(told)


def test_figures_are_told_while_the_store_is_held_up(address: str, small: Catalog) -> None:
    settings = Settings(
        store=address, rate=0, open_metrics=True, store_lock_timeout=TIMEOUT_SECONDS
    )
    with served(settings, small) as http:
        http.post("/v1/sessions", json={})
        with locked(address):
            assert "seeker_sessions 1.0" in http.get("/metrics").text
