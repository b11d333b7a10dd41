"""What nobody would give a library on purpose: it is used as meant, or refused in one sentence."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from seeker import Catalog, Session, display, models
from seeker.errors import BadInput, NotFound, SeekerError
from support.catalogs import random_catalog

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(40, 5))


def _catalog(vectors: Any, **given: Any) -> Catalog:
    return Catalog.from_arrays([f"item {n}" for n in range(len(vectors))], {"v": vectors}, **given)


def _search(catalog: Catalog) -> list[str]:
    """Search a little; return all ids in their last order."""
    session = catalog.session(page_size=4, seed=1)
    session.like(session.page().ids[0])
    for item in session.page().ids[1:2]:
        session.dislike(item)
    assert np.isfinite(session.belief.entropy)
    assert not np.isnan(session.belief.log_posterior).any()
    return session.more(0, len(catalog)).ids


@pytest.mark.parametrize(
    "same",
    [
        VECTORS.astype(np.longdouble),
        VECTORS.astype(">f8"),
        np.asfortranarray(VECTORS),
        np.repeat(VECTORS, 2, axis=1)[:, ::2],
        VECTORS[::-1][::-1],
        np.ma.MaskedArray(VECTORS),
        VECTORS.tolist(),
    ],
    ids=["long", "big-endian", "fortran", "strided", "reversed", "nothing masked", "lists"],
)
def test_numbers_are_the_same_in_any_form(same: Any) -> None:
    assert _search(_catalog(same)) == _search(_catalog(VECTORS))


@pytest.mark.parametrize(
    "odd",
    [
        VECTORS.astype(np.float16),
        (VECTORS * 10).astype(np.int8),
        VECTORS > 0,
        np.zeros((40, 5)),
        np.repeat(VECTORS[:2], 20, axis=0),
        np.broadcast_to(VECTORS[:1], (40, 5)),
        VECTORS[:, :1],
        VECTORS[:1],
        VECTORS[:2],
        VECTORS * 1e38,
        VECTORS * 1e-30,
        np.hstack([VECTORS * 1e15, VECTORS * 1e-15]),
    ],
)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_odd_vectors_can_be_searched(odd: Any, metric: str) -> None:
    assert sorted(_search(_catalog(odd, metric=metric))) == sorted(_catalog(odd).ids)


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (VECTORS.astype(object), "not an array of numbers"),
        (VECTORS.astype(complex), "not an array of numbers"),
        (VECTORS.astype(str), "not an array of numbers"),
        (np.zeros(40, [("a", "f4")]), "not an array of numbers"),
        (VECTORS * 1e300, "too large"),
        (np.where(VECTORS > 2, np.inf, VECTORS), "NaN or infinity"),
        (np.ma.masked_less(VECTORS, 0), "masked"),
        (VECTORS[:, :0], "shape"),
    ],
)
def test_vectors_that_are_none_are_refused(odd: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        _catalog(odd)


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (lambda session: session.clear(["item 1"]), NotFound),
        (lambda session: session.like(["item 1"]), NotFound),
        (lambda session: session.like("item 1", shown=5), BadInput),
        (lambda session: session.like("item 1", shown="item 1"), BadInput),
        (lambda session: session.like("item 1", shown=[None]), NotFound),
        (lambda session: session.say([1e300] * 8), BadInput),
        (lambda session: session.say([float("nan")] * 8), BadInput),
        (lambda session: session.filter({"price": {"gt": 10**400}}), BadInput),
        (lambda session: session.explore(float("nan")), BadInput),
        (lambda session: session.undo(10**30), SeekerError),
        (lambda session: session.catalog.session(user={"image": [1e300] * 8}), BadInput),
    ],
)
def test_verbs_refuse_what_makes_no_sense_and_nothing_happens(
    act: Callable[[Session], None], kind: type[SeekerError]
) -> None:
    session = random_catalog(60, (8, 4)).session()
    before = session.page()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind):
            act(session)
    assert len(session.events) == 1
    assert session.page() == before


def test_what_was_shown_may_come_one_by_one() -> None:
    catalog = random_catalog(60)
    once, twice = catalog.session(seed=3), catalog.session(seed=3)
    shown = once.page().ids
    once.like(shown[0], shown)
    twice.like(shown[0], (item for item in shown))  # type: ignore[arg-type]
    assert twice.events[1:] == once.events[1:]


def test_a_filter_may_ask_for_more_than_any_number() -> None:
    catalog = random_catalog(60)
    for bound in (10**400, float("inf")):
        session = catalog.session(filter={"price": {"lt": bound, "gt": -bound}})
        assert session.page().total == 60


def test_words_in_a_view_that_is_gone_are_told() -> None:
    catalog = random_catalog(60, (8, 4))
    session = catalog.session()
    session.say([1.0] * 4, view="colour")
    events = [event.to_json() for event in session.events]
    other = Catalog.from_arrays(catalog.ids, {"colour": catalog.views["image"].vectors})
    for changed in (random_catalog(60, (8,)), other):
        with pytest.raises(BadInput, match="words in view 'colour' of 4 dimensions"):
            Session.replay(changed, events)


@pytest.mark.parametrize("model", [models.Bipartite(alpha1=1e12), models.Pairwise(alpha=1e12)])
def test_what_is_left_open_by_nothing_is_certain(model: models.Model) -> None:
    session = random_catalog(60, (8, 4)).session(model=model)
    session.like(session.page().ids[0])
    assert session.belief.settings.sum() == 1.0


def test_thousands_of_clicks_are_taken_and_taken_back() -> None:
    catalog = random_catalog(300)
    session = catalog.session(repeat="always")
    first = session.page()
    for n in range(3000):
        session.click(f"item {n % 300}", "like" if n % 2 else "dislike", ())
    assert np.isfinite(session.belief.entropy)
    again = Session.replay(catalog, session.events)
    assert again.page() == session.page()
    session.undo(3000)
    assert session.page() == first


def test_a_pool_larger_than_any_catalog_is_the_catalog() -> None:
    catalog = random_catalog(60)
    widest = [
        catalog.session(strategy=display.Diverse(pool=pool), page_size=12, seed=1).page()  # type: ignore[arg-type]
        for pool in (5, 1e308)
    ]
    assert widest[0] == widest[1]
