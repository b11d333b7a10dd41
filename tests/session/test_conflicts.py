"""What a session cannot do is said in one sentence, and leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import Catalog, Session
from seeker.session import events as log


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
