"""Pages over data that nobody would wish for: made ready before, all alike, or far away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seeker import Catalog, models
from seeker.space.columns import DistanceProbe
from support.catalogs import random_catalog


def test_what_was_made_ready_is_what_would_have_been_made(two_views: Catalog) -> None:
    """To the bit, and lying in memory alike: the kernels add up in the order of the lanes."""
    fresh, ready = (models.Choice().space(list(two_views.views.values())) for _ in range(2))
    ready.expect([1, 5, 8, 13])
    for asked in ([DistanceProbe(8), DistanceProbe(1)], [DistanceProbe(5)], [], [DistanceProbe(2)]):
        one, other = fresh.prepare(asked), ready.prepare(asked)
        assert len(one.packed) == len(other.packed) == len(two_views.views)
        pairs = zip(one.packed + one.constants, other.packed + other.constants, strict=True)
        for mine, theirs in pairs:
            assert theirs.flags.c_contiguous
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_a_person_among_items_that_are_all_alike(metric: Any) -> None:
    catalog = Catalog.from_arrays(["a", "b"], {"x": [[1.0, 2.0]] * 2}, metric=metric)
    session = catalog.session(user={"x": [3.0, 0.5]})
    session.like("b")
    assert session.page().ids == ["a", "b"]
    assert session.explain("a").clicks[0].item == "b"


def test_a_page_after_a_refresh_is_that_without_one() -> None:
    """Also where vectors lie so far away that the order of a sum shows."""
    far = random_catalog(items=60, dims=(17,), seed=4).views["image"].rows(slice(None)) + 1e5
    catalog = Catalog.from_arrays([str(n) for n in range(60)], {"x": far})
    person = {"x": np.linspace(0.1, 3.0, 17)}
    hasty, patient = (catalog.session(seed=3, user=person) for _ in range(2))
    for n in range(6):
        item, shown = hasty.page().ids[n], hasty.page().ids
        for session in (hasty, patient):
            (session.dislike if n % 3 else session.like)(item, shown)
            session.page()
        patient.refresh()
        assert hasty.page() == patient.page()
        np.testing.assert_array_equal(hasty.belief.log_posterior, patient.belief.log_posterior)


def chebyshev(query: Any, vectors: Any) -> Any:
    """Return the largest differences, (n,)."""
    return np.abs(vectors - query).max(axis=1)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", chebyshev])
@pytest.mark.parametrize("model", [models.Pairwise(alpha=300.0), models.Bipartite(300.0, 300.0)])
def test_sums_have_room_whatever_the_metric(model: models.Model, metric: Any) -> None:
    """Thousands of nats do not wrap around: what is farthest from all likes comes last."""
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(40, 24)) * 0.1
    vectors[20:] += 1.0
    catalog = Catalog.from_arrays([str(n) for n in range(40)], {"x": vectors}, metric=metric)
    session = catalog.session(model=model, strategy="greedy", repeat="always", seed=1)
    for n in range(8):
        session.like(str(n), shown=[])
        session.dislike(str(20 + n), shown=[])
        session.page()
    logs = session.belief.log_posterior
    assert logs[20:].max() < -3000.0 < 0.0 < logs.max() + 3.0
    assert {int(item) for item in session.more(0, 20).ids} == set(range(20))
