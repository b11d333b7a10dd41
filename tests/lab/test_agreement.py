"""The curve of how much a search depends on seeing alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.lab.agreement import (
    AS_IS,
    EXACT,
    LABELLED,
    figure,
    measure,
    mixed_perception,
    with_label_view,
)
from seeker import Catalog
from seeker.lab import Perception, Sense
from seeker.lab.bench import Bench
from seeker.lab.people import BestAndWorst
from seeker.lab.perception import label_vectors

pytest.importorskip("pyarrow")


def bench(items: int = 150) -> Bench:
    rng = np.random.default_rng(4)
    views = {name: rng.normal(size=(items, d)) for name, d in (("image", 6), ("colour", 4))}
    senses = {
        "deep": rng.normal(size=(items, 6)).astype(np.float32),
        "layout": rng.normal(size=(items, 4)).astype(np.float32),
        "label": np.array([("shoe", "hat", "")[row % 3] for row in range(items)]),
    }
    return Bench(Catalog.from_arrays([str(row) for row in range(items)], views), senses)


def squares(vectors: np.ndarray, row: int) -> np.ndarray:
    return np.asarray(((vectors.astype(np.float64) - vectors[row]) ** 2).sum(axis=1))


def test_labels_as_vectors_are_0_or_1_apart_and_an_empty_one_is_like_no_other() -> None:
    vectors = label_vectors(np.array(["a", "b", "a", "", ""]))
    apart = np.array([squares(vectors, row) for row in range(5)])
    expected = [[0, 1, 0, 1, 1], [1, 0, 1, 1, 1], [0, 1, 0, 1, 1], [1, 1, 1, 0, 1], [1, 1, 1, 1, 0]]
    np.testing.assert_allclose(apart, expected, atol=1e-6)


def test_a_persons_vectors_have_exactly_the_persons_distances() -> None:
    made = bench()
    eyes = Perception([Sense(n, v, 0.3 + 0.2 * len(n)) for n, v in made.senses.items()], 0.0)
    rows = np.array([row for row in range(150) if row != 7])
    np.testing.assert_allclose(squares(eyes.vectors(), 7)[rows], eyes.distances(7, rows), rtol=1e-4)


def test_the_share_runs_from_the_systems_own_views_to_foreign_senses_only() -> None:
    made = bench()
    own = {sense.name: sense.weight for sense in mixed_perception(made, 0.0).senses}
    foreign = {sense.name: sense.weight for sense in mixed_perception(made, 1.0).senses}
    half = {sense.name: sense.weight for sense in mixed_perception(made, 0.5).senses}
    assert own == {"the system's image": 0.6, "the system's colour": 0.6, "label": 0.5}
    assert foreign == {"deep": 0.6, "layout": 0.6, "label": 0.5}
    assert half["deep"] == half["the system's image"] == 0.3
    assert half["label"] == 0.5


def test_the_label_becomes_a_view_beside_the_others() -> None:
    catalog = with_label_view(bench())
    assert list(catalog.views) == ["image", "colour", "label"]


def test_who_sees_as_the_system_does_is_found_more_often(tmp_path: Path) -> None:
    made = measure(
        bench(), tmp_path, 20, shares=(0.0, 1.0), people=[BestAndWorst()], processes=1, pages=4
    )
    assert set(made) == {AS_IS, LABELLED, EXACT}
    as_is, exact = made[AS_IS], made[EXACT]
    assert as_is[0][1].value > as_is[1][1].value + 0.2
    assert exact[1][1].value > as_is[1][1].value + 0.2
    assert EXACT in figure(made)
