"""The engine answers as a session in this process, and keeps only what can be done."""

from __future__ import annotations

import inspect

import pytest

from seeker import BadInput, Catalog, Client, NotFound
from seeker.engine import StaleStepError
from seeker.server.requests import StartRequest
from seeker.session import Click, Say, SessionOptions, Undo
from support.engines import engine


def test_the_answer_is_that_of_a_session_in_this_process(two_views: Catalog) -> None:
    one = engine(two_views)
    shown = one.start(seed=5, filter={"price": {"lt": 12}}, query="kind 2")
    session = two_views.session(seed=5, filter={"price": {"lt": 12}}, query="kind 2")
    for _ in range(4):
        assert shown.page == session.page()
        item = shown.page.ids[1]
        shown = one.act(shown.id, Click(item, "like"), shown.step)
        session.like(item)
    shown = one.act(shown.id, Undo())
    session.undo()
    assert shown.page == session.page()
    assert (shown.step, shown.likes, shown.dislikes) == (3, session.likes, [])
    assert shown.belief is not None
    assert shown.belief.entropy == session.belief.entropy
    assert shown.belief.views == session.belief.views
    assert one.more(shown.id, 12, 30)[1] == session.more(12, 30)
    item = session.page().ids[0]
    assert one.explain(shown.id, item) == session.explain(item)


def test_what_cannot_be_done_leaves_no_trace(small: Catalog) -> None:
    one = engine(small)
    shown = one.start()
    with pytest.raises(StaleStepError, match="nothing to undo") as refused:
        one.act(shown.id, Undo())
    assert refused.value.snapshot == shown
    with pytest.raises(NotFound):
        one.act(shown.id, Click("no such item", "like"))
    with pytest.raises(NotFound):
        one.act(shown.id, Click(shown.page.ids[0], "like", ["no such item"]))
    with pytest.raises(BadInput):
        one.act(shown.id, Say("  "))
    assert one.show(shown.id) == shown
    assert one.stored(shown.id).length == 1


def test_the_options_of_a_session_are_the_same_wherever_they_are_given() -> None:
    public = inspect.signature(Catalog.session).parameters
    assert list(public)[1:] == list(SessionOptions.__annotations__)
    fields = StartRequest.model_fields
    client = inspect.signature(Client.session).parameters
    for name in SessionOptions.__annotations__:
        if name != "prior":  # numbers for all items are not sent around
            assert name in client
            assert name in fields
    for name in ("page_size", "repeat"):
        assert public[name].default == client[name].default == fields[name].default
