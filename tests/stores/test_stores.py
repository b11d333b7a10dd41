"""All stores keep one contract: nothing lost, nothing doubled, one winner."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from seeker.errors import BadInput
from seeker.stores import (
    IdempotencyKey,
    MemoryStore,
    StaleWriteError,
    Store,
    StoreError,
    open_store,
)
from seeker.stores.migrations import newest, statements, steps
from seeker.stores.postgres import PostgresStore
from seeker.stores.sql import SqlStore
from seeker.stores.sqlite import SqliteStore
from seeker.stores.write_queue import Write
from support.servers import TIMEOUT_SECONDS
from support.stores import DURABLE, START, NewStore, connect, stored_session


@pytest.fixture(params=["memory", *DURABLE])
def store(request: pytest.FixtureRequest, new_store: NewStore) -> Iterator[Store]:
    opened = open_store("memory:" if request.param == "memory" else new_store(request.param))
    yield opened
    opened.close()


def test_events_come_back_as_they_were(store: Store) -> None:
    store.create(stored_session("a", owner="site", person="ann"))
    store.append("a", 1, {"type": "click", "item": "x"}, 101.0)
    store.append("a", 2, {"type": "undo"}, 102.5)
    found = store.load("a")
    assert found is not None
    assert found.events == [START, {"type": "click", "item": "x"}, {"type": "undo"}]
    assert (found.catalog, found.owner, found.person) == ("shop", "site", "ann")
    assert (found.began, found.active, found.length) == (100.0, 102.5, 3)
    assert found.times == [100.0, 101.0, 102.5]
    later = store.load("a", after=2)
    assert later is not None
    assert (later.events, later.times, later.length) == ([{"type": "undo"}], [102.5], 3)
    assert store.load("nobody") is None


def test_an_append_with_another_length_changes_nothing(store: Store) -> None:
    store.create(stored_session("a"))
    store.append("a", 1, {"n": 1}, 101.0)
    for expected in (0, 1, 3):
        with pytest.raises(StaleWriteError):
            store.append("a", expected, {"n": 2}, 102.0, IdempotencyKey("a", "k", "f"))
    with pytest.raises(StaleWriteError):
        store.append("gone", 1, {"n": 1}, 102.0)
    found = store.load("a")
    assert found is not None
    assert found.events == [START, {"n": 1}]
    assert found.active == 101.0
    assert store.idempotency_record("a", "k") is None


def test_a_session_is_made_once(store: Store) -> None:
    store.create(stored_session("a"))
    with pytest.raises(StaleWriteError):
        store.create(stored_session("a", events=[START, START]), IdempotencyKey("s", "k", "f"))
    assert store.idempotency_record("s", "k") is None
    found = store.load("a")
    assert found is not None
    assert found.length == 1


def test_keys_are_remembered_with_what_they_did(store: Store) -> None:
    store.create(stored_session("a"), IdempotencyKey("site", "first", "f1"))
    store.append("a", 1, {}, 101.0, IdempotencyKey("a", "second", "f2"))
    first, second = (
        store.idempotency_record("site", "first"),
        store.idempotency_record("a", "second"),
    )
    assert first is not None
    assert second is not None
    assert (first.fingerprint, first.session, first.length) == ("f1", "a", 1)
    assert (second.fingerprint, second.session, second.length) == ("f2", "a", 2)
    assert store.idempotency_record("other", "first") is None
    with pytest.raises(StaleWriteError):
        store.append("a", 2, {}, 102.0, IdempotencyKey("a", "second", "f3"))
    with pytest.raises(StaleWriteError):
        store.create(stored_session("b"), IdempotencyKey("site", "first", "f1"))
    assert store.load("b") is None
    found = store.load("a")
    assert found is not None
    assert found.length == 2


def test_a_token_stands_for_a_session_from_the_first_on(store: Store) -> None:
    store.create(stored_session("a"))
    store.create(stored_session("b"))
    assert store.share("a", "token of a") == "token of a"
    assert store.share("a", "another") == "token of a"
    assert store.share("b", "token of b") == "token of b"
    assert store.share("nobody", "token") is None
    assert (store.shared_session("token of a"), store.shared_session("token of b")) == ("a", "b")
    assert (
        store.shared_session("another")
        is store.shared_session("token")
        is store.shared_session("a")
        is None
    )
    assert store.unshare("a")
    assert not store.unshare("a")
    assert store.shared_session("token of a") is None
    assert store.share("a", "a new one") == "a new one"
    store.delete("a")
    assert store.shared_session("a new one") is None
    store.expire(1000.0, 10)
    assert store.shared_session("token of b") is None


def test_of_many_who_share_at_once_all_get_one_token(store: Store) -> None:
    store.create(stored_session("a"))
    tokens: list[str | None] = []
    threads = [
        threading.Thread(target=lambda me=me: tokens.append(store.share("a", f"by {me}")))
        for me in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tokens) == 6
    assert len(set(tokens)) == 1
    assert store.shared_session(str(tokens[0])) == "a"


def test_what_is_deleted_is_gone_with_all_that_belongs_to_it(store: Store) -> None:
    store.create(stored_session("a"), IdempotencyKey("site", "one", "f"))
    store.create(stored_session("b"))
    assert store.delete("a")
    assert not store.delete("a")
    assert store.load("a") is None
    assert store.idempotency_record("site", "one") is None
    assert store.load("b") is not None
    store.create(stored_session("a"))
    found = store.load("a")
    assert found is not None
    assert found.events == [START]


def test_sessions_expire_by_their_last_click(store: Store) -> None:
    store.create(stored_session("old", 100.0))
    store.create(stored_session("used", 100.0))
    store.append("used", 1, {}, 500.0)
    assert store.expire(500.0, 10) == 1
    assert store.load("old") is None
    assert store.load("used") is not None
    assert store.count() == 1


def test_sessions_are_counted_and_found(store: Store) -> None:
    for n in range(300):
        store.create(stored_session(f"s{n:03}", 100.0 + n // 3, owner="site" if n % 2 else None))
    store.create(stored_session("x", 50.0, owner="site", person="ann"))
    store.create(stored_session("y", 60.0, owner="site", person="ann"))
    store.create(stored_session("z", 70.0, person="ann"))
    assert store.count() == 303
    assert store.count("site") == 152
    assert store.count("other") == 0
    assert list(store.find()) == ["x", "y", "z", *(f"s{n:03}" for n in range(300))]
    assert list(store.find("ann", "site", newest=True)) == ["y", "x"]
    assert list(store.find("ann")) == ["z"]
    assert list(store.find("bob")) == []


def test_of_many_writers_one_wins_each_time(store: Store) -> None:
    store.create(stored_session("a"))
    won: list[int] = []
    lock = threading.Lock()

    def write(me: int) -> None:
        for expected in range(1, 16):
            try:
                store.append("a", expected, {"by": me, "at": expected}, 101.0)
            except StaleWriteError:
                continue
            with lock:
                won.append(expected)

    threads = [threading.Thread(target=write, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = store.load("a")
    assert found is not None
    assert [event["at"] for event in found.events[1:]] == sorted(won)
    assert len(set(won)) == len(won) == found.length - 1
    assert won


class _Gate:
    """Lets the first commit of a store wait, so that others come together; counts the writes."""

    def __init__(self, store: SqlStore) -> None:
        self._commit = store.commit
        self._entered, self._opened = threading.Event(), threading.Event()
        self._opened.set()
        self.batches: list[int] = []
        store.commit = self  # type: ignore[method-assign]

    def __call__(self, writes: Sequence[Write]) -> None:
        self.batches.append(len(writes))
        self._entered.set()
        assert self._opened.wait(TIMEOUT_SECONDS)
        self._commit(writes)

    @contextmanager
    def closed(self) -> Iterator[Callable[[], object]]:
        """Let nothing through; yields what waits until somebody stands before the gate."""
        self._entered.clear()
        self._opened.clear()
        yield lambda: self._entered.wait(TIMEOUT_SECONDS)
        self._opened.set()


def test_writes_that_come_together_share_a_transaction(address: str) -> None:
    store = open_store(address)
    assert isinstance(store, SqlStore)
    gate = _Gate(store)
    key = IdempotencyKey("b", "k", "f")
    with gate.closed() as somebody_waits:
        first = store.create_soon(stored_session("a"))
        assert somebody_waits()
        together = [store.create_soon(stored_session(name)) for name in "bcd"]
        together += [store.append_soon("a", 1, {"n": 1}, 101.0, key)]
        assert not any(write.future.done() for write in [first, *together])
    for write in [first, *together]:
        write.result()
    assert gate.batches == [1, 4]
    assert store.count() == 4
    found = store.load("a")
    assert found is not None
    assert found.events == [START, {"n": 1}]
    store.close()


def test_one_stale_write_of_several_fails_alone(address: str) -> None:
    store = open_store(address)
    assert isinstance(store, SqlStore)
    gate = _Gate(store)
    for name in "abc":
        store.create(stored_session(name))
    key = IdempotencyKey("b", "k", "f")
    with gate.closed() as somebody_waits:
        good = [store.append_soon("a", 1, {"n": 1}, 101.0)]
        assert somebody_waits()
        good += [store.append_soon("b", 1, {"n": 2}, 102.0, key)]
        stale = [
            store.append_soon("c", 2, {"n": 3}, 102.0),
            store.append_soon("c", 1, {"n": 4}, 102.0, key),
            store.append_soon("gone", 1, {"n": 5}, 102.0),
        ]
        good += [store.append_soon("a", 2, {"n": 6}, 103.0)]
    for write in good:
        write.result()
    for write in stale:
        with pytest.raises(StaleWriteError):
            write.result()
    lengths = {name: found.length for name in "abc" if (found := store.load(name)) is not None}
    assert lengths == {"a": 3, "b": 2, "c": 1}
    store.close()


def test_durable_stores_outlive_their_process(address: str) -> None:
    first = open_store(address)
    first.create(stored_session("a"), IdempotencyKey("s", "k", "f"))
    second = open_store(address)
    second.append("a", 1, {"n": 1}, 101.0)
    with pytest.raises(StaleWriteError):
        first.append("a", 1, {"n": 2}, 101.0)
    first.close()
    second.close()
    third = open_store(address)
    found = third.load("a")
    assert found is not None
    assert found.events == [START, {"n": 1}]
    assert third.idempotency_record("s", "k") is not None
    third.close()


@pytest.mark.parametrize("version", [number for number, _ in steps()])
def test_every_old_version_is_brought_up_to_date(version: int, address: str) -> None:
    with connect(address) as connection:
        connection.execute("CREATE TABLE seeker_schema (version INTEGER NOT NULL)")
        for number, script in steps():
            if number <= version:
                for statement in statements(script):
                    connection.execute(statement)
                connection.execute(f"INSERT INTO seeker_schema VALUES ({number})")
        connection.execute(
            "INSERT INTO sessions (id, catalog, person, began, active, length) "
            "VALUES ('a', 'shop', 'ann', 1, 2, 1)"
        )
        connection.execute(
            "INSERT INTO events (session, sequence, at, body) "
            "VALUES ('a', 1, 1, '{\"type\":\"start\"}')"
        )
    store = open_store(address)
    found = store.load("a")
    assert found is not None
    assert (found.person, found.owner, found.events) == ("ann", None, [{"type": "start"}])
    store.append("a", 1, {"n": 1}, 3.0, IdempotencyKey("a", "k", "f"))
    assert store.count() == 1
    assert store.share("a", "token") == "token"
    assert store.shared_session("token") == "a"
    store.close()
    open_store(address).close()


def test_a_store_from_the_future_is_refused(address: str) -> None:
    with connect(address) as connection:
        connection.execute("CREATE TABLE seeker_schema (version INTEGER NOT NULL)")
        connection.execute(f"INSERT INTO seeker_schema VALUES ({newest() + 1})")
    with pytest.raises(BadInput, match="schema"):
        open_store(address)


def test_stores_that_do_not_answer_say_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="PostgreSQL"):
        PostgresStore("postgresql://nobody:secret@127.0.0.1:1/none")
    with pytest.raises(BadInput, match="folder"):
        SqliteStore(tmp_path / "nowhere" / "s.sqlite")
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"this is not a database at all" * 100)
    with pytest.raises(StoreError, match="not a database"):
        SqliteStore(broken)


def test_memory_is_a_store() -> None:
    assert isinstance(open_store("memory:"), MemoryStore)
