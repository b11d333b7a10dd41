"""Shards over data that nobody would wish for show what one machine shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cluster.walks import walk
from seeker import Catalog, display, models
from seeker.types import Doubles

ITEMS = 61


def _copies(x: Doubles) -> Doubles:
    return x[np.arange(len(x)) % 7]


def _one_far_off(x: Doubles) -> Doubles:
    x[5, 0] = 1e4
    return x


KINDS: dict[str, Callable[[Doubles], Doubles]] = {
    "copies": _copies,
    "all alike": lambda x: np.repeat(x[:1], len(x), 0),
    "half of them nothing": lambda x: x * (np.arange(len(x)) % 2)[:, None],
    "far from the origin": lambda x: x + 1e5,
    "small": lambda x: x * 1e-3,
    "large": lambda x: x * 1e6,
    "heavy tails": lambda x: x**7,
    "one far off": _one_far_off,
}

MODELS: tuple[models.Model, ...] = (
    models.Choice(),
    models.Pairwise(alpha=30.0),
    models.Bipartite(),
    models.Relative(),
)


@pytest.mark.parametrize("shards", [1, 3, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_odd_data_over_shards(kind: str, shards: int) -> None:
    number = list(KINDS).index(kind)
    rng = np.random.default_rng(number)
    odd, plain = KINDS[kind](rng.normal(size=(ITEMS, 9))), rng.normal(size=(ITEMS, 4))
    dtypes: tuple[Any, ...] = ("float32", "int8")
    catalog = Catalog.from_arrays(
        [f"item {n}" for n in range(ITEMS)],
        {"image": odd, "colour": plain},
        metric={"image": "manhattan" if number % 3 == 1 else "euclidean", "colour": "cosine"},
        dtype=dtypes[number % 2],
        attributes={
            "kind": [f"kind {n % 5}" for n in range(ITEMS)],
            "price": [float(n % 17) for n in range(ITEMS)],
        },
    )
    model = MODELS[(number + shards) % len(MODELS)]
    strategy = display.EpsilonGreedy(epsilon=0.3) if shards == 3 else display.Boltzmann()
    walk(catalog, shards, number, 8, model=model, strategy=strategy, page_size=5)


@pytest.mark.parametrize("filter", [{"kind": "only one"}, {"kind": "in the last shard"}])
def test_filters_that_leave_next_to_nothing(filter: dict[str, str]) -> None:
    rng = np.random.default_rng(1)
    kinds = ["only one"] + ["kind 1"] * 50 + ["in the last shard"] * 10
    attributes: dict[str, list[Any]] = {"kind": kinds, "price": [1.0] * ITEMS}
    catalog = Catalog.from_arrays(
        [f"item {n}" for n in range(ITEMS)],
        {"image": rng.normal(size=(ITEMS, 6))},
        attributes=attributes,
    )
    walk(catalog, 7, 3, 5, filter=filter)


def test_as_many_shards_as_items() -> None:
    rng = np.random.default_rng(1)
    catalog = Catalog.from_arrays(
        [f"item {n}" for n in range(3)],
        {"image": rng.normal(size=(3, 6))},
        attributes={"kind": ["kind 1"] * 3, "price": [1.0] * 3},
    )
    walk(catalog, 3, 3, 8, page_size=12)
