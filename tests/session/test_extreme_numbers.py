"""Numbers so large or so small that sums could lose their way: beliefs stay beliefs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seeker import Catalog, Session, models
from seeker.errors import BadInput
from seeker.types import Array
from support.catalogs import random_catalog

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(40, 5))


def _catalog(vectors: Any, **given: Any) -> Catalog:
    return Catalog.from_arrays([f"item {n}" for n in range(len(vectors))], {"v": vectors}, **given)


def _searched(catalog: Catalog, **given: Any) -> Session:
    session = catalog.session(page_size=4, seed=1, **given)
    for verdict in ("like", "dislike", "like"):
        session.click(session.page().ids[0], verdict)
    return session


def _check(session: Session) -> None:
    """Check that what is believed adds up, and that undoing brings back what was."""
    belief = session.belief
    assert np.exp(belief.log_posterior).sum() == pytest.approx(1.0, abs=1e-6)
    assert sum(belief.views.values()) == pytest.approx(1.0)
    assert belief.settings.min() >= 0.0
    assert 0.0 <= belief.entropy <= np.log(len(session.catalog)) + 1e-9
    assert 0.0 <= belief.on_page <= 1.0
    page, logs = session.page(), belief.log_posterior.copy()
    session.like(page.ids[1])
    session.undo()
    assert session.page() == page
    np.testing.assert_array_equal(session.belief.log_posterior, logs)


@pytest.mark.parametrize("alpha", [1e9, 1e12, 1e100, 1e308])
@pytest.mark.parametrize("scale", ["unit", "raw"])
def test_models_may_be_as_sharp_as_numbers_go(alpha: float, scale: Any) -> None:
    catalog = random_catalog(60, (8, 4))
    for model in (models.Pairwise(alpha, scale), models.Bipartite(alpha, alpha, scale)):
        session = _searched(catalog, model=model)
        _check(session)
        assert session.belief.rank(session.likes[0]) < session.belief.rank(session.dislikes[0])


@pytest.mark.parametrize("model", ["choice", "relative", "pairwise", "bipartite"])
@pytest.mark.parametrize("far", [1e9, 1e18, 9e99])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_directions_may_be_as_long_as_numbers_go(model: str, far: float, metric: str) -> None:
    catalog = _catalog(VECTORS + 10.0, metric=metric)
    for sign in (1.0, -1.0):
        session = _searched(catalog, model=model)
        session.say([sign * far] * 5)
        _check(session)
    # All lie against the direction: the one that does least is the one.
    nearest = f"item {VECTORS.sum(axis=1).argmin()}"
    assert session.belief.rank(nearest) == 1.0
    assert session.belief.probability(nearest) == pytest.approx(1.0)


@pytest.mark.parametrize("beta", [1e12, 1e300])
def test_texts_may_count_as_much_as_numbers_go(beta: float) -> None:
    session = _searched(_catalog(VECTORS + 10.0), model=models.Choice(beta=beta))
    session.say([-1.0] * 5)
    _check(session)
    assert session.belief.rank(f"item {VECTORS.sum(axis=1).argmin()}") == 1.0


@pytest.mark.parametrize("model", ["choice", "relative", "pairwise", "bipartite"])
@pytest.mark.parametrize(("size", "ends"), [(1e-44, 0), (1e-40, 0), (1e38, 0), (1e37, 25)])
def test_small_and_large_vectors_are_told_apart(model: str, size: float, ends: int) -> None:
    shifted = VECTORS + np.where(np.arange(40)[:, None] % 4 == 1, ends, -ends)
    vectors = (shifted * size).astype(np.float32)
    session = _searched(_catalog(vectors), model=model)
    _check(session)
    # The same search among vectors of a usual size, of the same rounded numbers.
    usual = _catalog(vectors.astype(np.float64) / size).session(model=model, page_size=4, seed=1)
    for event in session.events[1:]:
        usual.take(event)
    np.testing.assert_allclose(session.belief.log_posterior, usual.belief.log_posterior, atol=1e-3)


def test_a_metric_may_return_numbers_that_float32_does_not_hold() -> None:
    def steep(query: Array, vectors: Array) -> Array:
        return np.asarray(1e30 * np.abs(vectors - query).sum(axis=1))

    for model in (models.Pairwise(scale="raw"), models.Bipartite(scale="raw"), models.Pairwise(0)):
        session = _catalog(VECTORS, metric=steep).session(model=model)
        session.like("item 3")
        session.dislike("item 4")
        _check(session)
        assert session.belief.rank("item 3") <= session.belief.rank("item 4")


def test_a_metric_whose_distances_cannot_be_squared_is_refused() -> None:
    def endless(query: Array, vectors: Array) -> Array:
        return np.asarray(1e200 * np.abs(vectors - query).sum(axis=1))

    with pytest.raises(BadInput, match="cannot be squared"):
        _catalog(VECTORS, metric=endless)


def test_many_pairs_add_up_to_more_than_32_bits_hold() -> None:
    vectors = 0.01 * RNG.normal(size=(40, 16))
    vectors[:, 0] += np.where(np.arange(40) < 20, 1.0, -1.0)
    catalog, alpha = _catalog(vectors), 55.0
    session = catalog.session(model=models.Pairwise(alpha=alpha))
    for n in range(6):
        session.like(f"item {n}", shown=())
        session.dislike(f"item {20 + n}", shown=())
    view = catalog.views["v"]
    exact = view.vectors.astype(np.float64)
    d = ((exact[:, None] - exact) ** 2).sum(axis=2) / view.scale
    expected = sum(
        -np.logaddexp(0.0, -alpha * (d[j] - d[i])) for i in range(6) for j in range(20, 26)
    )
    expected -= np.logaddexp.reduce(expected)
    np.testing.assert_allclose(session.belief.log_posterior, expected, rtol=1e-4, atol=1e-3)


def test_more_comparisons_than_can_be_added_up_are_refused_and_nothing_happens() -> None:
    session = random_catalog(120).session(model=models.Pairwise(alpha=1e300))
    for n in range(36):
        session.like(f"item {n}", shown=())
        session.dislike(f"item {60 + n}", shown=())
    before = session.page()
    session.like("item 40", shown=())
    with pytest.raises(BadInput, match="too many for so sharp a model"):
        session.dislike("item 100", shown=())
    session.undo()
    assert session.page() == before
    _check(session)
