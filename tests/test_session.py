"""Sessions: events, undo, replay, and kind refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seeker
from conftest import made
from seeker import Catalog, Session, display
from seeker.models import Bipartite, Choice, Pairwise, Relative
from seeker.session import events as log
from seeker.session.state import fold

STRATEGIES: list[display.Strategy] = [
    display.Boltzmann(),
    display.Boltzmann(c=1.0, score="probability", first="ranked"),
    display.Boltzmann(schedule=[1.0, 2.0, float("inf")]),
    display.Greedy(),
    display.EpsilonGreedy(0.25),
    display.Random(),
    display.Diverse(base=display.EpsilonGreedy(0.1), criterion="determinantal"),
]
MODELS = [
    Choice(),
    Choice(sigmas=(0.2, 0.1), weights=(1, 2)),
    Relative(),
    Pairwise(2.0),
    Bipartite(),
]


def through_json(session: Session) -> Session:
    """The same session again, its events having been text in between."""
    text = json.dumps([log.to_json(event) for event in session.events], allow_nan=False)
    return Session.replay(session.catalog, json.loads(text))


def assert_same(one: Session, other: Session) -> None:
    assert one.page() == other.page()
    assert one.more(5, 60) == other.more(5, 60)
    assert (one.likes, one.dislikes, one.step) == (other.likes, other.dislikes, other.step)
    np.testing.assert_array_equal(one.belief.log_posterior, other.belief.log_posterior)
    assert one.belief.entropy == other.belief.entropy
    assert one.belief.views == other.belief.views


def do(session: Session, what: str, choice: int) -> None:
    """One event, chosen by a number among what is possible."""
    page = session.page().ids
    rated = [*session.likes, *session.dislikes]
    if what == "like":
        session.like(page[choice % len(page)])
    elif what == "dislike":
        session.dislike(page[choice % len(page)], shown=page[: 1 + choice % 12])
    elif what == "again" and rated:
        session.dislike(rated[choice % len(rated)], shown=page)
    elif what == "clear" and rated:
        session.clear(rated[choice % len(rated)])
    elif what == "undo" and session.step:
        session.undo(1 + choice % min(3, session.step))
    elif what == "redo" and session.state.undone:
        session.redo()
    elif what == "narrow":
        session.narrow(None if choice % 3 == 0 else {"price": {"lt": 2 + choice % 15}})
    elif what == "explore":
        session.explore(choice % 7)
    elif what == "found":
        session.found(page[choice % len(page)])
    elif what == "say":
        session.say(np.linspace(-1, 1, 24) * (choice % 5))
    elif what == "refresh":
        session.refresh()


events = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "like",
                "dislike",
                "like",
                "again",
                "clear",
                "undo",
                "redo",
                "say",
                "refresh",
                "narrow",
                "explore",
                "found",
            ]
        ),
        st.integers(0, 100),
    ),
    max_size=14,
)


@given(events, st.sampled_from(MODELS), st.sampled_from(STRATEGIES), st.integers(0, 2**70))
def test_a_replay_is_the_session_to_the_bit(
    happened: list[tuple[str, int]], model: Any, strategy: display.Strategy, seed: int
) -> None:
    catalog = made(150)
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
    session = made(150).session(seed=3)
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


def test_a_click_knows_what_was_on_screen(small: Catalog) -> None:
    session = small.session()
    page = session.page().ids
    session.like(page[2])
    session.dislike(page[5], shown=page)
    first, second = session.state.ratings.values()
    assert set(first.among) == set(page)
    assert set(second.among) == set(page) - {page[2]}
    session.like("item 299", shown=[page[0], page[0]])
    assert set(session.state.ratings["item 299"].among) == {"item 299", page[0]}


def test_the_last_verdict_counts(small: Catalog) -> None:
    session, other = small.session(), small.session()
    session.like("item 1", shown=["item 1", "item 2"])
    session.dislike("item 1", shown=["item 1", "item 3"])
    other.dislike("item 1", shown=["item 1", "item 3"])
    assert session.likes == []
    assert session.dislikes == ["item 1"]
    np.testing.assert_array_equal(session.belief.log_posterior, other.belief.log_posterior)


def test_an_old_belief_stays_what_it_was(two_views: Catalog) -> None:
    session = two_views.session()
    session.like(session.page().ids[0])
    belief = session.belief
    logs, entropy = belief.log_posterior.copy(), belief.entropy
    expected = Session.replay(two_views, session.events).belief.views
    for _ in range(3):
        session.like(session.page().ids[0])
        session.refresh()
    assert belief.views == pytest.approx(expected, abs=1e-12)
    np.testing.assert_array_equal(belief.log_posterior, logs)
    assert belief.entropy == entropy
    with pytest.raises(ValueError, match="read-only"):
        belief.log_posterior[0] = 0.0


def test_what_a_belief_tells(small: Catalog) -> None:
    session = small.session()
    belief = session.belief
    assert belief.entropy == pytest.approx(np.log(300))
    assert belief.candidates == pytest.approx(300)
    assert belief.on_page == pytest.approx(12 / 300)
    assert belief.rank("item 0") == 150.5
    assert belief.views == {"image": 1.0}
    target = "item 40"
    for _ in range(6):
        page = session.page().ids
        x = small.views["image"].vectors
        nearest = min(page, key=lambda i: ((x[small.row(i)] - x[40]) ** 2).sum())
        session.like(nearest)
    assert session.belief.entropy < belief.entropy
    assert session.belief.rank(target) < 60
    assert np.exp(session.belief.log_posterior).sum() == pytest.approx(1.0)
    assert session.belief.probability(target) == np.exp(session.belief.log_posterior[40])


def test_refresh_changes_nothing(two_views: Catalog) -> None:
    lazy, fresh = (two_views.session(seed=4) for _ in range(2))
    for _ in range(5):
        assert lazy.page() == fresh.page()
        for session in (lazy, fresh):
            session.like(session.page().ids[3])
        fresh.refresh()
    assert_same(lazy, fresh)


def test_the_papers_setting() -> None:
    catalog = made(100)
    session = catalog.session(**seeker.PAPER)
    start = session.state.start
    assert start.model == Pairwise(alpha=1.0, scale="raw")
    assert start.strategy == display.Boltzmann(c=np.sqrt(1 / 8), score="log", first="ranked")
    assert start.repeat == "always"
    assert start.page_size == 12


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (lambda c: c.session(page_size=0), seeker.BadInput),
        (lambda c: c.session(page_size=1.5), seeker.BadInput),
        (lambda c: c.session(seed=-1), seeker.BadInput),
        (lambda c: c.session(seed="x"), seeker.BadInput),
        (lambda c: c.session(repeat="sometimes"), seeker.BadInput),
        (lambda c: c.session(prior=[0.0]), seeker.BadInput),
        (lambda c: c.session(prior=np.full(300, np.nan)), seeker.BadInput),
        (lambda c: c.session(prior=np.full(300, np.inf)), seeker.BadInput),
        (lambda c: c.session(prior=np.full(300, -np.inf)), seeker.BadInput),
        (lambda c: c.session(prior=object()), seeker.BadInput),
        (lambda c: c.session(prior=range(10**12)), seeker.BadInput),
        (lambda c: c.session(prior=np.full(300, 1j)), seeker.BadInput),
        (lambda c: c.session(prior=np.ma.masked_equal(np.zeros(300), 0)), seeker.BadInput),
        (lambda c: c.session(user=range(10**12)), seeker.BadInput),
        (lambda c: c.session().say(range(10**12)), seeker.BadInput),
        (lambda c: c.session().say(np.full(24, 1j)), seeker.BadInput),
        (lambda c: c.session().say(None), seeker.BadInput),
        (lambda c: c.session(user=np.ones(3)), seeker.BadInput),
        (lambda c: c.session(user=np.zeros(24)), seeker.BadInput),
        (lambda c: c.session(user={"smell": np.ones(24)}), seeker.NotFound),
        (lambda c: c.session(user=object()), seeker.BadInput),
        (lambda c: c.session(filter={"size": 3}), seeker.NotFound),
        (lambda c: c.session(filter={"kind": "none such"}), seeker.BadInput),
        (lambda c: c.session(filter={"price": {"about": 3}}), seeker.BadInput),
        (lambda c: c.session().like("nothing"), seeker.NotFound),
        (lambda c: c.session().like(["item 1"]), seeker.NotFound),
        (lambda c: c.session().like("item 1", shown=["nothing"]), seeker.NotFound),
        (lambda c: c.session().like("item 1", shown="item 1"), seeker.BadInput),
        (lambda c: c.session().click("item 1", "love"), seeker.BadInput),
        (lambda c: c.session().clear("item 1"), seeker.Conflict),
        (lambda c: c.session().undo(), seeker.Conflict),
        (lambda c: c.session().more(-1, 5), seeker.BadInput),
        (lambda c: c.session().more(0, 0), seeker.BadInput),
        (lambda c: c.session().more(0, 2.5), seeker.BadInput),
        (lambda c: c.session().say(np.ones(3)), seeker.BadInput),
        (lambda c: c.session().say([np.nan] * 24), seeker.BadInput),
        (lambda c: c.session().say(np.ones(24), view="smell"), seeker.BadInput),
        (lambda c: c.session().explain("nothing"), seeker.NotFound),
        (lambda c: c.session().belief.rank("nothing"), seeker.NotFound),
        (lambda c: Session.replay(c, []), seeker.BadInput),
        (lambda c: Session.replay(c, [log.Undo()]), seeker.BadInput),
        (lambda c: Session.replay(c, [{"type": "undo", "schema": 99}]), seeker.BadInput),
        (lambda c: Session.replay(c, [{"schema": 1, "type": "jump"}]), seeker.BadInput),
        (lambda c: Session.replay(c, [{"schema": 1, "type": "start"}]), seeker.BadInput),
        (lambda c: Session.replay(c, [{"schema": 1}]), seeker.BadInput),
    ],
)
def test_wrong_input_gets_one_clear_sentence(small: Catalog, wrong: Any, kind: Any) -> None:
    with pytest.raises(kind) as caught:
        wrong(small)
    assert isinstance(caught.value, seeker.SeekerError)
    assert str(caught.value).endswith((".", ")"))
    assert "\n" not in str(caught.value)


def test_a_refused_event_leaves_no_trace(small: Catalog) -> None:
    session = small.session()
    session.like(session.page().ids[0])
    before, page = session.events, session.page()
    refused: list[Callable[[], None]] = [
        lambda: session.like("nothing"),
        lambda: session.clear("item 299"),
        lambda: session.say(np.ones(3)),
    ]
    for wrong in refused:
        with pytest.raises(seeker.SeekerError):
            wrong()
    assert session.events == before
    assert session.page() is not page
    assert session.page() == page


def test_the_state_is_a_fold(small: Catalog) -> None:
    session = small.session()
    for what, choice in [("like", 3), ("dislike", 4), ("clear", 0), ("undo", 0), ("like", 1)]:
        do(session, what, choice)
    assert fold(session.events) == session.state


def test_a_session_is_light_and_says_so() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 8)).astype(np.float32)
    catalog = Catalog.from_arrays([str(n) for n in range(20_000)], {"x": x, "y": x[:, :4].copy()})
    for model in ("choice", "pairwise"):
        session = catalog.session(model=model)
        for _ in range(6):
            page = session.page().ids
            session.like(page[0])
            session.dislike(page[1], shown=page)
            session.refresh()
        assert session.nbytes <= 20_000 * 64 + 8_000_000


class Remembering:
    """A catalog that some items have left, their vectors being remembered."""

    def __init__(self, whole: Catalog, gone: set[str]) -> None:
        kept = [item for item in whole.ids if item not in gone]
        rows = [whole.row(item) for item in kept]
        self._whole = whole
        self._gone = gone
        self._now = Catalog.from_arrays(
            kept, {name: view.vectors[rows] for name, view in whole.views.items()}, scale="raw"
        )
        self.departed = self

    def get(self, item: str) -> dict[str, Any] | None:
        if item not in self._gone:
            return None
        row = self._whole.row(item)
        return {name: view.vectors[row] for name, view in self._whole.views.items()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now, name)

    def __len__(self) -> int:
        return len(self._now)


@pytest.mark.parametrize("model", [Choice(), Pairwise(scale="raw"), Bipartite(scale="raw")])
def test_an_item_that_is_gone_keeps_its_vote(model: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 5))
    ids = [f"item {n}" for n in range(60)]
    whole = Catalog.from_arrays(ids, {"x": x}, scale="raw")
    session = whole.session(model=model)
    session.like("item 3", shown=ids[:6])
    session.dislike("item 20", shown=ids[15:25])
    gone = {"item 3", "item 17", "item 59"}
    later: Any = Remembering(whole, gone)
    again = Session.replay(later, session.events)
    assert again.likes == ["item 3"]
    before, after = session.belief.log_posterior, again.belief.log_posterior
    kept = [n for n, item in enumerate(ids) if item not in gone]
    np.testing.assert_allclose(after - after[0], before[kept] - before[0], rtol=0, atol=1e-4)
    shown = again.more(0, 100).ids
    assert set(shown) == set(ids) - gone
    again.like(shown[0])
    again.clear("item 3")
    assert "item 3" not in again.likes
    with pytest.raises(seeker.NotFound):
        again.like("item 59")
    nothing: Any = Remembering(whole, set())
    nothing._now = later._now
    with pytest.raises(seeker.NotFound, match="nothing is known"):
        Session.replay(nothing, session.events)


def test_words_are_searched_for_where_no_view_reads_text() -> None:
    rng = np.random.default_rng(0)
    titles = ["red shoe", "blue shoe", "red hat", "green scarf"] * 10
    ids = [f"item {n}" for n in range(40)]
    catalog = Catalog.from_arrays(ids, {"x": rng.normal(size=(40, 3))}, titles=titles)
    session = catalog.session()
    page, logs = session.page(), session.belief.log_posterior
    session.say("red shoe")
    best = np.argsort(-session.belief.log_posterior)[:10]
    assert {titles[row] for row in best} == {"red shoe"}
    assert session.step == 1
    session.like(session.page().ids[0])
    assert_same(session, through_json(session))
    session.undo()
    session.undo()
    assert session.page() == page
    np.testing.assert_array_equal(session.belief.log_posterior, logs)
    for nothing in ("", "   "):
        with pytest.raises(seeker.BadInput):
            session.say(nothing)


_NOTHING_NEW = """
import numpy as np, seeker
from numba.core.dispatcher import Dispatcher
from seeker.models import Bipartite, Choice, Pairwise, Relative

x = np.random.default_rng(0).normal(size=(20_000, 19))
catalog = seeker.Catalog.from_arrays([str(n) for n in range(20_000)], {"x": x, "y": x[:, :5]})

def compiled():
    from seeker.kernels import columns, likelihood, noise, posterior
    return sum(
        len(one.signatures)
        for module in (columns, likelihood, noise, posterior)
        for one in vars(module).values()
        if isinstance(one, Dispatcher)
    )

for model in (Choice(), Relative(), Pairwise(), Pairwise(scale="raw"), Bipartite()):
    session = catalog.session(model=model)
    page = session.page().ids
    before = compiled()
    session.like(page[0]); session.page()
    session.dislike(page[1], shown=page); session.page(); session.refresh()
    session.like(session.page().ids[2]); session.page()
    session.belief.entropy, session.belief.views, session.belief.on_page
    session.say(np.ones(19)); session.page(); session.undo(); session.page()
    session.more(0, 2000); session.explain(page[0])
    assert compiled() == before, (model, compiled() - before)
"""


def test_nothing_is_compiled_during_a_click() -> None:
    subprocess.run([sys.executable, "-c", _NOTHING_NEW], check=True)


def test_a_metric_that_fails_leaves_no_trace() -> None:
    broken = False

    def measured(query: Any, vectors: Any) -> Any:
        if broken:
            raise RuntimeError("no more")
        return np.abs(vectors - query).max(axis=1)

    x = np.random.default_rng(0).normal(size=(30, 4))
    catalog = Catalog.from_arrays([f"item {n}" for n in range(30)], {"x": x}, metric=measured)
    session = catalog.session()
    session.like("item 3")
    page, logs = session.page(), session.belief.log_posterior
    broken = True
    with pytest.raises(RuntimeError):
        session.dislike("item 4", shown=page.ids)
    broken = False
    assert session.dislikes == []
    assert len(session.events) == 2
    assert session.page() == page
    np.testing.assert_array_equal(session.belief.log_posterior, logs)
