"""One's own eyes: what a person's found searches teach of them, and what it is worth."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cluster.walks import assert_alike, spread
from seeker import Catalog
from seeker.catalog.build.learned import publish_learned
from seeker.catalog.view_map import LinearMap, MapInput
from seeker.lab.perception import Perception, Sense
from seeker.learning.personal import AxisLoss, Choices, personal_prior
from seeker.learning.searches import PastClick, PastSearch, SearchReader
from seeker.models import Choice, Relative
from seeker.types import Doubles
from support.searches import search_for, seen_catalog

SIZES = {"looks": 16, "words": 8}
AXES = sum(SIZES.values())


def side_by_side() -> LinearMap:
    """A map that changes nothing: the axes of all views, one after the other."""
    parts, first = [], 0
    for view, d in SIZES.items():
        matrix = np.zeros((d, AXES), np.float32)
        matrix[:, first : first + d] = np.eye(d) / np.sqrt(2.0 * d * 2.0)
        parts.append(MapInput(view, np.zeros(d, np.float32), matrix))
        first += d
    return LinearMap("learned", tuple(parts))


def usual(kind: type[Choice]) -> Choice:
    """How everybody begins: by the learned view alone, or nearly."""
    model = kind(sigmas=(0.4, 0.2, 0.1))
    weights = np.full((len(model.mixtures(3)), 3), 0.002)
    weights[2 if kind is Choice else -1] = 0.3
    return kind(sigmas=(0.4, 0.2, 0.1), weights=tuple(weights.ravel().tolist()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, _ = seen_catalog(tmp_path_factory.mktemp("personal") / "shop")
    publish_learned(folder, [side_by_side()], list(SIZES), usual(Choice), 100, {})
    return folder


@pytest.fixture(scope="module")
def shop(folder: Path) -> Catalog:
    return Catalog.open(folder)


def eyes_for(shop: Catalog, view: str) -> Perception:
    """Somebody who goes by one view."""
    return Perception([Sense(view, np.array(shop.views[view].vectors))], 0.1)


def searches(shop: Catalog, view: str, targets: Sequence[int]) -> list[PastSearch]:
    eyes, reader = eyes_for(shop, view), SearchReader(shop, "shop")
    for target in targets:
        session = search_for(shop, eyes, target, seed=target)
        if session is not None:
            reader.read(session.to_json(), str(target))
    return reader.searches


def slow_loss(a: Doubles, shop: Catalog, past: Sequence[PastSearch], model: Choice) -> float:
    """−log P of all clicks, item by item and axis by axis."""
    view = shop.views["learned-2"]
    c = [math.exp(float(one)) for one in a]
    unit = 2.0 * sum(ck**2 * float(v) for ck, v in zip(c, view.variance, strict=True))
    total = 0.0
    for search in past:
        target = view.rows(np.array([shop.row(search.target)]))[0]
        for click in search.clicks:
            odds = []
            for item in click.among:
                x = view.rows(np.array([shop.row(item)]))[0]
                d = sum((ck * (p - q)) ** 2 for ck, p, q in zip(c, x, target, strict=True)) / unit
                if isinstance(model, Relative):
                    d = math.log(d + model.floor)
                odds.append(math.exp((-d if click.liked else d) / 0.2))
            chance = (1.0 - model.slip) * odds[0] / sum(odds) + model.slip / len(odds)
            total -= math.log(chance)
    return total


@pytest.mark.parametrize("model", [Choice(), Relative()], ids=["choice", "relative"])
def test_the_loss_and_its_slopes_are_those_of_the_slow_formula(
    shop: Catalog, model: Choice
) -> None:
    past = searches(shop, "looks", range(4))
    loss = AxisLoss(shop.views["learned-2"], Choices.of(shop, past), model, noise=0.2)
    a = np.random.default_rng(0).normal(0.0, 0.3, AXES)
    assert loss.value(a) == pytest.approx(slow_loss(a, shop, past, model), rel=1e-5)
    slopes = loss.gradient(a)
    for axis in (0, 5, 17, 23):
        step = np.zeros(AXES)
        step[axis] = 1e-5
        low, high = (slow_loss(a + sign * step, shop, past, model) for sign in (-1.0, 1.0))
        assert slopes[axis] == pytest.approx((high - low) / 2e-5, rel=1e-3, abs=1e-3)


def test_the_order_of_searches_and_of_their_reading_does_not_matter(shop: Catalog) -> None:
    past = searches(shop, "looks", range(8))
    one = personal_prior(shop, usual(Choice), past)
    other = personal_prior(
        shop, usual(Choice), [past[n] for n in (3, 0, 6, 5, 1, 7, 4, 2)][: len(past)]
    )
    assert one.weights.tolist() == other.weights.tolist()
    assert one.vectors["learned-2"].tolist() == other.vectors["learned-2"].tolist()


@pytest.mark.parametrize("kind", [Choice, Relative])
def test_people_who_go_by_different_things_get_eyes_of_their_own(
    shop: Catalog, kind: type[Choice]
) -> None:
    model, gains = usual(kind), {}
    for view in SIZES:
        past = searches(shop, view, range(16))
        known = personal_prior(shop, model, past[:8])
        c = known.vectors["learned-2"]
        looks, words = c[:16].mean(), c[16:].mean()
        assert (looks > 1.1 * words) if view == "looks" else (words > 1.1 * looks)
        assert known.weights.sum() == pytest.approx(1.0)
        assert (known.weights > 0.0).all()
        assert (c**2 @ shop.views["learned-2"].variance) == pytest.approx(
            shop.views["learned-2"].variance.sum()
        )
        weights = tuple(known.weights.tolist())
        everybody = posterior(shop, model, None, past[8:])
        theirs = posterior(
            shop, kind(sigmas=model.sigmas, weights=weights), known.vectors, past[8:]
        )
        gains[view] = float(np.mean(theirs - everybody))
    assert min(gains.values()) > 0.1, gains


def posterior(shop: Catalog, model: Choice, vectors: Any, past: Sequence[PastSearch]) -> Doubles:
    """Return how probable what was found is held after four clicks, as logs, (searches,)."""
    logs = []
    for search in past:
        session = shop.session(model=model, views=list(shop.views), user=vectors, seed=1)
        for click in search.clicks[:4]:
            session.click(click.item, "like" if click.liked else "dislike", list(click.among))
        logs.append(session.belief.log_posterior[shop.row(search.target)])
    return np.array(logs)


def test_few_searches_change_little_and_many_are_bounded(shop: Catalog) -> None:
    past = searches(shop, "looks", range(8))
    model = usual(Choice)
    everybody = np.exp(model.grid(list(shop.views)).log_weights)
    away = [
        float(np.abs(np.log(personal_prior(shop, model, past[:n]).vectors["learned-2"])).mean())
        for n in (1, 6)
    ]
    assert 0.0 < away[0] < away[1]
    assert np.abs(personal_prior(shop, model, past[:1]).weights - everybody).max() < 0.2
    many = past * 400
    assert len(Choices.of(shop, many).shown) <= 3000
    ids = shop.ids
    crowded = PastSearch(ids[0], (PastClick(ids[1], True, tuple(ids[1:]) * 20),))
    nothing = personal_prior(shop, model, [crowded])
    assert (nothing.vectors, nothing.weights.tolist()) == ({}, everybody.tolist())


def test_compact_views_teach_the_same_and_shards_search_with_it_alike(tmp_path: Path) -> None:
    priors = {}
    for dtype in ("float32", "int8"):
        folder, _ = seen_catalog(tmp_path / dtype, dtype=dtype)
        publish_learned(folder, [side_by_side()], list(SIZES), usual(Choice), 100, {})
        shop = Catalog.open(folder)
        assert shop.views["learned-2"].dtype == dtype
        past = searches(shop, "looks", range(5))
        priors[dtype] = personal_prior(shop, usual(Choice), past).vectors["learned-2"]
    assert np.abs(priors["int8"][:16].mean() - priors["float32"][:16].mean()) < 0.1
    known = {"learned-2": np.round(priors["int8"], 2)}
    alone, shards = (one.session(user=known, seed=3) for one in (shop, spread(shop, 3)))
    for session in (alone, shards):
        page = session.page().ids
        session.like(page[0], shown=page)
        session.dislike(page[3], shown=page)
    assert_alike(alone, shards)


def test_a_vector_takes_few_bytes_of_a_session(shop: Catalog) -> None:
    c = np.round(
        personal_prior(shop, usual(Choice), searches(shop, "looks", range(5))).vectors["learned-2"],
        2,
    )
    session = shop.session(user={"learned-2": c})
    start = session.events[0].to_json()
    assert len(json.dumps(start["user"])) <= 20 + 6 * AXES
