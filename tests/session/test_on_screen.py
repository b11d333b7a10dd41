"""What counts as having been on screen where nobody says it: the page that was given out."""

from __future__ import annotations

from typing import get_args

import pytest

from seeker.session.start import Repeat
from support.catalogs import random_catalog


@pytest.mark.parametrize("repeat", get_args(Repeat))
def test_all_clicks_on_a_page_are_choices_among_its_items(repeat: Repeat) -> None:
    told, untold = (random_catalog(400).session(seed=3, repeat=repeat) for _ in range(2))
    for _ in range(3):
        page = untold.page().ids
        untold.like(page[2])
        untold.like(page[7])
        untold.dislike(page[5])
        told.like(page[2], shown=page)
        told.like(page[7], shown=page)
        told.dislike(page[5], shown=page)
        assert untold.events[1:] == told.events[1:]
        assert untold.page() == told.page()


def test_what_nobody_was_shown_is_still_to_come() -> None:
    session = random_catalog(400).session(seed=3)
    page = session.page().ids
    session.like(page[2])
    session.dislike(page[5])
    assert set(session.more(0, 400).ids[-len(page) :]) == set(page)


def test_a_click_on_something_else_is_among_the_page_of_this_step() -> None:
    session = random_catalog(400).session(seed=3)
    page = session.page().ids
    session.like(page[2])
    other = session.more(100, 1).ids[0]
    now = session.more(0, 12).ids
    session.dislike(other)
    assert session.events[-1].fields()["shown"] == now
    session.dislike(page[5])
    assert session.events[-1].fields()["shown"] == page
