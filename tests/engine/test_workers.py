"""Work that may wait, and requests that cannot."""

from __future__ import annotations

import threading

import pytest

from seeker import Catalog
from seeker.engine import BusyError, WorkerPool
from seeker.session import Click
from support.catalogs import random_catalog
from support.engines import clicks, engine
from support.servers import TIMEOUT_SECONDS, until


def test_the_belief_of_a_large_catalog_follows(two_views: Catalog) -> None:
    one, at_once = engine(two_views, max_belief_items=10), engine(two_views)
    shown, other = one.start(seed=2), at_once.start(seed=2)
    for n in range(3):
        shown = one.act(shown.id, Click(shown.page.ids[n], "like"), n)
        other = at_once.act(other.id, Click(other.page.ids[n], "like"), n)
        assert shown.belief is None
        assert shown.page == other.page
    until(lambda: one.show(shown.id).belief is not None)
    assert one.show(shown.id).belief == other.belief
    assert one.background.failed == 0
    one.close()


def test_work_that_may_wait_waits_while_nobody_is_free(two_views: Catalog) -> None:
    free = threading.Event()
    one = engine(two_views, max_belief_items=10, free=free.is_set)
    ids = [clicks(one, one.start(), 2).id for _ in range(3)]
    assert len(one.background) == 3
    assert all(one.show(id).belief is None for id in ids)
    free.set()
    until(lambda: all(one.show(id).belief is not None for id in ids))
    one.close()


def test_nothing_waits_where_nothing_is_to_be_refreshed(two_views: Catalog) -> None:
    one, usual = (
        engine(two_views, max_belief_items=10, refresh=False),
        engine(two_views, max_belief_items=10),
    )
    shown, other = clicks(one, one.start(seed=2), 3), clicks(usual, usual.start(seed=2), 3)
    assert len(one.background) == 0
    until(lambda: usual.show(other.id).belief is not None)
    assert one.show(shown.id).belief is None
    assert one.show(shown.id).page == other.page
    one.close()
    usual.close()


def test_a_pool_refuses_what_would_wait_too_long() -> None:
    pool = WorkerPool(2, 1)
    go = threading.Event()
    begun = [pool.submit(go.wait) for _ in range(3)]
    assert pool.waiting == 1
    assert not pool.idle
    with pytest.raises(BusyError):
        pool.submit(go.wait)
    assert pool.refused == 1
    go.set()
    assert all(one.result() for one in begun)
    until(lambda: pool.idle)
    assert pool.submit(lambda: 7).result() == 7
    pool.close()


def test_a_call_that_has_waited_too_long_is_refused_when_its_turn_comes() -> None:
    now = [0.0]
    pool = WorkerPool(1, 2, seconds=10.0, clock=lambda: now[0])
    begun, go = threading.Event(), threading.Event()

    def hang() -> bool:
        begun.set()
        return go.wait()

    first = pool.submit(hang)
    begun.wait()
    late = pool.submit(lambda: 7)
    now[0] = 11.0
    punctual = pool.submit(lambda: 8)
    assert pool.full
    go.set()
    assert first.result()
    with pytest.raises(BusyError):
        late.result()
    assert punctual.result() == 8
    assert pool.close(60.0)


def test_brief_calls_do_not_wait_for_long_ones() -> None:
    pool = WorkerPool(1, 20, max_long=1)
    go = threading.Event()
    long = [pool.submit(go.wait) for _ in range(9)]
    assert [pool.submit(lambda: 7, brief=True).result(TIMEOUT_SECONDS) for _ in range(3)] == [7] * 3
    assert not any(one.done() for one in long)
    go.set()
    assert all(one.result() for one in long)
    assert pool.close(60.0)


def test_a_brief_call_that_takes_long_after_all_leaves_its_own_turn() -> None:
    pool = WorkerPool(1, 20, max_long=2)
    begun, go = threading.Event(), threading.Event()

    def replay() -> bool:
        with pool.aside():
            begun.set()
            return go.wait()

    replayed = pool.submit(replay, brief=True)
    assert begun.wait(TIMEOUT_SECONDS)
    assert pool.submit(lambda: 7, brief=True).result(TIMEOUT_SECONDS) == 7
    held = pool.submit(go.wait)
    waits = pool.submit(lambda: 8)
    assert not waits.done(), "there is one turn for ordinary calls, and it is taken"
    go.set()
    assert replayed.result()
    assert held.result()
    assert waits.result() == 8
    assert pool.close(60.0)


def test_searches_in_small_catalogs_are_brief(two_views: Catalog) -> None:
    one, large = engine(two_views), engine(two_views, max_belief_items=10)
    assert one.brief_start(None)
    assert not large.brief_start(None)
    assert one.brief(clicks(one, one.start(), 2).id)
    assert not large.brief(clicks(large, large.start(), 2).id)
    assert not one.brief("of nobody in memory")
    one.close()
    large.close()


def test_clicks_in_a_small_catalog_are_quick_as_soon_as_it_is_served() -> None:
    """What they need is not left to the background, which may have no time for hours."""
    # A catalog of its own: what others share of theirs was limited when they began to share it.
    one = engine(random_catalog(dims=(24, 9)), free=lambda: False)
    one.warm()
    one.expire()  # so that what is old is known without asking the store
    shown = one.start(seed=2)
    pending = one.begin(shown.id, Click(shown.page.ids[0], "like"), 0)
    assert pending is not None
    assert pending.finish().step == 1
    one.close()


def test_a_pool_that_hangs_is_not_waited_for_without_end() -> None:
    pool = WorkerPool(1, 0)
    go = threading.Event()
    hangs = pool.submit(go.wait)
    assert not pool.close(0.01)
    go.set()
    assert hangs.result()
    assert pool.close(60.0)
