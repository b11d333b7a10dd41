"""Anything that may happen in a session, and what makes two sessions the same."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import strategies as st

from seeker import Session


def through_json(session: Session) -> Session:
    """The same session again, its events having been text in between."""
    text = json.dumps([event.to_json() for event in session.events], allow_nan=False)
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
        session.filter(None if choice % 3 == 0 else {"price": {"lt": 2 + choice % 15}})
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
