"""Each thing happens once, whoever asks for it, how often, and in how many processes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from seeker import BadInput, Catalog, NotFound
from seeker.engine import StaleStepError
from seeker.session import Click, Undo
from seeker.stores import (
    IdempotencyKey,
    IdempotencyRecord,
    MemoryStore,
    StaleWriteError,
    StoredSession,
    StoreError,
    open_store,
)
from seeker.stores.base import EventJson
from support.catalogs import random_catalog
from support.engines import clicks, engine


def test_engines_that_share_a_store_agree(two_views: Catalog, tmp_path: Path) -> None:
    address = str(tmp_path / "s.sqlite")
    first, second = engine(two_views, open_store(address)), engine(two_views, open_store(address))
    alone = engine(two_views)
    shown, lone = first.start(seed=9), alone.start(seed=9)
    for n in range(6):
        turn = (first, second)[n % 2]
        shown = turn.act(shown.id, Click(shown.page.ids[n], "like"), n)
        lone = alone.act(lone.id, Click(lone.page.ids[n], "like"), n)
        assert (shown.page, shown.belief) == (lone.page, lone.belief)
    first.act(shown.id, Undo())
    assert second.show(shown.id) == first.show(shown.id)
    first.delete(shown.id)
    with pytest.raises(NotFound):
        second.act(shown.id, Click(shown.page.ids[0], "like"))
    first.close()
    second.close()


def preloaded() -> Catalog:
    catalog = random_catalog(dims=(24, 9))
    catalog.preload()
    return catalog


def test_a_click_begun_at_once_is_the_click_that_a_thread_makes(
    tmp_path: Path,
) -> None:
    catalog = preloaded()
    quick, usual = engine(catalog, open_store(str(tmp_path / "s.sqlite"))), engine(catalog)
    quick.expire()  # so that what is old is known without asking the store
    shown, same = quick.start(seed=3), usual.start(seed=3)
    for n in range(5):
        click = Click(shown.page.ids[n], "dislike" if n % 2 else "like")
        pending = quick.begin(shown.id, click, n)
        assert pending is not None
        shown, same = pending.finish(), usual.act(same.id, click, n)
        assert (shown.page, shown.belief, shown.step) == (same.page, same.belief, same.step)
        assert quick.show(shown.id) == shown
    quick.close()


def test_nothing_is_begun_at_once_that_may_have_to_wait() -> None:
    one = engine(preloaded())
    shown = one.start()
    click = Click(shown.page.ids[0], "like")
    assert one.begin(shown.id, click) is None, "whether it is old is not known"
    one.expire()
    assert one.begin("another", click) is None
    assert one.begin(shown.id, Undo()) is None
    assert one.begin(shown.id, Click("no such item", "like")) is None
    assert one.begin(shown.id, click, step=1) is None
    pending = one.begin(shown.id, click)
    assert pending is not None
    assert one.begin(shown.id, click) is None, "somebody is at it"
    assert pending.finish().likes == [click.item]
    large = engine(random_catalog(items=300))
    large.expire()
    shown = large.start()
    assert large.begin(shown.id, Click(shown.page.ids[0], "like")) is None, "distances are missing"


def test_what_was_begun_and_could_not_be_shown_is_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = engine(preloaded(), open_store(str(tmp_path / "s.sqlite")))
    one.expire()
    shown = one.start(seed=4)
    click = Click(shown.page.ids[0], "like")
    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "items", None)
        with pytest.raises(TypeError):
            one.begin(shown.id, click)
    one.start()  # the writes are made in their order
    now = one.show(shown.id)
    assert (now.step, now.likes) == (1, [click.item])
    assert [event["type"] for event in one.stored(shown.id).events] == ["start", "click"]
    pending = one.begin(shown.id, Click(now.page.ids[0], "like"), now.step)
    assert pending is not None
    assert pending.finish().step == 2
    one.close()


def test_what_was_begun_and_not_stored_leaves_no_trace(tmp_path: Path) -> None:
    catalog, address = preloaded(), str(tmp_path / "s.sqlite")
    first, second = engine(catalog, open_store(address)), engine(catalog, open_store(address))
    first.expire()
    shown = first.start(seed=4)
    other, mine = shown.page.ids[:2]
    second.act(shown.id, Click(other, "dislike"), 0)
    pending = first.begin(shown.id, Click(mine, "like"), 0)
    assert pending is not None
    with pytest.raises(StaleWriteError):
        pending.finish()
    with pytest.raises(StaleStepError) as refused:
        first.act(shown.id, Click(mine, "like"), 0)
    assert refused.value.snapshot == second.show(shown.id)
    now = first.act(shown.id, Click(mine, "like"), 1)
    assert (now.likes, now.dislikes) == ([mine], [other])
    assert second.show(shown.id) == now
    first.close()
    second.close()


class Counting(MemoryStore):
    """A store that counts how often it is read."""

    reads = 0

    def load(self, session: str, after: int = 0) -> StoredSession | None:
        self.reads += 1
        return super().load(session, after)

    def idempotency_record(self, scope: str, name: str) -> IdempotencyRecord | None:
        self.reads += 1
        return super().idempotency_record(scope, name)


def test_a_click_in_a_session_that_is_in_memory_reads_nothing(small: Catalog) -> None:
    store = Counting()
    one, two = engine(small, store), engine(small, store)
    shown = one.start()
    for n in range(3):
        key = IdempotencyKey(shown.id, f"click {n}", "f")
        shown = one.act(shown.id, Click(shown.page.ids[0], "like"), n, key)
    assert store.reads == 0
    # Somebody else writes: the step of before is refused, and the present one is not.
    other = two.act(shown.id, Click(shown.page.ids[1], "dislike"), 3)
    with pytest.raises(StaleStepError) as refused:
        one.act(shown.id, Click(shown.page.ids[2], "like"), 3)
    assert refused.value.snapshot == other
    two.act(shown.id, Undo())
    other = two.act(shown.id, Click(other.page.ids[0], "like"))
    again = one.act(shown.id, Click(other.page.ids[1], "like"), 4)
    assert (again.step, again.likes) == (5, [*other.likes, other.page.ids[1]])
    two.delete(shown.id)
    with pytest.raises(NotFound):
        one.act(shown.id, Undo())


class Forgetful(MemoryStore):
    """A store that keeps a click and then fails to say so."""

    def append(
        self,
        session: str,
        expected: int,
        event: EventJson,
        at: float,
        key: IdempotencyKey | None = None,
    ) -> None:
        super().append(session, expected, event, at, key)
        raise StoreError("The connection was lost.")


def test_a_click_that_may_have_been_kept_is_never_done_again_by_itself(small: Catalog) -> None:
    one = engine(small, Forgetful())
    shown = one.start()
    with pytest.raises(StoreError):
        one.act(shown.id, Click(shown.page.ids[0], "like"))
    assert one.stored(shown.id).length == 2
    assert one.show(shown.id).likes == [shown.page.ids[0]]


def test_a_click_on_a_page_that_has_passed_is_refused_with_the_present_one(small: Catalog) -> None:
    one = engine(small)
    old = one.start()
    new = one.act(old.id, Click(old.page.ids[0], "like"), 0)
    with pytest.raises(StaleStepError) as refused:
        one.act(old.id, Click(old.page.ids[1], "like"), 0)
    assert refused.value.snapshot == new
    assert one.show(old.id) == new


def test_a_repeated_request_is_done_once_and_answered_as_before(small: Catalog) -> None:
    one = engine(small)
    begin = IdempotencyKey("me", "begin", "f")
    start = one.start(key=begin)
    key = IdempotencyKey(start.id, "k1", "f1")
    first = one.act(start.id, Click(start.page.ids[0], "like"), key=key)
    clicks(one, first, 3)
    for other in (one, engine(small, one.store)):
        assert other.act(start.id, Click(start.page.ids[0], "like"), key=key) == first
        assert other.start(key=begin) == start
    assert one.stored(start.id).length == 5
    assert one.store.count() == 1
    with pytest.raises(BadInput, match="different request"):
        one.act(
            start.id, Click(start.page.ids[1], "like"), key=IdempotencyKey(start.id, "k1", "f2")
        )


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
                one.act(start.id, Click(now.page.ids[me], "like"), now.step)
                won.append(now.step)
            except StaleStepError:
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
            engines[me % 2].act(start.id, Click(f"item {me * 10 + n}", "like", ()))
            for n in range(5)
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
