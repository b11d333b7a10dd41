"""What several tests use: small catalogs on which answers are known or can be computed slowly."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import settings

from seeker import Catalog

settings.register_profile("usual", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))


def made(
    items: int = 300, dims: tuple[int, ...] = (24,), seed: int = 0, **given: object
) -> Catalog:
    """Make a catalog of clustered random vectors, one view per number of dimensions."""
    rng = np.random.default_rng(seed)
    views = {}
    for name, d in zip(("image", "colour", "text"), dims, strict=False):
        centres = rng.normal(size=(12, d))
        spread = rng.normal(size=(items, d))
        views[name] = centres[rng.integers(12, size=items)] + 0.6 * spread + 0.5
    given.setdefault(
        "attributes",
        {
            "kind": [f"kind {n % 5}" for n in range(items)],
            "price": [float(n % 17) for n in range(items)],
        },
    )
    return Catalog.from_arrays([f"item {n}" for n in range(items)], views, **given)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def small() -> Catalog:
    return made()


@pytest.fixture(scope="session")
def two_views() -> Catalog:
    return made(dims=(24, 9))
