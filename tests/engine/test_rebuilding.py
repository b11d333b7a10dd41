"""What it costs to open a session that is not in memory: no more than needed, and nobody waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import pytest
from fastapi.testclient import TestClient

from seeker import Catalog
from seeker.engine import BusyError, Catalogs, SessionSnapshot, WorkerPool
from seeker.server.app import create_app
from seeker.server.settings import Settings
from seeker.session import Click, Undo
from seeker.stores import IdempotencyKey, MemoryStore, StoredSession, StoreError
from support.engines import clicks, engine
from support.servers import TIMEOUT_SECONDS, until


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the sessions that were rebuilt from their events."""
    counted: list[int] = []
    replay = Catalog.replay

    def counting(self: Catalog, events: Any) -> Any:
        counted.append(len(events))
        return replay(self, events)

    monkeypatch.setattr(Catalog, "replay", counting)
    return counted


def test_a_request_that_is_made_again_rebuilds_nothing_twice(
    small: Catalog, replays: list[int]
) -> None:
    one = engine(small)
    begin = IdempotencyKey("me", "begin", "f")
    shown = start = one.start(key=begin)
    keys, answers = [], []
    for n in range(8):
        keys.append(IdempotencyKey(start.id, f"click {n}", "f"))
        shown = one.act(start.id, Click(f"item {n}", "like"), key=keys[-1])
        answers.append(shown)

    def again(n: int) -> None:
        assert one.act(start.id, Click(f"item {n}", "like"), key=keys[n]) == answers[n]

    for n in (7, 7, 6, 5, 6):
        again(n)
    assert replays == [], "the latest answers are known"
    for _ in range(3):
        again(1)
        assert one.start(key=begin) == start
    assert replays == [3, 1], "each of the earlier ones is found out once"

    one = engine(small, one.store)
    for _ in range(3):
        again(7)
    assert replays == [3, 1, 9], "another process opens the session, and has it then"
    again(2)
    again(2)
    assert replays == [3, 1, 9, 4]


def test_the_service_counts_the_sessions_that_it_rebuilds(small: Catalog) -> None:
    settings = Settings(store="memory:", open_metrics=True)
    with TestClient(
        create_app(settings, Catalogs({"shop": small})), base_url="http://localhost"
    ) as http:

        def rebuilt() -> float:
            lines = http.get("/metrics").text.splitlines()
            (line,) = (one for one in lines if one.startswith("seeker_sessions_rebuilt "))
            return float(line.split()[1])

        shown = http.post("/v1/sessions", json={}).json()
        answers = []
        for n in range(7):
            key, item = {"Idempotency-Key": f"click number {n:04}".replace(" ", "-")}, f"item {n}"
            body = {"item": item, "verdict": "like"}
            call = (f"/v1/sessions/{shown['id']}/clicks", body, key)
            answers.append((call, http.post(call[0], json=body, headers=key).json()))
        assert rebuilt() == 0
        for _ in range(4):
            (address, body, key), first = answers[0]
            assert http.post(address, json=body, headers=key).json() == first
        assert rebuilt() == 1


def test_a_fork_computes_nothing_before_somebody_goes_on(
    small: Catalog, replays: list[int]
) -> None:
    one = engine(small)
    shown = clicks(one, one.start(), 5)
    fork = one.fork(shown.id)
    assert replays == []
    assert (fork.page, fork.belief, fork.length) == (shown.page, shown.belief, shown.length)
    item = shown.page.ids[3]
    there, here = one.act(fork.id, Click(item, "like"), 5), one.act(shown.id, Click(item, "like"))
    assert (there.page, there.belief, there.history) == (here.page, here.belief, here.history)
    one.delete(shown.id)
    assert one.act(fork.id, Undo()).page == shown.page, "a fork goes on when the original is gone"


def test_forks_are_limited_by_what_they_copy(small: Catalog, store: str) -> None:
    settings = Settings(store=store, rate=0.001, burst=60)
    with TestClient(
        create_app(settings, Catalogs({"shop": small})), base_url="http://localhost"
    ) as http:

        def kept(session: dict[str, Any]) -> int:
            return len(http.get(f"/v1/sessions/{session['id']}/events").json()["events"])

        shown = http.post("/v1/sessions", json={}).json()
        address = f"/v1/sessions/{shown['id']}"
        for n in range(30):
            click = {"item": f"item {n}", "verdict": "like"}
            shown = http.post(f"{address}/clicks", json=click).json()
        key = {"Idempotency-Key": "the-second-of-two-forks"}
        first = http.post(f"{address}/fork", json={})
        second = http.post(f"{address}/fork", json={}, headers=key)
        assert {first.status_code, second.status_code} == {201}
        assert kept(second.json()) == 31
        share = http.post(f"{address}/share").json()["share"]
        for where in (f"{address}/fork", f"/v1/shared/{share}/fork"):
            refused = http.post(where, json={} if where.startswith(address) else None)
            assert (refused.status_code, refused.json()["title"]) == (429, "Too Many Requests")
            assert int(refused.headers["retry-after"]) > 1
        again = http.post(f"{address}/fork", json={}, headers=key)
        assert (again.status_code, again.json()) == (201, second.json()), "it was written before"
        click = {"item": "item 40", "verdict": "like"}
        assert http.post(f"{address}/clicks", json=click).status_code == 200, "who clicks, may"


def test_while_long_sessions_are_rebuilt_others_find_a_thread(small: Catalog) -> None:
    pool = WorkerPool(1, 0, max_long=2)
    store = MemoryStore()
    one = engine(small, store, aside=pool.aside, alone=lambda: pool.free, quick_work=0)
    long = clicks(one, one.start(seed=1), 6)
    quick = one.start(seed=2)
    one.cache.forget(long.id)
    begun, end = threading.Event(), threading.Event()

    def first() -> None:
        with pool.aside():
            begun.set()
            assert end.wait(TIMEOUT_SECONDS)

    held = pool.submit(first)
    assert begun.wait(TIMEOUT_SECONDS)
    waiting: Future[object] = pool.submit(lambda: one.show(long.id))
    until(lambda: pool.long == 2)
    for n in range(3):
        clicked = pool.submit(lambda n=n: one.act(quick.id, Click(f"item {n}", "like")))  # type: ignore[misc]
        assert clicked.result(TIMEOUT_SECONDS).step == n + 1
        until(lambda: pool.free)
    one.cache.forget(quick.id)
    with pytest.raises(BusyError, match="long sessions"):
        pool.submit(lambda: one.show(quick.id)).result(TIMEOUT_SECONDS)
    until(lambda: pool.free)
    assert not waiting.done()
    end.set()
    held.result(TIMEOUT_SECONDS)
    assert waiting.result(TIMEOUT_SECONDS) == long
    until(lambda: pool.idle)
    assert pool.submit(lambda: one.show(quick.id)).result(TIMEOUT_SECONDS).step == 3
    pool.close()


def test_those_who_wait_for_a_long_session_do_not_keep_it_from_its_end(small: Catalog) -> None:
    """They may have all the turns there are while they wait for who is aside and comes back."""
    pool = WorkerPool(1, 0, max_long=1)
    begun, end = threading.Event(), threading.Event()

    @contextmanager
    def aside() -> Iterator[None]:
        with pool.aside():
            assert end.wait(TIMEOUT_SECONDS)
            yield

    store = MemoryStore()
    long = clicks(engine(small, store), engine(small, store).start(), 6)
    one = engine(small, store, aside=aside, quick_work=0)

    def undo() -> SessionSnapshot:
        begun.set()
        return one.act(long.id, Undo())

    rebuilt = pool.submit(lambda: one.show(long.id))
    until(lambda: pool.long == 1)
    undone = pool.submit(undo)
    assert begun.wait(TIMEOUT_SECONDS)
    end.set()
    assert rebuilt.result(TIMEOUT_SECONDS) == long
    assert undone.result(TIMEOUT_SECONDS).step == long.step - 1
    assert pool.close(TIMEOUT_SECONDS)


class Silent(MemoryStore):
    """A store that may not answer for a while."""

    silent = False

    def load(self, session: str, after: int = 0) -> StoredSession | None:
        if self.silent:
            raise StoreError("It does not answer.")
        return super().load(session, after)


def test_what_is_in_memory_stays_there_while_the_store_is_silent(
    small: Catalog, replays: list[int]
) -> None:
    store = Silent()
    one = engine(small, store)
    shown = clicks(one, one.start(), 3)
    store.silent = True
    with pytest.raises(StoreError):
        one.show(shown.id)
    store.silent = False
    assert one.show(shown.id) == shown
    assert replays == []
