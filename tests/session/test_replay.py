"""A session is its events: replay and undo bring it back to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seeker import Catalog, Session, display
from seeker.models import Bipartite, Choice, Pairwise, Relative
from seeker.session.events import fold
from support.catalogs import random_catalog
from support.events import assert_same, do, events, through_json
from support.limits import limited

STRATEGIES: list[display.Strategy] = [
    display.Boltzmann(),
    display.Boltzmann(c=1.0, score="probability", first="ranked"),
    display.Boltzmann(schedule=[1.0, 2.0, float("inf")]),
    display.Greedy(),
    display.EpsilonGreedy(0.25),
    display.Random(),
    display.Diverse(base=display.EpsilonGreedy(0.1), criterion="determinantal"),
    display.Informative(),
]


MODELS = [
    Choice(),
    Choice(sigmas=(0.2, 0.1), weights=(1, 2)),
    Relative(),
    Pairwise(2.0),
    Bipartite(),
]


@given(events, st.sampled_from(MODELS), st.sampled_from(STRATEGIES), st.integers(0, 2**70))
def test_a_replay_is_the_session_to_the_bit(
    happened: list[tuple[str, int]], model: Any, strategy: display.Strategy, seed: int
) -> None:
    catalog = random_catalog(150)
    prior = np.linspace(-2, 0, 150) if seed % 2 else None
    session = catalog.session(model=model, strategy=strategy, seed=seed, prior=prior)
    for what, choice in happened:
        do(session, what, choice)
    assert_same(session, Session.replay(catalog, session.events))
    assert_same(session, through_json(session))


@given(events, events)
def test_undoing_everything_since_brings_the_same_page_back(
    before: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    session = random_catalog(150).session(seed=3)
    for what, choice in before:
        do(session, what, choice)
    page, step = session.page(), session.step
    logs = session.belief.log_posterior
    for what, choice in after:
        if what != "undo":
            do(session, what, choice)
    while session.step > step:
        session.undo()
    assert session.page() == page
    np.testing.assert_array_equal(session.belief.log_posterior, logs)


def test_events_only_grow_and_undo_is_one_of_them(small: Catalog) -> None:
    session = small.session()
    page = session.page()
    session.like(page.ids[0])
    session.undo()
    session.dislike(page.ids[1])
    kinds = [type(event).__name__ for event in session.events]
    assert kinds == ["Start", "Click", "Undo", "Click"]
    assert session.step == 1
    assert session.likes == []
    assert session.dislikes == [page.ids[1]]
    with pytest.raises(AttributeError):
        session.state.step = 5  # type: ignore[misc]


def test_the_state_is_a_fold(small: Catalog) -> None:
    session = small.session()
    for what, choice in [("like", 3), ("dislike", 4), ("clear", 0), ("undo", 0), ("like", 1)]:
        do(session, what, choice)
    assert fold(session.events) == session.state


def test_refresh_changes_nothing(two_views: Catalog) -> None:
    lazy, fresh = (two_views.session(seed=4) for _ in range(2))
    for _ in range(5):
        assert lazy.page() == fresh.page()
        for session in (lazy, fresh):
            session.like(session.page().ids[3])
        fresh.refresh()
    assert_same(lazy, fresh)


@pytest.mark.parametrize("model", ["choice", "pairwise", "bipartite"])
@pytest.mark.parametrize("only_bounds", [False, True])
def test_a_long_replay_may_catch_up_bit_by_bit(
    two_views: Catalog, model: str, only_bounds: bool
) -> None:
    if only_bounds:
        two_views = limited(two_views, session_bytes=0)
    session = two_views.session(model=model, seed=5)
    for n in range(16):
        session.click(session.page().ids[n % 12], "dislike" if n % 3 == 1 else "like")
        if n % 7 == 6:
            session.undo()
    times = list[int]()
    again = two_views.replay(session.events)
    work = again.pending_work
    again.catch_up_in_pieces(lambda: times.append(1))
    assert (len(times) > 1) == (model == "choice"), "only it counts what was shown beside a click"
    assert again.pending_work <= work
    assert again.page() == session.page()
    assert np.array_equal(again.belief.log_posterior, session.belief.log_posterior)
    once = two_views.replay(session.events)
    assert once.page() == again.page()
    for one in (again, once):
        one.undo(3)
    assert again.page() == once.page()
