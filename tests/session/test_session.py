"""What clicks and words mean to a session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import Catalog, display
from seeker.models import Pairwise
from support.catalogs import random_catalog
from support.events import assert_same, through_json


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
    catalog = random_catalog(100)
    session = catalog.session(**seeker.PAPER)
    start = session.state.start
    assert start.model == Pairwise(alpha=1.0, scale="raw", words="paper")
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


def test_a_page_is_a_sequence_of_its_items(small: Catalog) -> None:
    session = small.session(page_size=5, seed=2)
    page = session.page()
    assert isinstance(page, Sequence)
    assert [item.id for item in page] == page.ids
    assert (page[0], page[-1], page[1:3]) == (page.items[0], page.items[4], page.items[1:3])
    assert list(reversed(page)) == [*page.items][::-1]
    assert (page.index(page[2]), len(page)) == (2, 5)
    assert page[3] in page
    ids: list[Any] = [*page.ids, "nothing"]
    assert [id in page for id in ids] == [True] * 5 + [False]
    assert session.more(5, 1)[0] not in page
    with pytest.raises(IndexError):
        page[5]
    with pytest.raises(TypeError):
        page[0] = page[1]  # type: ignore[index]
    assert not session.more(300)


def test_what_was_shown_may_be_a_page(small: Catalog) -> None:
    by_ids, by_items = small.session(seed=2), small.session(seed=2)
    shown = by_ids.more(20, 6)
    by_ids.like(shown[1].id, shown=shown.ids)
    by_items.like(shown[1].id, shown=shown)
    assert by_items.events[1:] == by_ids.events[1:]
