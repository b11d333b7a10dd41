"""What a refresh finds out for the next page: it saves reading all bounds, and changes nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

import numpy as np
import pytest

from seeker import Catalog, Session, display, models
from seeker.cluster import ClusterCatalog, Fleet, InProcessShards
from seeker.errors import Conflict
from seeker.kernels.parallel import Interrupted
from seeker.models.scores import DEFAULT_LIMITS, Scores
from support.catalogs import random_catalog
from support.limits import limited

SORTED_ITEMS = DEFAULT_LIMITS.sorted_items
ITEMS = 3 * SORTED_ITEMS
LARGE = random_catalog(ITEMS, dims=(8, 5))
AHEAD = limited(LARGE, prefetch_items=0)
"""The same, where the pages of the next click are found before it."""
SHARDS: list[Callable[[Catalog], Any]] = [
    lambda catalog: catalog,
    lambda catalog: ClusterCatalog.over(catalog, Fleet(InProcessShards(catalog.views, 2))),
]


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all scans of bounds from now on."""
    from seeker.kernels import noise

    done: list[int] = []
    scan = noise.bound

    def noted(upper: Any, *others: Any) -> Any:
        done.append(len(upper))
        return scan(upper, *others)

    monkeypatch.setattr(noise, "bound", noted)
    return done


def both_click(one: Session, other: Session, place: int, liked: bool) -> None:
    """Judge the same item of the same page in two sessions."""
    page = one.page().ids
    assert page == other.page().ids
    for session in (one, other):
        session.click(page[place], "like" if liked else "dislike", shown=page)


@pytest.mark.parametrize("over", SHARDS, ids=["alone", "shards"])
@pytest.mark.parametrize("model", [models.Choice(), models.Pairwise(alpha=10.0)])
def test_after_a_refresh_a_click_does_not_go_through_all_items(
    model: models.Model, over: Callable[[Catalog], Any], scans: list[int]
) -> None:
    refreshed, plain = over(LARGE).session(model=model, seed=4), LARGE.session(model=model, seed=4)
    for _ in range(9):
        both_judge(refreshed, plain, 77)
        refreshed.page()
        refreshed.refresh()
    both_judge(refreshed, plain, 77)
    scans.clear()
    page = refreshed.page()
    assert not scans
    assert page == plain.page()
    assert refreshed.more(12, 48) == plain.more(12, 48)


def both_judge(one: Session, other: Session, target: int) -> None:
    """Like what is nearest to a target on the same page of two sessions, or dislike the farthest.

    They know where they are going, so that few items are left after some clicks.
    """
    vectors = LARGE.views["image"].vectors
    rows = [LARGE.row(item) for item in one.page().ids]
    away = ((vectors[rows] - vectors[target]) ** 2).sum(axis=1)
    both_click(one, other, int(away.argmin() if one.step % 2 else away.argmax()), one.step % 2 == 1)


def searched_ahead(seed: int, target: int) -> tuple[Session, Session]:
    """Return two sessions after the same ten clicks, the first refreshed after each of them."""
    refreshed, plain = (AHEAD.session(seed=seed) for _ in range(2))
    for _ in range(10):
        both_judge(refreshed, plain, target)
        refreshed.page()
        refreshed.refresh()
    return refreshed, plain


EVENTS: list[Callable[[Session, str], None]] = [
    lambda session, item: session.like(item),
    lambda session, item: session.dislike(item),
    lambda session, item: session.like(item, shown=[item]),
    lambda session, item: session.undo(),
    lambda session, item: session.redo(),
    lambda session, item: session.clear(item),
    lambda session, item: session.filter({"kind": ["kind 1", "kind 3"]}),
    lambda session, item: session.filter(None),
    lambda session, item: session.explore(2.0),
    lambda session, item: session.say([1.0, -1.0, 0.5, 2.0, 0.0], view="colour"),
]


@pytest.mark.parametrize("repeat", ["never", "unrated", "always"])
@pytest.mark.parametrize(
    "strategy",
    [
        display.Boltzmann(),
        display.Boltzmann(c=3.0),
        display.Boltzmann(schedule=[1.0, 4.0, 4.0, 0.5]),
        display.Greedy(),
        display.EpsilonGreedy(epsilon=0.3),
        display.Diverse(),
        display.Informative(pool=24, targets=48),
        display.CorrelatedBoltzmann(),
        display.CorrelatedBoltzmann(c=2.0, correlation=1.0, reach=0.01),
    ],
    ids=lambda strategy: f"{strategy.name}",
)
@pytest.mark.parametrize("ahead", [True, False], ids=["ahead", "listed"])
def test_whatever_happens_after_a_refresh_pages_stay_the_same(
    strategy: display.Strategy, repeat: str, ahead: bool
) -> None:
    chance = random.Random(len(repeat))
    start: dict[str, Any] = {"strategy": strategy, "repeat": repeat, "seed": 9}
    refreshed, plain = (AHEAD if ahead else LARGE).session(**start), LARGE.session(**start)
    for _ in range(16):
        page = refreshed.page().ids
        assert page == plain.page().ids
        if chance.random() < 0.8:
            refreshed.refresh()
        event, item = chance.choice(EVENTS), chance.choice([*page, *refreshed.likes])
        for session in (refreshed, plain):
            with suppress(Conflict):
                event(session, item)


def test_copies_beyond_the_list_are_not_forgotten() -> None:
    rng = np.random.default_rng(0)
    few = rng.normal(size=(7, 4))
    catalog = Catalog.from_arrays(
        [str(n) for n in range(ITEMS)], {"view": few[rng.integers(7, size=ITEMS)]}
    )
    for strategy in (display.Greedy(), display.Boltzmann()):
        refreshed, plain = (catalog.session(strategy=strategy, seed=2) for _ in range(2))
        for step in range(5):
            both_click(refreshed, plain, step, step % 2 == 1)
            refreshed.page()
            refreshed.refresh()
        assert refreshed.more(0, 3000) == plain.more(0, 3000)


def test_what_is_unseen_again_comes_back() -> None:
    refreshed, plain = (LARGE.session(strategy=display.Greedy(), seed=5) for _ in range(2))
    for _ in range(4):
        both_judge(refreshed, plain, 77)
    best = refreshed.page().ids
    for session in (refreshed, plain):
        session.like(best[0], shown=best)
        session.clear(best[0])
    refreshed.page()
    refreshed.refresh()
    for session in (refreshed, plain):
        session.undo(2)
        for item in best[:3]:
            session.like(item, shown=best[:3])
    assert refreshed.page().ids == plain.page().ids
    assert set(best[3:]) & set(plain.page().ids)


@pytest.mark.parametrize("stopped", [None, 3, 7])
def test_pages_found_ahead_are_the_pages(stopped: int | None) -> None:
    """stopped: how often the work may go on before it is told to stop."""
    for seed in range(3):
        refreshed, plain = (AHEAD.session(seed=seed) for _ in range(2))
        for _ in range(9):
            both_judge(refreshed, plain, 77 + seed)
            refreshed.page()
            refreshed.refresh()
        both_judge(refreshed, plain, 77 + seed)
        page, entropy = refreshed.page().ids, refreshed.belief.entropy
        turns = count()
        with suppress(Interrupted):
            refreshed.refresh(lambda: stopped is not None and next(turns) >= stopped)  # noqa: B023
        assert refreshed.page().ids == page
        assert refreshed.belief.entropy == entropy
        for item in (page[0], page[-1]):
            for verdict in ("like", "dislike"):
                for session in (refreshed, plain):
                    session.click(item, verdict, shown=page)
                assert refreshed.page() == plain.page()
                assert refreshed.more(5, 40) == plain.more(5, 40)
                assert refreshed.belief.entropy == plain.belief.entropy
                for session in (refreshed, plain):
                    session.undo()


def test_a_click_that_was_looked_ahead_to_scores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    refreshed, plain = searched_ahead(seed=4, target=77)
    page = refreshed.page().ids
    for session in (refreshed, plain):
        session.like(page[4])
    scored: list[int] = []
    at = Scores.at

    def noted(self: Scores, rows: Any) -> Any:
        scored.append(len(rows))
        return at(self, rows)

    monkeypatch.setattr(Scores, "at", noted)
    found = refreshed.page()
    assert not scored
    assert found == plain.page()


def test_a_page_found_ahead_is_not_for_another_moment() -> None:
    refreshed, plain = searched_ahead(seed=4, target=77)
    page = refreshed.page().ids
    for session in (refreshed, plain):
        session.explore(3.0)
        session.like(page[0], shown=page)
    assert refreshed.page() == plain.page()


def test_nothing_is_looked_ahead_to_where_every_click_measures_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catalog = random_catalog(SORTED_ITEMS + 500, dims=(4,), metric="manhattan")
    session = limited(catalog, prefetch_items=0).session(seed=1)
    session.like(session.page().ids[0])
    session.page()
    pending: list[bool] = []
    catch_up = Scores.catch_up

    def noted(self: Scores, *given: Any) -> None:
        pending.append(self.pending)
        catch_up(self, *given)

    monkeypatch.setattr(Scores, "catch_up", noted)
    session.refresh()
    assert not any(pending)
