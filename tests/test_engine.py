"""The engine: beliefs are a cache, events are the truth, and each thing happens once."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conftest import made
from seeker import BadInput, Catalog, Conflict, NotFound, display
from seeker.catalog.building import update
from seeker.catalog.entry import options
from seeker.engine import Busy, Catalogs, Engine, Moved, Pool, Shown
from seeker.engine.engine import TooMany
from seeker.models import Choice
from seeker.session.events import Click, Event, Start, from_json
from seeker.session.state import fold
from seeker.stores import Kept, Key, MemoryStore, Remembered, Store, StoreFailed, open_store
from seeker.stores.base import Written
from test_build_parts import jsonl
from test_server_parts import folder_of, until


def engine(catalog: Catalog, store: Store | None = None, **given: object) -> Engine:
    return Engine(Catalogs({"shop": catalog}), store or MemoryStore(), **given)  # type: ignore[arg-type]


def clicks(one: Engine, shown: Shown, count: int) -> Shown:
    for n in range(count):
        verdict = "dislike" if n % 3 == 2 else "like"
        item = shown.page.ids[n % 12]
        shown = one.click(shown.id, item, verdict, step=shown.step)  # type: ignore[arg-type]
    return shown


def test_the_answer_is_that_of_a_session_in_this_process(two_views: Catalog) -> None:
    one = engine(two_views)
    shown = one.start(seed=5, filter={"price": {"lt": 12}}, query="kind 2")
    session = two_views.session(seed=5, filter={"price": {"lt": 12}}, prior="kind 2")
    for _ in range(4):
        assert shown.page == session.page()
        item = shown.page.ids[1]
        shown = one.click(shown.id, item, "like", step=shown.step)
        session.like(item)
    shown = one.undo(shown.id)
    session.undo()
    assert shown.page == session.page()
    assert (shown.step, shown.likes, shown.dislikes) == (3, session.likes, [])
    assert shown.belief is not None
    assert shown.belief.entropy == session.belief.entropy
    assert shown.belief.views == session.belief.views
    assert one.more(shown.id, 12, 30)[1] == session.more(12, 30)
    item = session.page().ids[0]
    assert one.explain(shown.id, item) == session.explain(item)


def test_a_cache_of_nothing_answers_as_a_cache_of_everything(two_views: Catalog) -> None:
    store = MemoryStore()
    large, none = engine(two_views, store), engine(two_views, store, cache_bytes=0)
    shown = clicks(large, large.start(seed=1), 5)
    assert none.show(shown.id) == shown
    assert len(none.cache) == 0
    after = none.click(shown.id, shown.page.ids[3], "dislike", step=5)
    assert large.show(shown.id) == after
    assert none.undo(shown.id) == large.show(shown.id)
    assert large.cache.hits >= 5


def test_the_cache_keeps_to_its_bytes_and_drops_the_oldest(two_views: Catalog) -> None:
    one = engine(two_views)
    first = clicks(one, one.start(), 2)
    room = 3 * one.cache.bytes
    one = engine(two_views, one.store, cache_bytes=room)
    ids = [clicks(one, one.start(), 2).id for _ in range(12)]
    assert 0 < one.cache.bytes <= room
    assert 3 < len(one.cache) < 12, "light sessions find room before any is dropped"
    assert one.cache.dropped
    assert one.cache.take(ids[0]) is None
    assert one.cache.take(ids[-1]) is not None
    assert one.show(first.id) == first


def test_a_session_that_was_lightened_answers_as_before(two_views: Catalog) -> None:
    one = engine(two_views)
    shown = clicks(one, one.start(seed=3), 3)
    before = one.cache.bytes
    one.cache.limit = before - 1
    assert one.show(shown.id) == shown
    assert 0 < one.cache.bytes < before
    assert (one.cache.dropped, one.cache.misses) == (0, 0)
    other = engine(two_views, one.store)
    other.show(shown.id)
    for n in range(3):
        shown = one.click(shown.id, shown.page.ids[n], "like", step=shown.step)
        assert other.show(shown.id) == shown
    assert one.undo(shown.id, count=4) == other.show(shown.id)


def test_what_is_dropped_is_freed_at_once(two_views: Catalog) -> None:
    one = engine(two_views)
    shown = clicks(one, one.start(), 3)
    entry = one.cache.take(shown.id)
    assert entry is not None
    held = weakref.ref(entry.session)
    one.cache.put(shown.id, entry)
    del entry
    gc.disable()
    try:
        one.cache.forget(shown.id)
        assert held() is None
    finally:
        gc.enable()


_CROWD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from conftest import made
from seeker.engine import Catalogs, Engine
from seeker.stores import MemoryStore

def own():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))

limit = 16_000_000
one = Engine(Catalogs({"shop": made(15_000, (6,))}), MemoryStore(), cache_bytes=limit)
one.warm()
before = own()
for seed in range(60):
    shown = one.start(seed=seed)
    for n in range(2):
        shown = one.click(shown.id, shown.page.ids[n], "like")
print((own() - before) / limit, one.cache.dropped)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_the_limit_of_the_cache_bounds_what_sessions_take_of_the_process() -> None:
    here = str(Path(__file__).parent)
    run = subprocess.run([sys.executable, "-c", _CROWD, here], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    taken, dropped = map(float, run.stdout.split())
    assert dropped > 10, "more was asked for than there is room"
    assert taken < 1.5


def test_a_long_session_does_not_grow_with_the_square_of_its_length() -> None:
    start = Start(Choice(), display.named("boltzmann"), page_size=25, seed=1)
    shown = [[f"item {25 * n + k}" for k in range(25)] for n in range(400)]
    clicked: list[Event] = [Click(some[0], "like", tuple(some)) for some in shown]
    tracemalloc.start()
    try:
        state = fold([start, *clicked])
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(state.seen) == 10_000
    assert taken < 20_000_000


def test_engines_that_share_a_store_agree(two_views: Catalog, tmp_path: Path) -> None:
    address = str(tmp_path / "s.sqlite")
    first, second = engine(two_views, open_store(address)), engine(two_views, open_store(address))
    alone = engine(two_views)
    shown, lone = first.start(seed=9), alone.start(seed=9)
    for n in range(6):
        turn = (first, second)[n % 2]
        shown = turn.click(shown.id, shown.page.ids[n], "like", step=n)
        lone = alone.click(lone.id, lone.page.ids[n], "like", step=n)
        assert (shown.page, shown.belief) == (lone.page, lone.belief)
    first.undo(shown.id)
    assert second.show(shown.id) == first.show(shown.id)
    first.delete(shown.id)
    with pytest.raises(NotFound):
        second.click(shown.id, shown.page.ids[0], "like")
    first.close()
    second.close()


class Counting(MemoryStore):
    """A store that counts how often it is read."""

    reads = 0

    def load(self, session: str, after: int = 0) -> Kept | None:
        self.reads += 1
        return super().load(session, after)

    def remembered(self, scope: str, name: str) -> Remembered | None:
        self.reads += 1
        return super().remembered(scope, name)


def test_a_click_in_a_session_that_is_in_memory_reads_nothing(small: Catalog) -> None:
    store = Counting()
    one, two = engine(small, store), engine(small, store)
    shown = one.start()
    for n in range(3):
        key = Key(shown.id, f"click {n}", "f")
        shown = one.click(shown.id, shown.page.ids[0], "like", step=n, key=key)
    assert store.reads == 0
    # Somebody else writes: the step of before is refused, and the present one is not.
    other = two.click(shown.id, shown.page.ids[1], "dislike", step=3)
    with pytest.raises(Moved) as refused:
        one.click(shown.id, shown.page.ids[2], "like", step=3)
    assert refused.value.shown == other
    two.undo(shown.id)
    other = two.click(shown.id, other.page.ids[0], "like")
    again = one.click(shown.id, other.page.ids[1], "like", step=4)
    assert (again.step, again.likes) == (5, [*other.likes, other.page.ids[1]])
    two.delete(shown.id)
    with pytest.raises(NotFound):
        one.undo(shown.id)


class Forgetful(MemoryStore):
    """A store that keeps a click and then fails to say so."""

    def append(
        self, session: str, expected: int, event: Written, at: float, key: Key | None = None
    ) -> None:
        super().append(session, expected, event, at, key)
        raise StoreFailed("The connection was lost.")


def test_a_click_that_may_have_been_kept_is_never_done_again_by_itself(small: Catalog) -> None:
    one = engine(small, Forgetful())
    shown = one.start()
    with pytest.raises(StoreFailed):
        one.click(shown.id, shown.page.ids[0], "like")
    assert one.kept(shown.id).length == 2
    assert one.show(shown.id).likes == [shown.page.ids[0]]


def test_a_click_on_a_page_that_has_passed_is_refused_with_the_present_one(small: Catalog) -> None:
    one = engine(small)
    old = one.start()
    new = one.click(old.id, old.page.ids[0], "like", step=0)
    with pytest.raises(Moved) as refused:
        one.click(old.id, old.page.ids[1], "like", step=0)
    assert refused.value.shown == new
    assert one.show(old.id) == new


def test_what_cannot_be_done_leaves_no_trace(small: Catalog) -> None:
    one = engine(small)
    shown = one.start()
    with pytest.raises(Moved, match="nothing to undo") as refused:
        one.undo(shown.id)
    assert refused.value.shown == shown
    with pytest.raises(NotFound):
        one.click(shown.id, "no such item", "like")
    with pytest.raises(NotFound):
        one.click(shown.id, shown.page.ids[0], "like", shown=["no such item"])
    with pytest.raises(BadInput):
        one.say(shown.id, "  ")
    assert one.show(shown.id) == shown
    assert one.kept(shown.id).length == 1


def test_a_repeated_request_is_done_once_and_answered_as_before(small: Catalog) -> None:
    one = engine(small)
    begin = Key("me", "begin", "f")
    start = one.start(key=begin)
    key = Key(start.id, "k1", "f1")
    first = one.click(start.id, start.page.ids[0], "like", key=key)
    clicks(one, first, 3)
    for other in (one, engine(small, one.store)):
        assert other.click(start.id, start.page.ids[0], "like", key=key) == first
        assert other.start(key=begin) == start
    assert one.kept(start.id).length == 5
    assert one.store.count() == 1
    with pytest.raises(BadInput, match="different request"):
        one.click(start.id, start.page.ids[1], "like", key=Key(start.id, "k1", "f2"))


def test_of_many_threads_one_wins_each_step(small: Catalog, tmp_path: Path) -> None:
    address = str(tmp_path / "s.sqlite")
    engines = [engine(small, open_store(address)) for _ in range(2)]
    start = engines[0].start()
    won: list[int] = []

    def run(me: int) -> None:
        one = engines[me % 2]
        for _ in range(6):
            now = one.show(start.id)
            try:
                one.click(start.id, now.page.ids[me], "like", step=now.step)
                won.append(now.step)
            except Moved:
                pass

    _together(run, 4)
    assert sorted(won) == list(range(len(won)))
    assert engines[1].show(start.id).step == len(won)
    assert engines[0].show(start.id) == engines[1].show(start.id)
    for one in engines:
        one.close()


def test_clicks_without_a_step_are_all_kept(small: Catalog, tmp_path: Path) -> None:
    address = str(tmp_path / "s.sqlite")
    engines = [engine(small, open_store(address)) for _ in range(2)]
    start = engines[0].start()
    _together(
        lambda me: [
            engines[me % 2].click(start.id, f"item {me * 10 + n}", "like", ()) for n in range(5)
        ],
        4,
    )
    assert sorted(engines[0].show(start.id).likes) == sorted(
        f"item {me * 10 + n}" for me in range(4) for n in range(5)
    )
    for one in engines:
        one.close()


def _together(work: Callable[[int], object], count: int) -> None:
    failures: list[BaseException] = []

    def run(me: int) -> None:
        try:
            work(me)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(me,)) for me in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_belief_of_a_large_catalog_follows(two_views: Catalog) -> None:
    one, at_once = engine(two_views, at_once=10), engine(two_views)
    shown, other = one.start(seed=2), at_once.start(seed=2)
    for n in range(3):
        shown = one.click(shown.id, shown.page.ids[n], "like", step=n)
        other = at_once.click(other.id, other.page.ids[n], "like", step=n)
        assert shown.belief is None
        assert shown.page == other.page
    until(lambda: one.show(shown.id).belief is not None)
    assert one.show(shown.id).belief == other.belief
    assert one.background.failed == 0
    one.close()


def test_work_that_may_wait_waits_while_nobody_is_free(two_views: Catalog) -> None:
    free = threading.Event()
    one = engine(two_views, at_once=10, free=free.is_set)
    ids = [clicks(one, one.start(), 2).id for _ in range(3)]
    assert len(one.background) == 3
    assert all(one.show(id).belief is None for id in ids)
    free.set()
    until(lambda: all(one.show(id).belief is not None for id in ids))
    one.close()


def test_a_person_begins_with_what_their_last_session_taught(two_views: Catalog) -> None:
    one = engine(two_views)
    clicks(one, one.start(user="ann", seed=1), 6)
    last = clicks(one, one.start(user="ann", seed=2), 6)
    one.start(user="ann", seed=3)  # without clicks it teaches nothing
    fresh = one.start(user="ann", seed=4)
    plain = one.start(user="bob", personalise=True, seed=4)
    other_site = one.start(user="ann", owner="another site", personalise=True, seed=4)
    assert fresh.belief == plain.belief == other_site.belief
    known = one.start(user="ann", personalise=True, seed=4)
    assert known.belief is not None
    assert last.belief is not None
    assert fresh.belief is not None
    for view, weight in known.belief.views.items():
        even = fresh.belief.views[view]
        assert weight == pytest.approx(0.8 * last.belief.views[view] + 0.2 * even, abs=1e-4)
    start = from_json(one.kept(known.id).events[0])
    assert isinstance(start, Start)
    assert isinstance(start.model, Choice)
    assert start.model.weights is not None
    assert engine(two_views, one.store).show(known.id) == known
    with pytest.raises(BadInput, match="nobody"):
        one.start(personalise=True)


def test_a_user_vector_is_used(small: Catalog) -> None:
    one = engine(small)
    c = np.linspace(0, 2, 24)
    shown = clicks(one, one.start(user=c.tolist(), seed=1), 3)
    session = small.session(user=c, seed=1)
    for event in [from_json(one.kept(shown.id).events[n]) for n in (1, 2, 3)]:
        session.click(event.item, event.verdict, event.shown)  # type: ignore[union-attr]
    assert shown.page == session.page()
    assert one.store.count() == 1
    assert engine(small, one.store).show(shown.id) == shown


def test_sessions_are_forgotten_after_their_lifetime(small: Catalog) -> None:
    now = [1000.0]
    one = engine(small, lifetime=60.0, clock=lambda: now[0])
    old, used = one.start(), one.start()
    now[0] += 50
    one.click(used.id, used.page.ids[0], "like")
    now[0] += 20
    with pytest.raises(NotFound):
        one.show(old.id)
    assert one.show(used.id).step == 1
    assert one.expire() == 1
    assert one.store.count() == 1


def test_a_key_may_have_so_many_sessions(small: Catalog) -> None:
    one = engine(small, sessions_per_key=2)
    first = one.start(owner="site")
    one.start(owner="site")
    with pytest.raises(TooMany):
        one.start(owner="site")
    one.start(owner="other")
    one.start()
    one.delete(first.id)
    one.start(owner="site")


def test_ids_are_long_and_seeds_are_drawn(small: Catalog) -> None:
    one = engine(small)
    started = [one.start() for _ in range(20)]
    assert len({shown.id for shown in started}) == 20
    assert all(len(shown.id) == 22 for shown in started)
    assert len({one.kept(shown.id).events[0]["seed"] for shown in started}) == 20


def test_a_new_version_of_a_catalog_is_taken_up(tmp_path: Path) -> None:
    now = [0.0]
    folder = folder_of(tmp_path / "shop")
    catalogs = Catalogs({"shop": Catalog.open(folder)}, clock=lambda: now[0])
    one = Engine(catalogs, MemoryStore())
    shown = clicks(one, one.start(), 2)
    gone = shown.page.ids[0]
    other = one.click(one.start().id, gone, "like")
    more = [{"id": "new", "title": "new thing", "price": 1, "vector": [0.5] * 12}]
    update.add(folder, jsonl(tmp_path / "more.jsonl", more), options=options())
    assert one.show(shown.id) == shown
    now[0] = 2.0
    assert one.show(shown.id).page.total == 121
    assert one.show(shown.id).likes == shown.likes
    update.remove(folder, ids=[gone])
    now[0] = 4.0
    assert one.start().page.total == 120
    assert other.likes == [gone]


def test_names_of_catalogs(small: Catalog, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="name"):
        Catalogs({"../x": small})
    with pytest.raises(BadInput, match="no catalog"):
        Catalogs({})
    two = Catalogs({"a": small, "b": made(20)})
    assert two.get()[0] == "a"
    assert len(two.get("b")[1]) == 20
    with pytest.raises(NotFound):
        two.get("c")
    folder = folder_of(tmp_path / "shop", 12)
    opened = Catalogs.open([str(folder), f"again={folder}"])
    assert opened.names == ["shop", "again"]
    with pytest.raises(BadInput, match="two catalogs"):
        Catalogs.open([str(folder), str(folder)])


def test_a_pool_refuses_what_would_wait_too_long() -> None:
    pool = Pool(2, 1)
    go = threading.Event()
    begun = [pool.submit(go.wait) for _ in range(3)]
    assert pool.waiting == 1
    assert not pool.idle
    with pytest.raises(Busy):
        pool.submit(go.wait)
    assert pool.refused == 1
    go.set()
    assert all(one.result() for one in begun)
    until(lambda: pool.idle)
    assert pool.submit(lambda: 7).result() == 7
    pool.close()


def test_a_session_whose_catalog_changed_too_much_says_so(small: Catalog) -> None:
    store = MemoryStore()
    shown = clicks(engine(small, store), engine(small, store).start(), 1)
    fewer = made(20)
    with pytest.raises(Conflict, match="changed"):
        engine(fewer, store).click(shown.id, "item 1", "like", step=0)
