"""Catalogs for tests, in memory and in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import seeker
from seeker import Catalog
from support.builds import jsonl, picture


def random_catalog(
    items: int = 300, dims: tuple[int, ...] = (24,), seed: int = 0, **options: object
) -> Catalog:
    """Make a catalog of clustered random vectors, one view per number of dimensions."""
    rng = np.random.default_rng(seed)
    views = {}
    for name, d in zip(("image", "colour", "text"), dims, strict=False):
        centres = rng.normal(size=(12, d))
        spread = rng.normal(size=(items, d))
        views[name] = centres[rng.integers(12, size=items)] + 0.6 * spread + 0.5
    options.setdefault(
        "attributes",
        {
            "kind": [f"kind {n % 5}" for n in range(items)],
            "price": [float(n % 17) for n in range(items)],
        },
    )
    return Catalog.from_arrays([f"item {n}" for n in range(items)], views, **options)  # type: ignore[arg-type]


def build_folder(path: Path, items: int = 120, seed: int = 0) -> Path:
    """Build a catalog with vectors, titles, prices and pictures."""
    rng = np.random.default_rng(seed)
    rows = []
    for n in range(5):
        picture(path.parent / "pictures" / f"{n}.png", (50 * n, 10, 20))
    for n in range(items):
        row: dict[str, Any] = {
            "id": f"folder/item {n}" if n % 10 == 0 else f"item-{n}",
            "title": f"{('red', 'green', 'blue')[n % 3]} thing",
            "price": n % 17,
            "picture": f"{n % 5}.png",
            "vector": rng.normal(size=12).round(3).tolist(),
        }
        rows.append(row)
    seeker.build(
        jsonl(path.parent / "things.jsonl", rows),
        path,
        views=["vector"],
        images=path.parent / "pictures",
        picture="picture",
    )
    return path
