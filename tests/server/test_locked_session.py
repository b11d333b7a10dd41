"""One session is held up for real, by a lock in the database: others go on, or are told to wait."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from seeker import Client
from support.servers import TIMEOUT_SECONDS, Server, until
from support.stores import NewStore


@pytest.fixture(scope="module")
def database(new_store: NewStore) -> str:
    return new_store("postgres")


def server_of(folder: Path, database: str, *flags: str) -> Server:
    # However slow the tests are, nobody is given up.
    waits = ("store-lock-timeout", "store-timeout", "queue-timeout", "stop-timeout")
    patient = [given for name in waits for given in (f"--{name}", str(TIMEOUT_SECONDS))]
    return Server(folder, "--store", database, "--rate", "0", *patient, *flags)


@contextmanager
def held_up(database: str, session: str) -> Iterator[None]:
    """Keep a session's row locked: reading it goes on, writing to it waits."""
    with psycopg.connect(database) as connection:
        connection.execute("SELECT 1 FROM sessions WHERE id = %s FOR UPDATE", (session,))
        yield


def waiting(database: str) -> int:
    """Return how many statements wait for a lock."""
    with psycopg.connect(database, autocommit=True) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND datname = current_database()"
        ).fetchone()
        return int(found[0]) if found else 0


def clicking(pool: ThreadPoolExecutor, url: str, id: str, item: str) -> Future[httpx.Response]:
    body = {"item": item, "verdict": "like"}
    address = f"{url}/v1/sessions/{id}/clicks"
    return pool.submit(httpx.post, address, json=body, timeout=TIMEOUT_SECONDS)


def refusals(http: httpx.Client) -> float:
    """Return how many requests the service says it has refused."""
    figures = http.get("/metrics").text.splitlines()
    (count,) = (line.split()[1] for line in figures if line.startswith("seeker_refused "))
    return float(count)


def test_what_finds_no_room_is_refused_and_served_again_later(
    folder: Path, database: str, tmp_path: Path
) -> None:
    flags = ("--threads", "1", "--queue", "0", "--open-metrics")
    with (
        server_of(folder, database, *flags).running(tmp_path / "log") as server,
        server.client() as http,
        ThreadPoolExecutor(2) as pool,
        Client(server.url) as patient,
    ):
        slow, other = (http.post("/v1/sessions", json={}).json() for _ in range(2))
        address = f"/v1/sessions/{other['id']}"
        click = {"item": "item-2", "verdict": "like"}
        with held_up(database, slow["id"]):
            stuck = clicking(pool, server.url, slow["id"], "item-1")
            until(lambda: waiting(database) == 1)
            for refused in (http.post(f"{address}/clicks", json=click), http.get(address)):
                assert refused.status_code == 503
                assert refused.headers["retry-after"] == "1"
                assert refused.headers["content-type"] == "application/problem+json"
                assert refused.json()["detail"].startswith("More people are searching than")
            health = http.get("/healthz").json()
            assert (health["live"], health["ready"]) == (True, False)
            assert "More is asked" in health["reasons"][0]
            tried = pool.submit(patient.open, other["id"])
            until(lambda: refusals(http) >= 3)
            assert not stuck.done()
        assert stuck.result(TIMEOUT_SECONDS).status_code == 200
        assert tried.result(TIMEOUT_SECONDS).id == other["id"], "a client that waits is served"
        assert http.post(f"{address}/clicks", json=click).json()["likes"] == ["item-2"]


def test_one_slow_session_does_not_stall_others(
    folder: Path, database: str, tmp_path: Path
) -> None:
    with (
        server_of(folder, database, "--threads", "2").running(tmp_path / "log") as server,
        server.client() as http,
        ThreadPoolExecutor(8) as pool,
    ):
        slow, quick = (http.post("/v1/sessions", json={}).json() for _ in range(2))
        with held_up(database, slow["id"]):
            stuck = [clicking(pool, server.url, slow["id"], f"item-{n}") for n in range(1, 7)]
            until(lambda: waiting(database) == 1)
            for n in range(5):
                body = {"item": f"item-{n + 1}", "verdict": "like", "step": n}
                answer = http.post(f"/v1/sessions/{quick['id']}/clicks", json=body)
                assert answer.status_code == 200
            assert waiting(database) == 1, "one session waits in one thread only"
            assert not any(one.done() for one in stuck)
        assert {one.result(TIMEOUT_SECONDS).status_code for one in stuck} == {200}
        now = http.get(f"/v1/sessions/{slow['id']}").json()
        assert sorted(now["likes"]) == [f"item-{n}" for n in range(1, 7)]


def test_a_stop_waits_for_what_is_being_kept(folder: Path, database: str, tmp_path: Path) -> None:
    with (
        server_of(folder, database).running(tmp_path / "log") as server,
        ThreadPoolExecutor(2) as pool,
    ):
        assert server.process is not None
        id = httpx.post(f"{server.url}/v1/sessions", json={}, timeout=TIMEOUT_SECONDS).json()["id"]
        with held_up(database, id):
            stuck = clicking(pool, server.url, id, "item-1")
            until(lambda: waiting(database) == 1)
            server.process.send_signal(signal.SIGTERM)
            until(lambda: _deaf(server.url))
            assert not stuck.done()
            assert server.process.poll() is None
        answer = stuck.result(TIMEOUT_SECONDS)
        assert (answer.status_code, answer.json()["likes"]) == (200, ["item-1"])
        assert server.stop() in (0, -signal.SIGTERM)
    assert "Traceback" not in (tmp_path / "log").read_text()


def _deaf(url: str) -> bool:
    try:
        httpx.get(f"{url}/healthz", timeout=5)
    except httpx.TransportError:
        return True
    return False
