"""Sessions grow old by a clock that was seen to be steady, and go without holding anybody up."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from seeker import Catalog
from seeker.engine.expiry import BATCH_SESSIONS, judge
from seeker.errors import NotFound
from seeker.session import Click
from seeker.stores import ClockReading, IdempotencyKey, Store, open_store
from seeker.stores.sqlite import SqliteStore
from support.engines import engine
from support.servers import TIMEOUT_SECONDS, seeker_run
from support.stores import DURABLE, NewStore, stored_session

DAY = 86_400.0
LIFETIME = 30 * DAY
NOW = 1_790_000_000.0


@dataclass
class Clock:
    now: float = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["memory", *DURABLE])
def store(request: pytest.FixtureRequest, new_store: NewStore) -> Iterator[Store]:
    opened = open_store("memory:" if request.param == "memory" else new_store(request.param))
    yield opened
    opened.close()


def test_a_clock_that_is_ahead_at_the_start_loses_nobody(
    store: Store, small: Catalog, caplog: pytest.LogCaptureFixture
) -> None:
    id = engine(small, store, clock=Clock()).start(key=IdempotencyKey("s", "k", "f")).id
    wrong = Clock(NOW + 31 * DAY)
    one = engine(small, store, clock=wrong)
    for _ in range(3):
        assert one.expire() == 0
        assert one.show(id).id == id
        assert one.start(key=IdempotencyKey("s", "k", "f")).id == id, "its keys are kept as well"
        wrong.now += 3600.0
    told = [one for one in caplog.records if one.getMessage() == "clock jumped"]
    assert [one.fields["jumped_seconds"] for one in told] == [31 * DAY]  # type: ignore[attr-defined]
    right = engine(small, store, clock=Clock(NOW + DAY))
    for _ in range(2):
        assert right.expire() == 0
        assert right.show(id).id == id


def test_clicks_made_while_the_clock_was_behind_last_as_long_as_others(
    store: Store, small: Catalog
) -> None:
    clock = Clock(NOW - 31 * DAY)
    one = engine(small, store, clock=clock)
    one.expire()
    id = one.start().id
    clock.now += 3600.0
    one.expire()
    clock.now = NOW
    for _ in range(29):
        assert one.expire() == 0
        clock.now += DAY
    assert one.show(id).id == id
    for _ in range(2):
        one.expire()
        clock.now += DAY
    with pytest.raises(NotFound):
        one.show(id)
    assert store.count() == 0


def test_a_steady_clock_lets_sessions_expire_however_few_people_come(
    store: Store, small: Catalog
) -> None:
    clock = Clock()
    one = engine(small, store, clock=clock)
    one.start()
    gone = 0
    for _ in range(31):
        gone += one.expire()
        clock.now += DAY
    assert gone + one.expire() == 1
    assert store.count() == 0


def test_a_session_in_memory_does_not_grow_old_by_a_leap(small: Catalog) -> None:
    clock = Clock()
    one = engine(small, clock=clock)
    one.expire()
    shown = one.start()
    clock.now += 40 * DAY
    assert one.act(shown.id, Click(shown.page.ids[0], "like")).step == 1


HOUR = 3600.0


@pytest.mark.parametrize(
    ("now", "newest", "previous", "before", "jumped", "lost"),
    [
        # An empty store that nobody has looked at.
        (NOW, None, None, None, 0, 0),
        # The first look: the newest session tells.
        (NOW, NOW - DAY, None, NOW - LIFETIME, 0, 0),
        (NOW, NOW - 31 * DAY, None, None, 31 * DAY, 31 * DAY),
        (NOW, NOW + 31 * DAY, None, None, -31 * DAY, 0),
        # Later looks: the one before tells; what was written since may have the same wrong clock.
        (NOW, NOW, ClockReading(NOW - HOUR, NOW - 90 * DAY), NOW - LIFETIME, 0, 0),
        (NOW, NOW, ClockReading(NOW - 31 * DAY, NOW - 90 * DAY), None, 31 * DAY, 31 * DAY),
        (NOW, None, ClockReading(NOW - HOUR, NOW - DAY, DAY), NOW - LIFETIME - DAY, 0, DAY),
        # A leap is forgotten when the clock was steady for a lifetime.
        (NOW, None, ClockReading(NOW - HOUR, NOW - LIFETIME, DAY), NOW - LIFETIME, 0, 0),
        # Back from a leap ahead: ages are right again.
        (NOW, NOW, ClockReading(NOW + 31 * DAY, NOW, 31 * DAY), None, -31 * DAY, 0),
        # Two leaps add up.
        (NOW, NOW, ClockReading(NOW - 9 * DAY, NOW - 9 * DAY, DAY), None, 9 * DAY, 10 * DAY),
        # Some days off are no leap.
        (NOW, NOW, ClockReading(NOW - 7 * DAY, NOW - 90 * DAY), NOW - LIFETIME, 0, 0),
    ],
)
def test_what_a_clock_is_worth(
    now: float,
    newest: float | None,
    previous: ClockReading | None,
    before: float | None,
    jumped: float,
    lost: float,
) -> None:
    verdict = judge(now, newest, previous, LIFETIME)
    assert (verdict.before, verdict.jumped, verdict.reading.lost) == (before, jumped, lost)
    assert verdict.reading.at == now


@pytest.mark.parametrize("kind", DURABLE)
def test_others_write_while_many_sessions_expire(
    kind: str, new_store: NewStore, small: Catalog
) -> None:
    store = open_store(new_store(kind))
    for n in range(2 * BATCH_SESSIONS + 10):
        store.create(stored_session(f"old {n}", NOW - 2 * LIFETIME))
    store.create(stored_session("new", NOW))
    sizes: list[int] = []
    expire = store.expire

    def watched(before: float, most: int) -> int:
        sizes.append(expire(before, most))
        if len(sizes) == 1:
            # Somebody clicks in the midst of it.
            click = threading.Thread(target=store.append, args=("new", 1, {}, NOW))
            click.start()
            click.join(TIMEOUT_SECONDS)
            assert not click.is_alive()
        return sizes[-1]

    store.expire = watched  # type: ignore[method-assign]
    try:
        assert engine(small, store, clock=Clock()).expire() == 2 * BATCH_SESSIONS + 10
        assert sizes == [BATCH_SESSIONS, BATCH_SESSIONS, 10]
        assert store.count() == 1
    finally:
        store.close()


def _filled(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    long = {"type": "start", "text": "x" * 20_000}
    for n in range(2 * BATCH_SESSIONS):
        store.create(stored_session(f"old {n}", NOW - 2 * LIFETIME, events=[long]))
    store.create(stored_session("new", NOW))
    return store


def test_the_space_of_expired_sessions_goes_back_to_the_disk(
    small: Catalog, tmp_path: Path
) -> None:
    path = tmp_path / "s.sqlite"
    _filled(path).close()
    full = path.stat().st_size
    store = SqliteStore(path)
    assert engine(small, store, clock=Clock()).expire() == 2 * BATCH_SESSIONS
    store.close()
    assert path.stat().st_size < full / 10
    assert not list(tmp_path.glob("*-wal"))


def test_files_from_before_are_made_small_by_a_command(small: Catalog, tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    _filled(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA auto_vacuum = NONE")
        connection.execute("VACUUM")
    store = SqliteStore(path)
    assert engine(small, store, clock=Clock()).expire() == 2 * BATCH_SESSIONS
    store.close()
    full = path.stat().st_size
    assert full > 4_000_000, "space within a file from before is not given back by itself"
    run = seeker_run("sessions", "compact", "--store", str(path))
    assert run.returncode == 0, run.stderr
    assert path.stat().st_size < full / 10
    store = SqliteStore(path)
    assert store.load("new") is not None
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    refused = seeker_run("sessions", "compact", "--store", "memory:")
    assert refused.returncode != 0
