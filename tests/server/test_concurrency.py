"""Many at once on one session, clocks that jump, keys used twice: nothing is lost or done twice."""

from __future__ import annotations

import gc
import os
import random
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from seeker import Catalog
from seeker.engine import Catalogs, Engine, SessionSnapshot
from seeker.engine.engine import QuotaExceededError
from seeker.errors import BadInput, Conflict, NotFound
from seeker.server.app import create_app
from seeker.server.settings import Settings
from seeker.session import Click, Explore, Redo, Undo
from seeker.stores import IdempotencyKey, open_store
from support.catalogs import random_catalog
from support.servers import until
from support.stores import DURABLE, NewStore

CROWD = 8


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return random_catalog(80)


@contextmanager
def engines(catalog: Catalog, address: str, count: int = 2, **given: Any) -> Iterator[list[Engine]]:
    """Run several engines over one store, as several servers would."""
    running = [
        Engine(Catalogs({"shop": catalog}), open_store(address), **given) for _ in range(count)
    ]
    try:
        yield running
    finally:
        for engine in running:
            engine.close()


def test_a_crowd_on_one_session_of_two_servers(catalog: Catalog, tmp_path: Path) -> None:
    """Each act has a key, and some are tried again: what is kept is each one, once."""
    with (
        engines(catalog, str(tmp_path / "s.sqlite")) as running,
        ThreadPoolExecutor(CROWD) as pool,
    ):
        id = running[0].start(seed=1).id

        def somebody(number: int) -> int:
            chance = random.Random(number)
            kept = 0
            for turn in range(12):
                key = IdempotencyKey(id, f"act {number} {turn}", "the same")
                item = f"item {chance.randrange(80)}"
                act = chance.choice(["like", "dislike", "undo", "redo", "explore"])
                engine = chance.choice(running)
                try:
                    first = _done(engine, act, id, item, key)
                except Conflict:
                    continue  # There was nothing to undo or redo.
                kept += 1
                again = _done(chance.choice(running), act, id, item, key)
                assert (again.step, again.likes, again.page) == (
                    first.step,
                    first.likes,
                    first.page,
                )
            return kept

        kept = sum(pool.map(somebody, range(CROWD)))
        events = running[0].stored(id).events
        assert len(events) == 1 + kept
        replayed = catalog.replay(events)
        for engine in running:
            shown = engine.show(id)
            assert (shown.step, shown.likes, shown.dislikes) == (
                replayed.step,
                replayed.likes,
                replayed.dislikes,
            )
            assert shown.page == replayed.page()


def _done(engine: Engine, act: str, id: str, item: str, key: IdempotencyKey) -> SessionSnapshot:
    match act:
        case "undo":
            return engine.act(id, Undo(), key=key)
        case "redo":
            return engine.act(id, Redo(), key=key)
        case "explore":
            return engine.act(id, Explore(2.0), key=key)
    return engine.act(id, Click(item, act, [item]), key=key)  # type: ignore[arg-type]


@pytest.mark.parametrize("body", ["same", "different"])
def test_one_key_used_by_many_at_once_does_one_thing(
    catalog: Catalog, tmp_path: Path, body: str
) -> None:
    with (
        engines(catalog, str(tmp_path / "s.sqlite")) as running,
        ThreadPoolExecutor(CROWD) as pool,
    ):
        id = running[0].start(seed=1).id

        def somebody(number: int) -> SessionSnapshot | None:
            said = "same" if body == "same" else str(number)
            item = "item 1" if body == "same" else f"item {number}"
            try:
                return running[number % 2].act(
                    id, Click(item, "like", []), key=IdempotencyKey(id, "key", said)
                )
            except BadInput:
                return None

        answers = [one for one in pool.map(somebody, range(CROWD)) if one is not None]
        assert len(answers) == (CROWD if body == "same" else 1)
        assert len({tuple(one.likes) for one in answers}) == 1
        assert len(running[0].stored(id).events) == 2


def test_of_many_who_start_at_once_no_more_get_in_than_may(
    catalog: Catalog, tmp_path: Path
) -> None:
    with (
        engines(catalog, str(tmp_path / "s.sqlite"), sessions_per_key=3) as running,
        ThreadPoolExecutor(CROWD) as pool,
    ):

        def somebody(number: int) -> str | None:
            try:
                return running[number % 2].start(owner="site").id
            except QuotaExceededError:
                return None

        started = [id for id in pool.map(somebody, range(3 * CROWD)) if id is not None]
        assert running[0].store.count("site") == len(started) <= 3
        for id in started:
            assert running[1].show(id).step == 0


class _Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("address", ["memory:", "s.sqlite"])
def test_a_key_of_a_session_that_has_expired_may_be_used_again(
    catalog: Catalog, tmp_path: Path, address: str
) -> None:
    place = address if address == "memory:" else str(tmp_path / address)
    clock = _Clock()
    with engines(catalog, place, 1, clock=clock, lifetime=100.0) as (engine,):
        key = IdempotencyKey("from here", "one start", "said")
        first = engine.start(key=key)
        assert engine.start(key=key).id == first.id
        clock.now += 101.0
        second = engine.start(key=key)
        assert second.id != first.id
        assert engine.start(key=key).id == second.id
        for ask in (engine.show, engine.stored, lambda id: engine.act(id, Undo())):
            with pytest.raises(NotFound):
                ask(first.id)
        assert engine.expire() == 0, "it went already"


def test_a_clock_that_is_set_back_loses_nobody(catalog: Catalog) -> None:
    clock = _Clock()
    with engines(catalog, "memory:", 1, clock=clock, lifetime=100.0) as (engine,):
        id = engine.start().id
        clock.now -= 50_000.0
        assert engine.act(id, Click("item 1", "like", [])).likes == ["item 1"]
        assert engine.expire() == 0
        clock.now += 99.0
        assert engine.show(id).likes == ["item 1"]


@pytest.mark.parametrize(
    "act",
    [
        lambda engine, id: engine.act(id, Click("item 3", "like", [])),
        lambda engine, id: engine.act(id, Undo()),
        lambda engine, id: engine.act(id, Explore(2.0)),
    ],
)
def test_a_session_does_not_grow_without_end(
    catalog: Catalog, act: Callable[[Engine, str], SessionSnapshot]
) -> None:
    with engines(catalog, "memory:", 1, max_events=3) as (engine,):
        id = engine.start().id
        for item in ("item 1", "item 2"):
            last = engine.act(id, Click(item, "like", []))
        for _ in range(2):
            with pytest.raises(Conflict, match="3 events, and takes in no more") as told:
                act(engine, id)
            assert told.value.snapshot == last  # type: ignore[attr-defined]
        assert engine.show(id) == last
        assert engine.fork(id).likes == last.likes


@pytest.mark.parametrize("kind", DURABLE)
def test_threads_that_come_and_go_leave_no_connections(kind: str, new_store: NewStore) -> None:
    """A database gives out a hundred connections or so; a process may open a thousand files."""
    address = new_store(kind)
    store = open_store(address)
    try:
        for _ in range(20):
            thread = threading.Thread(target=store.count)
            thread.start()
            thread.join()
        assert store.count() == 0
        # PostgreSQL takes a moment to see that somebody has left.
        until(lambda: _connections(address) <= 2)
    finally:
        store.close()


def _connections(address: str) -> int:
    """Return how many connections there are to a store now."""
    if "://" not in address:
        if not Path("/proc/self/fd").exists():
            pytest.skip("this system does not tell which files are open")
        opened = (os.path.realpath(file) for file in Path("/proc/self/fd").iterdir())
        return sum(file == os.path.realpath(address) for file in opened)
    import psycopg

    with psycopg.connect(address) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid != pg_backend_pid()"
        ).fetchone()
        return int(found[0]) if found else 0


def test_what_is_done_in_a_session_leaves_nothing_to_the_collector(
    catalog: Catalog, tmp_path: Path
) -> None:
    """A look at all objects takes as long as many clicks: in a crowd it must be seldom."""
    catalog.preload()
    app = create_app(Settings(store=str(tmp_path / "s.sqlite"), rate=0), Catalogs({"x": catalog}))
    with TestClient(app, base_url="http://localhost") as http:
        service = app.state.service
        until(lambda: service.ready)
        gc.collect()
        gc.disable()
        try:
            shown = http.post("/v1/sessions", json={"seed": 1}).json()
            id = shown["id"]
            for _ in range(20):
                click = {"item": shown["page"]["items"][0]["id"], "verdict": "like"}
                shown = http.post(f"/v1/sessions/{id}/clicks", json=click).json()
            session = weakref.ref(service.engine.cache.take(id).session)
            until(lambda: session() is None)
        finally:
            gc.enable()
