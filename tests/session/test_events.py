"""What a person can do beside clicking: go back and forth, narrow, explore, take words back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from seeker import Catalog, Session, display
from seeker.errors import BadInput, Conflict, NotFound
from support.catalogs import random_catalog


def test_several_steps_back_and_forth_again(small: Catalog) -> None:
    session = small.session(seed=2)
    pages = [session.page()]
    for _ in range(4):
        session.like(session.page().ids[0])
        pages.append(session.page())
    session.undo(3)
    assert (session.page(), session.step, len(session.state.undone)) == (pages[1], 1, 3)
    session.redo()
    assert session.page() == pages[2]
    session.redo(2)
    assert session.page() == pages[4]
    with pytest.raises(Conflict, match="nothing to redo"):
        session.redo()
    assert session.page() == pages[4]


def test_something_new_ends_what_could_be_redone(small: Catalog) -> None:
    session = small.session()
    session.like(session.page().ids[0])
    session.undo()
    session.dislike(session.page().ids[0])
    with pytest.raises(Conflict, match="nothing to redo"):
        session.redo()
    session.undo()
    session.redo()
    assert session.dislikes
    assert not session.likes


def test_undo_of_more_than_there_is_changes_nothing(small: Catalog) -> None:
    session = small.session()
    session.like(session.page().ids[0])
    page = session.page()
    with pytest.raises(Conflict, match="nothing to undo"):
        session.undo(2)
    assert (session.page(), session.step) == (page, 1)


def test_a_filter_in_the_middle_is_as_one_at_the_start() -> None:
    catalog, kept = random_catalog(200), {"price": {"lt": 5}}
    late, early = catalog.session(seed=1), catalog.session(seed=1, filter=kept)
    shown = late.page().ids
    for session in (late, early):
        session.like(shown[0], shown=shown)
        session.dislike(shown[1], shown=shown)
    late.filter(kept)
    early.like(shown[0], shown=shown)  # the same number of steps; the same votes in effect
    early.undo()
    assert late.page().total == early.page().total < 200
    np.testing.assert_allclose(late.belief.log_posterior, early.belief.log_posterior, atol=1e-12)
    assert all(item.attributes["price"] < 5 for item in late.page().items)
    assert late.likes == [shown[0]]
    late.filter(None)
    assert late.page().total == 200


def test_a_filter_that_nothing_passes_is_refused(small: Catalog) -> None:
    session = small.session()
    page = session.page()
    with pytest.raises(BadInput, match="No item passes"):
        session.filter({"price": {"lt": -1}})
    with pytest.raises(BadInput, match="filter"):
        session.filter("cheap")  # type: ignore[arg-type]
    assert (session.page(), session.step) == (page, 0)


@pytest.mark.parametrize("kind", ["kin 1", ["kin 1"], ("kin 1", None)])
def test_a_misspelt_value_is_told_with_what_was_meant(kind: object) -> None:
    catalog = random_catalog(50)
    session = catalog.session()
    with pytest.raises(BadInput, match="No item passes") as refused:
        session.filter({"price": {"ge": 0}, "kind": kind})
    assert refused.value.hint.startswith("No item has 'kin 1' as 'kind'. Did you mean 'kind ")
    with pytest.raises(BadInput, match="No item passes") as refused:
        session.filter({"price": -1})
    assert refused.value.hint == "Loosen it, or leave it out."


def test_narrowing_before_anything_is_known_still_gives_a_page_that_covers() -> None:
    catalog, kept = random_catalog(200), {"kind": "kind 1"}
    session = catalog.session(seed=4)
    session.filter(kept)
    assert session.page().ids == catalog.session(seed=4, filter=kept).page().ids


def test_words_taken_back_no_longer_count() -> None:
    catalog = Catalog.from_arrays(
        ["a", "b", "c", "d"],
        {"x": np.eye(4)},
        titles=["red shoe", "blue shoe", "red hat", "blue hat"],
    )
    session = catalog.session(query="red", seed=1)
    began = session.belief.log_posterior
    assert int(np.argmax(began)) in (0, 2)
    session.say("hat")
    assert int(np.argmax(session.belief.log_posterior)) == 2
    session.unsay("hat")
    np.testing.assert_allclose(session.belief.log_posterior, began, atol=1e-12)
    session.unsay("red")
    np.testing.assert_allclose(session.belief.log_posterior, -np.log(4), atol=1e-12)
    with pytest.raises(Conflict, match="Nobody has said"):
        session.unsay("red")
    session.undo(2)
    assert (session.state.query, session.state.said) == ("red", ["hat"])


def test_a_text_taken_back_leaves_its_view_as_it_was(small: Catalog) -> None:
    session = small.session(seed=3)
    session.like(session.page().ids[0])
    before = session.belief.log_posterior
    session.say(np.ones(24))
    assert (session.belief.log_posterior != before).any()
    session.unsay("")  # a vector has no words
    np.testing.assert_array_equal(session.belief.log_posterior, before)


@pytest.mark.parametrize(
    "strategy",
    [
        display.Boltzmann(),
        display.Boltzmann(schedule=[2.0, 4.0]),
        display.Greedy(),
        display.EpsilonGreedy(0.1),
        display.Diverse(base=display.Boltzmann()),
        display.Informative(base=display.Boltzmann(c=1.0), pool=30),
        display.CorrelatedBoltzmann(),
    ],
)
def test_more_exploration_shows_less_probable_items(strategy: display.Strategy) -> None:
    catalog = random_catalog(2000)

    def on_page(level: float, seed: int) -> float:
        session = catalog.session(strategy=strategy, seed=seed)
        shown = session.page().ids
        for item in shown[:3]:
            session.like(item, shown=shown)
        session.explore(level)
        return session.belief.on_page

    few, many = (np.mean([on_page(level, seed) for seed in range(6)]) for level in (0.0, 40.0))
    assert few > 2 * many


def test_no_exploration_is_greedy(small: Catalog) -> None:
    bold, greedy = small.session(seed=5), small.session(strategy="greedy", seed=5)
    shown = bold.page().ids
    for session in (bold, greedy):
        session.like(shown[0], shown=shown)
    bold.explore(0)
    assert bold.page().ids == greedy.page().ids


def test_a_strategy_that_cannot_explore_says_so(small: Catalog) -> None:
    class Alphabetical(display.Greedy):
        name = "alphabetical"
        with_exploration = display.Strategy.with_exploration

    session = small.session(strategy=Alphabetical())
    with pytest.raises(BadInput, match="cannot be made to explore"):
        session.explore(2)
    assert session.step == 0


def test_found_is_kept_and_can_be_taken_back(small: Catalog) -> None:
    session = small.session()
    item = session.page().ids[3]
    session.found(item)
    assert session.found_item == item
    assert Session.replay(small, session.events).found_item == item
    session.undo()
    assert session.found_item is None
    with pytest.raises(NotFound):
        session.found("nothing of the kind")


def test_the_history_holds_what_is_in_effect(small: Catalog) -> None:
    session = small.session()
    first = session.page().ids[0]
    session.like(first)
    session.filter({"price": {"lt": 9}})
    session.explore(3)
    session.undo()
    session.found(first)
    kinds = [(step, type(event).__name__) for step, event in session.state.history]
    assert kinds == [(1, "Click"), (2, "Filter"), (3, "Found")]


def test_events_of_the_first_version_are_still_read(small: Catalog) -> None:
    session = small.session(seed=8)
    session.like(session.page().ids[0])
    session.like(session.page().ids[1])
    session.undo()
    written = [event.to_json() | {"schema": 1} for event in session.events]
    del written[-1]["count"]
    assert Session.replay(small, written).page() == session.page()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda session: session.undo(0),
        lambda session: session.redo(True),
        lambda session: session.undo(1.5),
        lambda session: session.explore(-1),
        lambda session: session.explore(float("nan")),
        lambda session: session.explore(101),
    ],
)
def test_wrong_input_is_refused(small: Catalog, wrong: Callable[[Session], None]) -> None:
    session = small.session()
    with pytest.raises(BadInput):
        wrong(session)
    assert len(session.events) == 1
