"""The belief cache: bounded by memory, and no answer depends on what is in it."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from seeker import Catalog
from seeker.engine import Catalogs, Engine
from seeker.engine.cache import IDLE_SECONDS, LEAST_CACHE_BYTES, usual_cache_bytes
from seeker.session import Click, Undo
from seeker.stores import MemoryStore
from support.catalogs import random_catalog
from support.engines import clicks, engine

EYES = {"image": [1.0, 2.0] * 12}
"""Who sees otherwise than others shares no distances with them, and so has more to keep."""


def test_a_cache_of_nothing_answers_as_a_cache_of_everything(two_views: Catalog) -> None:
    store = MemoryStore()
    large, none = engine(two_views, store), engine(two_views, store, cache_bytes=0)
    shown = clicks(large, large.start(seed=1), 5)
    assert none.show(shown.id) == shown
    assert len(none.cache) == 0
    after = none.act(shown.id, Click(shown.page.ids[3], "dislike"), 5)
    assert large.show(shown.id) == after
    assert none.act(shown.id, Undo()) == large.show(shown.id)
    assert large.cache.hits >= 5


def test_processes_share_an_eighth_of_the_machine_and_have_something_anyhow() -> None:
    alone, tenth = usual_cache_bytes(1), usual_cache_bytes(10)
    assert alone >= tenth >= LEAST_CACHE_BYTES
    assert usual_cache_bytes(10**9) == LEAST_CACHE_BYTES
    if alone > LEAST_CACHE_BYTES:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        assert alone <= machine // 8


def test_the_cache_keeps_to_its_bytes_and_drops_the_oldest(two_views: Catalog) -> None:
    one = engine(two_views)
    first = clicks(one, one.start(user=EYES), 2)
    room = 3 * one.cache.bytes
    one = engine(two_views, one.store, cache_bytes=room)
    ids = [clicks(one, one.start(user=EYES), 2).id for _ in range(12)]
    assert 0 < one.cache.bytes <= room
    assert 3 < len(one.cache) < 12, "light sessions find room before any is dropped"
    assert one.cache.dropped
    assert one.cache.take(ids[0]) is None
    assert one.cache.take(ids[-1]) is not None
    assert one.show(first.id) == first


def _spare_bytes(one: Engine, *ids: str) -> list[int]:
    """Take sessions out of a cache, and return what of each takes little to compute again."""
    entries = [one.cache.take(id) for id in ids]
    return [entry.session.spare_bytes for entry in entries if entry is not None]


def test_what_is_quickly_there_again_has_a_part_of_the_memory_only() -> None:
    catalog = random_catalog(1200, dims=(24, 8))
    catalog.preload()
    one, other = engine(catalog), engine(catalog)
    kept = [clicks(other, other.start(seed=seed), 3) for seed in range(12)]
    one.cache.limit = other.cache.bytes  # of which half is for sums
    shown = [clicks(one, one.start(seed=seed), 3) for seed in range(12)]
    assert one.cache.bytes < other.cache.bytes
    for turn in range(4):
        for n, each in enumerate(shown):
            assert (each.page, each.belief) == (kept[n].page, kept[n].belief)
            event = Undo() if (n + turn) % 4 == 3 else Click(each.page.ids[turn], "like")
            shown[n], kept[n] = one.act(each.id, event), other.act(kept[n].id, event)
    assert (one.cache.dropped, one.cache.misses, len(one.cache)) == (0, 0, 12)
    assert 0 < sum(_spare_bytes(one, *(each.id for each in shown))) <= one.cache.limit // 2


@pytest.mark.parametrize("seconds", [1.0, 31.0])
def test_who_has_not_clicked_for_long_gives_way_to_others(seconds: float) -> None:
    catalog = random_catalog(1200, dims=(24, 8))
    catalog.preload()
    one, now = engine(catalog), 0.0
    one.cache.clock = lambda: now
    idle = clicks(one, one.start(seed=0), 1)
    busy = clicks(one, one.start(seed=1), 1)
    one.cache.limit = 5 * one.cache.bytes // 4  # and half of it is room for one of them
    now = seconds
    busy = clicks(one, busy, 1)
    gave_way = seconds > IDLE_SECONDS
    assert [size == 0 for size in _spare_bytes(one, idle.id, busy.id)] == [gave_way, not gave_way]


def test_who_has_not_clicked_for_long_takes_little_memory() -> None:
    catalog = random_catalog(1200, dims=(24, 8))
    catalog.preload()
    one, now = engine(catalog), 0.0
    one.cache.clock = lambda: now
    idle, busy = (clicks(one, one.start(seed=seed), 3) for seed in range(2))
    before = one.cache.bytes
    now = 20.0
    busy = clicks(one, busy, 1)
    now = 40.0
    one.look_around()
    other = engine(catalog, one.store)
    assert one.cache.bytes < 0.7 * before
    assert clicks(one, idle, 1) == other.show(idle.id)
    assert [size > 0 for size in _spare_bytes(one, idle.id, busy.id)] == [True, True]


def test_what_is_quickly_there_again_goes_before_anything_else_where_memory_is_short() -> None:
    small, large = random_catalog(1200, dims=(24, 8)), random_catalog(5000, dims=(6,))
    small.preload()
    one, other = (Engine(Catalogs({"s": small, "l": large}), MemoryStore()) for _ in range(2))
    clicks(other, other.start("l"), 2)
    ids = [clicks(one, one.start("s", seed=seed), 2).id for seed in range(3)]
    one.cache.limit = one.cache.bytes + other.cache.bytes - 1
    clicks(one, one.start("l"), 2)
    assert (one.cache.dropped, len(one.cache)) == (0, 4)
    assert [size > 0 for size in _spare_bytes(one, *ids)] == [False, True, True]


def test_a_session_that_was_lightened_answers_as_before(two_views: Catalog) -> None:
    one = engine(two_views)
    shown = clicks(one, one.start(seed=3, user=EYES), 3)
    before = one.cache.bytes
    one.cache.limit = before - 1
    assert one.show(shown.id) == shown
    assert 0 < one.cache.bytes < before
    assert (one.cache.dropped, one.cache.misses) == (0, 0)
    other = engine(two_views, one.store)
    other.show(shown.id)
    for n in range(3):
        shown = one.act(shown.id, Click(shown.page.ids[n], "like"), shown.step)
        assert other.show(shown.id) == shown
    assert one.act(shown.id, Undo(4)) == other.show(shown.id)


def test_what_is_dropped_is_freed_at_once() -> None:
    one = engine(random_catalog(4000, dims=(24, 9)))
    gc.disable()
    tracemalloc.start()
    try:
        shown = clicks(one, one.start(), 3)
        entry = one.cache.take(shown.id)
        assert entry is not None
        kept = entry.session.nbytes
        one.cache.put(shown.id, entry)
        del entry
        before, _ = tracemalloc.get_traced_memory()
        one.cache.forget(shown.id)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert before - after > kept > 100_000


_CROWD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support.catalogs import random_catalog
from seeker.engine import Catalogs, Engine
from seeker.session import Click
from seeker.stores import MemoryStore

def own():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))

limit = 16_000_000
one = Engine(Catalogs({"shop": random_catalog(15_000, (6,))}), MemoryStore(), cache_bytes=limit)
one.warm()
before = own()
for seed in range(60):
    shown = one.start(seed=seed)
    for n in range(2):
        shown = one.act(shown.id, Click(shown.page.ids[n], "like"))
print((own() - before) / limit, one.cache.dropped)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_the_limit_of_the_cache_bounds_what_sessions_take_of_the_process() -> None:
    here = str(Path(__file__).parents[1])
    run = subprocess.run([sys.executable, "-c", _CROWD, here], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    taken, dropped = map(float, run.stdout.split())
    assert dropped > 10, "more was asked for than there is room"
    assert taken < 1.5
