"""An embedder of words whose vectors are known by heart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seeker import Catalog
from seeker.embedders.base import TEXT, Embedder
from seeker.types import Floats

MEANINGS = {"red": 0, "scarlet": 0, "blue": 1, "navy": 1, "shoe": 2, "boot": 2, "hat": 3, "cap": 3}
"""Words by what they mean: an axis for each."""


class AxisEmbedder(Embedder):
    """Every word that it knows lies along an axis; all others along one of their own."""

    name = "axes"
    version = "1"
    dimensions = 6
    metric = "cosine"
    reads = frozenset({TEXT})

    def embed(self, batch: Sequence[Any]) -> Floats:
        vectors = np.zeros((len(batch), self.dimensions), np.float32)
        for row, text in enumerate(batch):
            for word in str(text).lower().split():
                vectors[row, MEANINGS.get(word, 5)] += 1.0
            vectors[row, 4] += 0.5
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def worded_catalog(items: int = 240, reads: bool = True, seed: int = 0) -> Catalog:
    """Make a catalog of red and blue shoes and hats; reads: it has a view that reads text."""
    rng = np.random.default_rng(seed)
    titles = [
        f"{('red', 'blue', 'green')[n % 3]} {('shoe', 'hat', 'glove', 'scarf')[n // 3 % 4]}"
        for n in range(items)
    ]
    views = {"looks": rng.normal(size=(items, 12))}
    embedder = AxisEmbedder()
    if reads:
        views["text"] = embedder.embed(titles).astype(np.float64)
    return Catalog.from_arrays(
        [f"item {n}" for n in range(items)],
        views,
        titles=titles,
        attributes={"price": [float(n % 7) for n in range(items)]},
        metric={"looks": "euclidean", "text": "cosine"} if reads else "euclidean",
        embedders={"text": embedder} if reads else None,
    )
