"""Who searches: what is known of them, how long it is kept, how much they may have."""

from __future__ import annotations

import secrets

import numpy as np
import pytest

from seeker import BadInput, Catalog, NotFound
from seeker.engine.engine import QuotaExceededError
from seeker.models import Choice
from seeker.session import Click
from seeker.session.events import Start, parse_event
from support.engines import clicks, engine


def test_a_person_begins_with_what_their_last_session_taught(two_views: Catalog) -> None:
    one = engine(two_views)
    clicks(one, one.start(user="ann", seed=1), 6)
    last = clicks(one, one.start(user="ann", seed=2), 6)
    one.start(user="ann", seed=3)  # without clicks it teaches nothing
    fresh = one.start(user="ann", seed=4)
    plain = one.start(user="bob", personalise=True, seed=4)
    other_site = one.start(user="ann", owner="another site", personalise=True, seed=4)
    assert fresh.belief == plain.belief == other_site.belief
    known = one.start(user="ann", personalise=True, seed=4)
    assert known.belief is not None
    assert last.belief is not None
    assert fresh.belief is not None
    for view, weight in known.belief.views.items():
        even = fresh.belief.views[view]
        assert weight == pytest.approx(0.8 * last.belief.views[view] + 0.2 * even, abs=1e-4)
    start = parse_event(one.stored(known.id).events[0])
    assert isinstance(start, Start)
    assert isinstance(start.model, Choice)
    assert start.model.weights is not None
    assert engine(two_views, one.store).show(known.id) == known
    with pytest.raises(BadInput, match="nobody"):
        one.start(personalise=True)


def test_a_user_vector_is_used(small: Catalog) -> None:
    one = engine(small)
    c = np.linspace(0, 2, 24)
    shown = clicks(one, one.start(user=c.tolist(), seed=1), 3)
    session = small.session(user=c, seed=1)
    for event in [parse_event(one.stored(shown.id).events[n]) for n in (1, 2, 3)]:
        session.act(event)
    assert shown.page == session.page()
    assert one.store.count() == 1
    assert engine(small, one.store).show(shown.id) == shown


def test_sessions_are_forgotten_after_their_lifetime(small: Catalog) -> None:
    now = [1000.0]
    one = engine(small, lifetime=60.0, clock=lambda: now[0])
    old, used = one.start(), one.start()
    now[0] += 50
    one.act(used.id, Click(used.page.ids[0], "like"))
    now[0] += 20
    with pytest.raises(NotFound):
        one.show(old.id)
    assert one.show(used.id).step == 1
    assert one.expire() == 1
    assert one.store.count() == 1


def test_a_key_may_have_so_many_sessions(small: Catalog) -> None:
    one = engine(small, sessions_per_key=2)
    first = one.start(owner="site")
    one.start(owner="site")
    with pytest.raises(QuotaExceededError):
        one.start(owner="site")
    one.start(owner="other")
    one.start()
    one.delete(first.id)
    one.start(owner="site")


def test_no_id_looks_like_an_option(small: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["-abc", "--abc", "a-b-c"])
    monkeypatch.setattr(secrets, "token_urlsafe", lambda _: next(drawn))
    assert engine(small).start(seed=1).id == "a-b-c"


def test_ids_are_long_and_seeds_are_drawn(small: Catalog) -> None:
    one = engine(small)
    started = [one.start() for _ in range(20)]
    assert len({shown.id for shown in started}) == 20
    assert all(len(shown.id) == 22 for shown in started)
    assert len({one.stored(shown.id).events[0]["seed"] for shown in started}) == 20
