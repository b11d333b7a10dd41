"""Who searches: what is known of them, how long it is kept, how much they may have."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import pytest

from seeker import BadInput, Catalog, NotFound
from seeker.catalog.build.learned import publish_learned
from seeker.catalog.view_map import LinearMap, MapInput
from seeker.engine import Engine
from seeker.engine.engine import QuotaExceededError
from seeker.lab.perception import Perception, Sense
from seeker.models import Choice
from seeker.session import Click
from seeker.session.events import parse_event
from seeker.session.start import Start
from support.engines import clicks, engine, find
from support.searches import seen_catalog


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


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog with a learned view that is made of its two others, side by side."""
    folder, _ = seen_catalog(tmp_path_factory.mktemp("users") / "shop")
    learn_side_by_side(folder)
    return folder


def learn_side_by_side(folder: Path) -> None:
    parts = (
        MapInput(name, np.zeros(d, np.float32), np.eye(d, 24, first, dtype=np.float32))
        for name, d, first in (("looks", 16, 0), ("words", 8, 16))
    )
    model = Choice(sigmas=(0.4, 0.1), weights=(0.01,) * 4 + (0.4, 0.4) + (0.02,) * 8)
    publish_learned(folder, [LinearMap("learned", tuple(parts))], ["looks", "words"], model, 50, {})


def start_of(one: Engine, id: str) -> Start:
    start = parse_event(one.stored(id).events[0])
    assert isinstance(start, Start)
    return start


def test_who_has_found_things_begins_with_their_own_eyes_until_their_data_is_deleted(
    shop: Path,
) -> None:
    catalog = Catalog.open(shop)
    one = engine(catalog)
    words = Perception([Sense("words", np.array(catalog.views["words"].vectors))])
    found = [find(one, words, target, user="ann").found for target in range(6)]
    assert sum(item is not None for item in found) >= 4
    plain = one.start(user="ann", seed=4)
    assert start_of(one, plain.id).user == "ann"
    known = one.start(user="ann", personalise=True, seed=4)
    start = start_of(one, known.id)
    assert start.person is not None
    c = start.person["learned-2"]
    assert c[16:].mean() > 1.1 * c[:16].mean()
    assert isinstance(start.model, Choice)
    assert start.model.weights != catalog.usual_model()[0].weights  # type: ignore[attr-defined]
    assert list(start.views or ()) == ["looks", "words", "learned-2"]
    known = clicks(one, known, 4)
    assert engine(Catalog.open(shop), one.store).show(known.id) == known
    assert one.stored(known.id).person == "ann"
    again = one.start(user="ann", personalise=True, seed=9)
    assert start_of(one, again.id).person is not None

    stranger = one.start(user="bob", personalise=True, seed=4)
    other_site = one.start(user="ann", owner="another site", personalise=True, seed=4)
    assert stranger.belief == other_site.belief == plain.belief
    assert stranger.page == plain.page
    weights = Choice(sigmas=(0.4, 0.1), weights=(1.0,) * 6)
    chosen = one.start(user="ann", personalise=True, model=weights, seed=4)
    assert start_of(one, chosen.id).model == weights

    for id in list(one.store.find("ann", None)):
        one.delete(id)
    forgotten = one.start(user="ann", personalise=True, seed=4)
    assert (forgotten.page, forgotten.belief) == (plain.page, plain.belief)
    assert start_of(one, forgotten.id).user == "ann"


def test_own_eyes_outlive_the_learned_view_that_they_are_for(tmp_path: Path) -> None:
    folder, _ = seen_catalog(tmp_path / "shop")
    learn_side_by_side(folder)
    one = engine(Catalog.open(folder))
    words = Perception([Sense("words", np.array(one.catalogs.get(None)[1].views["words"].vectors))])
    for target in range(4):
        find(one, words, target, user="ann")
    known = clicks(one, one.start(user="ann", personalise=True, seed=4), 3)
    assert start_of(one, known.id).person is not None
    learn_side_by_side(folder)
    assert engine(Catalog.open(folder), one.store).show(known.id) == known
    learn_side_by_side(folder)  # now the view that the session began with is gone
    later = engine(Catalog.open(folder), one.store)
    clicks(later, later.show(known.id), 2)
    renewed = later.start(user="ann", personalise=True, seed=4)
    assert [*(start_of(later, renewed.id).person or ())] == ["learned-4"]


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
