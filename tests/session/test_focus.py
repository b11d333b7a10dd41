"""What matters: factors on the prior of the views, an event like any other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from cluster.walks import assert_alike, spread
from seeker import BadInput, Catalog, Session, models
from seeker.catalog.build.learned import publish_learned
from seeker.catalog.view_map import LinearMap, MapInput
from seeker.models.scores import Limits
from seeker.types import Doubles
from support.builds import jsonl
from support.catalogs import random_catalog
from support.formulas import rate


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return random_catalog(items=400, dims=(24, 9, 6), seed=7)


def by_weights(catalog: Catalog, focus: dict[str, float]) -> models.Choice:
    """The choice model with the prior that a focus should lead to, straight from the words."""
    grid = models.Choice().grid(list(catalog.views))
    weights = np.exp(grid.log_weights).reshape(len(grid.mixtures), -1)
    for row, mixture in zip(weights, grid.mixtures, strict=True):
        for name, part in zip(catalog.views, mixture, strict=True):
            row *= focus.get(name, 1.0) ** part
    return models.Choice(weights=tuple(map(float, weights.ravel())))


FOCI: list[dict[str, float]] = [
    {"colour": 0.0},
    {"colour": 16.0},
    {"image": 0.5, "text": 3.0},
    {"image": 0.0, "text": 0.0},
    {"image": 1e6},
    {},
]


@pytest.mark.parametrize("focus", FOCI, ids=repr)
def test_a_focus_multiplies_the_prior_of_the_mixtures(
    catalog: Catalog, focus: dict[str, float]
) -> None:
    session = catalog.session(seed=1)
    rate(session, 3, 2)
    session.focus(focus)
    other = catalog.session(model=by_weights(catalog, focus), seed=1)
    rate(other, 3, 2)
    np.testing.assert_allclose(session.belief.log_posterior, other.belief.log_posterior, atol=1e-9)
    assert session.belief.views == pytest.approx(other.belief.views, abs=1e-9)
    for name, factor in focus.items():
        if factor == 0.0:
            assert session.belief.views[name] < 1e-200


@pytest.mark.parametrize("small", [False, True], ids=["sums", "bounds"])
def test_it_is_undone_and_replayed_to_the_bit(small: bool) -> None:
    catalog = random_catalog(items=900, dims=(24, 9), seed=2)
    if small:
        catalog.limits = Limits(session_bytes=1000, sorted_items=16)
    else:
        catalog.limits = Limits(sorted_items=16)
    session, plain = catalog.session(seed=3), catalog.session(seed=3)
    for one in (session, plain):
        rate(one, 2, 1)
        one.refresh()
    before = plain.belief.log_posterior
    session.focus({"colour": 8.0})
    focused = session.page()
    replayed = Session.replay(
        catalog, json.loads(json.dumps([event.to_json() for event in session.events]))
    )
    assert replayed.page() == focused
    assert (replayed.belief.log_posterior == session.belief.log_posterior).all()
    session.refresh()
    item = session.page().ids[1]
    session.like(item)
    replayed.like(item)
    assert session.page() == replayed.page()
    session.undo(2)
    assert (session.belief.log_posterior == before).all()
    assert session.page() == plain.page()
    session.redo()
    assert session.page() == focused


def test_it_may_be_said_before_or_after_the_clicks(catalog: Catalog) -> None:
    first, last = catalog.session(), catalog.session()
    first.focus({"text": 20.0})
    rate(first, 2, 2)
    rate(last, 2, 2)
    last.focus({"text": 20.0})
    assert (first.belief.log_posterior == last.belief.log_posterior).all()
    last.focus({"image": 3.0})
    assert dict(last.state.focus) == {"image": 3.0}
    last.focus({"image": 1.0})
    assert dict(last.state.focus) == {}


@pytest.mark.parametrize("shards", [1, 3])
def test_shards_focus_alike(catalog: Catalog, shards: int) -> None:
    alone, over = catalog.session(seed=5), spread(catalog, shards).session(seed=5)
    acts: list[Any] = [
        lambda session: rate(session, 1, 1),
        lambda session: session.focus({"colour": 30.0, "text": 0.0}),
        lambda session: session.like(session.page().ids[2]),
        lambda session: session.focus({"image": 2.0}),
        lambda session: session.undo(),
        lambda session: session.undo(3),
    ]
    for act in acts:
        act(alone)
        act(over)
        assert_alike(alone, over)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"sound": 2.0}, "no view 'sound'"),
        ({"image": -1.0}, "at least 0"),
        ({"image": float("nan")}, "at least 0"),
        ({"image": 1e7}, "at most"),
        ({"image": "much"}, "at least 0"),
        ({"image": 0, "colour": 0, "text": 0}, "Something must matter"),
        ("colour", "What matters is"),
        (None, "What matters is"),
    ],
)
def test_what_cannot_matter_is_refused(catalog: Catalog, wrong: Any, words: str) -> None:
    session = catalog.session()
    with pytest.raises(BadInput, match=words):
        session.focus(wrong)
    assert session.step == 0


def test_where_nothing_is_weighed_nothing_can_matter_more(catalog: Catalog) -> None:
    for session in (
        catalog.session(model="pairwise"),
        random_catalog(items=60, dims=(4,)).session(),
    ):
        with pytest.raises(BadInput, match="one way only"):
            session.focus({"image": 2.0})
        session.focus({})


SIZES = {"looks": 6, "words": 4}


def learned(place: Path) -> Catalog:
    """Make a catalog with a learned view of two others."""
    rng = np.random.default_rng(4)
    rows = [
        {"id": f"i{n}", **{name: rng.normal(size=d).tolist() for name, d in SIZES.items()}}
        for n in range(60)
    ]
    seeker.build(jsonl(place / "rows.jsonl", rows), place / "shop", vectors=list(SIZES))
    inputs = tuple(
        MapInput(name, np.zeros(d, np.float32), rng.normal(size=(d, 5)).astype(np.float32))
        for name, d in SIZES.items()
    )
    return publish_learned(
        place / "shop", [LinearMap("learned", inputs)], list(SIZES), models.Choice(), 40, {}
    )


def shares(catalog: Catalog) -> Doubles:
    """How much of the distances in the learned view each other view makes, by its own items."""
    (one,) = catalog.maps.values()
    parts = []
    for part in one.inputs:
        vectors = catalog.views[part.view].rows(slice(None)) - part.centre
        parts.append((vectors @ part.matrix.astype(np.float64)).var(axis=0).sum())
    return np.asarray(np.array(parts) / sum(parts))


def test_a_learned_view_matters_as_what_it_is_made_of(tmp_path: Path) -> None:
    catalog = learned(tmp_path)
    parts = dict(zip(SIZES, shares(catalog), strict=True))
    told = catalog.view_shares("learned-2")
    assert told == pytest.approx(parts, abs=0.25)  # the axes of a view are not independent
    assert sum(told.values()) == pytest.approx(1.0)
    session = catalog.session(model=models.Choice(), views=["looks", "words", "learned-2"])
    session.focus({"words": 0.0})
    assert session.belief.views == pytest.approx({"looks": 1.0, "words": 0.0, "learned-2": 0.0})
    session.focus({"words": 10.0})
    grid = models.Choice().grid(["looks", "words", "learned-2"])
    prior = np.exp(grid.log_weights).reshape(len(grid.mixtures), -1).sum(axis=1)
    prior = prior * 10.0 ** (grid.mixtures @ [0.0, 1.0, told["words"]])
    expected = dict(zip(catalog.views, prior / prior.sum() @ grid.mixtures, strict=True))
    assert session.belief.views == pytest.approx(expected)
    only = catalog.session(model=models.Choice(), views=["learned-2", "looks"])
    only.focus({"words": 4.0})
    assert only.belief.views["learned-2"] > 0.5
