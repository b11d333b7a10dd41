"""Long work in the background: it neither outlives the service nor keeps half a truth."""

from __future__ import annotations

import threading

import pytest

from seeker.engine.workers import BackgroundWorker, SpareTime
from support.catalogs import random_catalog
from support.engines import clicks, engine
from support.servers import TIMEOUT_SECONDS, until


def test_a_long_task_does_not_keep_a_service_from_ending() -> None:
    background, begun = BackgroundWorker(lambda: True), threading.Event()

    def long() -> None:
        begun.set()
        while not background.should_stop():
            pass

    background.submit("a look at ten million items", long)
    assert begun.wait(TIMEOUT_SECONDS)
    background.close()
    assert background.failed == 0


def test_what_comes_last_comes_after_all_others_and_makes_way_first() -> None:
    free, done = threading.Event(), list[str]()
    finished = threading.Event()
    background = BackgroundWorker(free.is_set, max_tasks=3)
    background.submit("ahead", lambda: done.append("ahead"), last=True)
    background.submit("one", finished.set)
    background.submit("two", lambda: done.append("two"))
    background.submit("behind", lambda: done.append("behind"), last=True)
    assert len(background) == 3
    assert background.dropped == 1
    free.set()
    assert finished.wait(TIMEOUT_SECONDS)
    background.close()
    assert done[0] == "two"
    assert "behind" not in done


def test_what_everybody_gains_by_is_not_left_out() -> None:
    free, done, last = threading.Event(), list[str](), threading.Event()
    background = BackgroundWorker(free.is_set, max_tasks=2)
    background.submit("catalog", last.set, keep=True)
    for name in ["one", "two", "three", "four"]:
        background.submit(name, lambda name=name: done.append(name))  # type: ignore[misc]
    assert len(background) == 3
    assert background.dropped == 2
    free.set()
    assert last.wait(TIMEOUT_SECONDS)
    background.close()
    assert done == ["four", "three"]


def test_spare_time_is_a_share_of_all_time() -> None:
    now = 0.0
    spare = SpareTime(share=0.1, saved_seconds=0.5, clock=lambda: now)
    with spare.spend() as there_is:
        assert there_is
        now += 1.5  # one second too long
    for _ in range(5):
        with spare.spend() as there_is:
            assert not there_is
        now += 1.0
    assert spare.skipped == 5
    now += 5.0
    with spare.spend() as there_is:
        assert there_is
    now += 100.0
    with spare.spend() as there_is:
        now += 0.6  # no more than half a second was saved
    with spare.spend() as there_is:
        assert not there_is


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_a_belief_does_not_wait_for_spare_time(share: float) -> None:
    one = engine(random_catalog(300), max_belief_items=0)
    one.background.spare_time = SpareTime(share, saved_seconds=5 * share)
    try:
        snapshot = clicks(one, one.start(None, seed=3), 3)
        until(lambda: one.show(snapshot.id).belief)
        assert one.show(snapshot.id).page == snapshot.page
        until(lambda: not len(one.background))
    finally:
        one.close()
    assert bool(one.background.spare_time.skipped) == (share == 0.0)
