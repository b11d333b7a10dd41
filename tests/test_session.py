"""What clicks and words mean to a session."""

from __future__ import annotations

import re

import numpy as np
import pytest

import seeker
from conftest import made
from happenings import assert_same, through_json
from seeker import Catalog, display
from seeker.models import Pairwise


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


def test_the_papers_setting() -> None:
    catalog = made(100)
    session = catalog.session(**seeker.PAPER)
    start = session.state.start
    assert start.model == Pairwise(alpha=1.0, scale="raw")
    assert start.strategy == display.Boltzmann(c=np.sqrt(1 / 8), score="log", first="ranked")
    assert start.repeat == "always"
    assert start.page_size == 12


def test_sessions_and_beliefs_say_what_they_are() -> None:
    session = Catalog.from_arrays(["a", "b"], {"x": [[0.0, 1.0], [1.0, 0.0]]}).session()
    session.like("a")
    assert repr(session) == (
        "<Session at step 1: 1 liked, 0 disliked; <Catalog of 2 items, views: x (2)>>"
    )
    assert re.fullmatch(r"<Belief: about 1\.\d candidates>", repr(session.belief))
