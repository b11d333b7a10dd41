"""The lazy ranking is the full ranking, for any sequence of events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seeker import Catalog, Session, display
from seeker.display import noise as keys
from seeker.kernels import reference
from seeker.models import Bipartite, Choice, Model, Pairwise
from seeker.models.scores import DEFAULT_LIMITS, Scores
from seeker.session.events import Click
from support.catalogs import random_catalog

SORTED_ITEMS = DEFAULT_LIMITS.sorted_items
LARGE = random_catalog(SORTED_ITEMS + 1500, dims=(8, 5))
ITEMS = len(LARGE)
MODELS: list[Model] = [Choice(), Pairwise(alpha=5.0), Pairwise(scale="raw"), Bipartite()]


def sorted_in_full(session: Session, width: float) -> list[str]:
    """The ranking from the definition: every item's score, every item's noise, one sort."""
    start = session.state.start
    fresh = Session.replay(session.catalog, session.events)
    scores = fresh.belief.log_posterior
    clicks = [event for _, event in session.state.history if isinstance(event, Click)]
    judged = [click for click in clicks if click.verdict != "clear"]
    noise = np.zeros(ITEMS)
    if width:
        key = keys.stream_key(start.seed, session.step, keys.RANKING)
        noise = width * reference.gumbel(int(key), range(ITEMS))
        for item, count in Counter(click.item for click in judged).items():
            noise[session.catalog.row(item)] /= np.sqrt(1 + count)
    tier = np.zeros(ITEMS)
    if start.repeat == "never":
        seen = {one for click in clicks for one in click.on_screen} | {one.item for one in judged}
        tier[[session.catalog.row(one) for one in seen]] = 1
    if start.repeat != "always":
        tier[[session.catalog.row(one) for one in session.state.ratings]] = 2
    order = np.lexsort((np.arange(ITEMS), -(scores + noise), tier))
    ids = session.catalog.ids  # type: ignore[attr-defined]
    return [ids[row] for row in order if scores[row] > -np.inf]


def assert_same_order(got: Sequence[str], expected: Sequence[str]) -> None:
    assert list(got) == list(expected[: len(got)])


@st.composite
def searches(draw: st.DrawFn) -> tuple[Session, float]:
    """A session after random events, and the width of its noise."""
    model = draw(st.sampled_from(MODELS))
    c = draw(st.sampled_from([0.0, 0.05, float(np.sqrt(1 / 8)), 1.0]))
    strategy = display.Boltzmann(c=c, first="ranked") if c else display.Greedy(first="ranked")
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    prior = filter = None
    if draw(st.booleans()):
        prior = np.log(rng.uniform(size=ITEMS))
        prior[rng.uniform(size=ITEMS) < 0.1] = -np.inf
    if draw(st.booleans()):
        filter = {"kind": ["kind 1", "kind 2", "kind 4"], "price": {"ge": 2}}
    session = LARGE.session(
        model=model,
        strategy=strategy,
        seed=draw(st.integers(0, 2**64)),
        prior=prior,
        filter=filter,
        repeat=draw(st.sampled_from(["never", "unrated", "always"])),
    )
    for event in draw(
        st.lists(
            st.sampled_from(["like", "like", "dislike", "clear", "undo", "say", "refresh", "more"]),
            max_size=10,
        )
    ):
        rated = [*session.likes, *session.dislikes]
        page = session.page().ids
        if event in ("like", "dislike"):
            item = page[int(rng.integers(len(page)))]
            (session.like if event == "like" else session.dislike)(item)
        elif event == "clear" and rated:
            session.clear(rated[int(rng.integers(len(rated)))])
        elif event == "undo" and session.step:
            session.undo()
        elif event == "say":
            session.say(rng.normal(size=5), view="colour")
        elif event == "refresh":
            session.refresh()
        elif event == "more":
            session.more(int(rng.integers(40)), 30)
    return session, c


@given(searches())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_lazy_pages_are_the_full_computation(search: tuple[Session, float]) -> None:
    session, width = search
    expected = sorted_in_full(session, width)
    assert_same_order(session.page().ids, expected)
    assert_same_order(session.more(0, 200).ids, expected)
    assert session.more(150, 50).ids == expected[150:200]
    assert session.page().total == len(expected)


@given(searches(), st.integers(1, 3000))
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=10)
def test_walking_to_the_end_gives_every_item_once(search: tuple[Session, float], step: int) -> None:
    session, width = search
    expected = sorted_in_full(session, width)
    walked: list[str] = []
    while page := session.more(len(walked), step).ids:
        walked += page
    assert walked == expected
    assert len(set(walked)) == len(walked)


@pytest.mark.parametrize(
    "strategy",
    [
        display.Boltzmann(),
        display.Boltzmann(score="probability"),
        display.Boltzmann(schedule=[0.0, 1.0, float("inf")]),
        display.Greedy(),
        display.EpsilonGreedy(0.3),
        display.EpsilonGreedy(1.0),
        display.Random(),
        display.Diverse(),
        display.Informative(),
        display.CorrelatedBoltzmann(),
        display.CorrelatedBoltzmann(correlation=1.0, reach=0.02),
        display.Diverse(criterion="determinantal", base=display.Greedy()),
    ],
    ids=repr,
)
@pytest.mark.parametrize("repeat", ["never", "unrated", "always"])
def test_every_strategy_gives_one_total_order(strategy: display.Strategy, repeat: Any) -> None:
    catalog = random_catalog(400, dims=(8,))
    session = catalog.session(
        strategy=strategy, seed=11, repeat=repeat, filter={"price": {"lt": 9}}
    )
    passing = {item for item in catalog.ids if catalog.item(item).attributes["price"] < 9}
    for _ in range(4):
        page = session.page()
        whole = session.more(0, 1000)
        assert whole.ids[:12] == page.ids
        assert set(whole.ids) == passing
        assert len(whole) == len(passing) == page.total
        again = Session.replay(catalog, session.events)
        walked = [item for start in range(0, 400, 31) for item in again.more(start, 31).ids]
        assert walked == whole.ids
        session.like(page.ids[0])
        session.dislike(page.ids[5], shown=page.ids)


def test_what_was_seen_comes_last() -> None:
    catalog = random_catalog(40)
    for repeat in ("never", "unrated", "always"):
        session = catalog.session(repeat=repeat, strategy="greedy")
        first = session.page().ids
        session.like(first[0])
        ids = session.more(0, 40).ids
        if repeat == "never":
            assert ids[-1] == first[0]
            assert set(ids[-12:]) == set(first)
        elif repeat == "unrated":
            assert ids[-1] == first[0]
            assert set(ids[-12:]) != set(first)
        else:
            assert ids[0] == first[0]


def test_a_page_is_full_while_items_last() -> None:
    session = random_catalog(20).session()
    for _ in range(15):
        page = session.page().ids
        assert len(page) == 12
        session.dislike(page[-1])
    assert len(session.more(0, 100).ids) == 20


def test_identical_items_are_ranked_by_their_place() -> None:
    ids = [f"{n:05}" for n in range(SORTED_ITEMS + 10)]
    catalog = Catalog.from_arrays(ids, {"x": np.ones((len(ids), 3))})
    session = catalog.session(strategy=display.Greedy(first="ranked"))
    assert session.page().ids == ids[:12]
    session.like(ids[3])
    assert session.page().ids == ids[12:24]
    assert session.belief.rank(ids[0]) == (len(ids) + 1) / 2


def test_the_drop_of_a_flat_belief_is_bounded_and_stays_exact() -> None:
    rng = np.random.default_rng(3)
    catalog = Catalog.from_arrays(
        [str(n) for n in range(20_000)], {"x": rng.normal(size=(20_000, 40))}
    )
    session = catalog.session(model=Pairwise(), seed=8)
    bounded = 0
    for step in range(1, 19):
        page = session.page().ids
        (session.like if step % 2 else session.dislike)(page[step % 12])
        if step == 12:
            session.undo()
        scores = session._finder._scores
        assert isinstance(scores, Scores)
        bounded += scores.drop_bound() < 0.0
        full = Session.replay(catalog, session.events)
        expected = full.belief.log_posterior  # of all items, so that nothing is left to bounds
        assert session.page() == full.page()
        assert session.more(0, 300) == full.more(0, 300)
        np.testing.assert_array_equal(session.belief.log_posterior, expected)
        session.refresh()
    assert bounded >= 5
