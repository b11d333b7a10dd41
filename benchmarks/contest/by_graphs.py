"""usearch and hnswlib: graphs of neighbours, and usearch's brute force over floats and bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.contest.base import PAGE, Contestant, Way, average, nearest
from benchmarks.datasets import Vectors

DEGREE = 16
BUILD_EFFORT = 128
EFFORT = 128


def _way(name: str, exact: bool, vectors: Vectors, ask: Callable[[Vectors], list[int]]) -> Way:
    """Return the way that asks for neighbours of the averaged vector."""
    norms = np.einsum("ij,ij->i", vectors, vectors)
    return Way(
        name,
        exact,
        ask,
        prepare=lambda round: average(vectors, round),
        truth=lambda round: nearest(vectors, average(vectors, round), norms),
    )


class UsearchGraph(Contestant):
    """The graph of usearch, over float32."""

    name = "usearch HNSW"
    packages = ("usearch",)
    copies = True

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Add all vectors."""
        from usearch.index import Index

        index = Index(
            ndim=vectors.shape[1],
            metric="l2sq",
            dtype="f32",
            connectivity=DEGREE,
            expansion_add=BUILD_EFFORT,
            expansion_search=EFFORT,
        )
        index.add(np.arange(len(vectors)), vectors)

        def ask(query: Vectors) -> list[int]:
            return [int(row) for row in index.search(query, PAGE).keys]

        yield "index", [_way("averaged vector", False, vectors, ask)]


class UsearchExact(Contestant):
    """Brute force of usearch, over float32 and over bytes with one scale for all."""

    name = "usearch exact"
    packages = ("usearch",)

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Round the vectors to bytes for the second way."""
        from usearch.compiled import MetricKind
        from usearch.index import search

        def whole(query: Vectors) -> list[int]:
            matches = search(vectors, query, PAGE, MetricKind.L2sq, exact=True)
            return [int(row) for row in matches.keys]

        yield "nothing", [_way("averaged vector", True, vectors, whole)]

        scale = 127.0 / float(np.abs(vectors).max())
        small = np.empty(vectors.shape, np.int8)
        for start in range(0, len(vectors), 100_000):
            small[start : start + 100_000] = np.rint(vectors[start : start + 100_000] * scale)

        def rounded(query: Vectors) -> list[int]:
            narrow = np.clip(np.rint(query * scale), -127, 127).astype(np.int8)
            matches = search(small, narrow, PAGE, MetricKind.L2sq, exact=True)
            return [int(row) for row in matches.keys]

        yield "bytes", [_way("averaged vector, int8", False, vectors, rounded)]


class Hnswlib(Contestant):
    """The graph of hnswlib, over float32."""

    name = "hnswlib"
    packages = ("hnswlib",)
    copies = True

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Add all vectors."""
        import hnswlib

        index = hnswlib.Index(space="l2", dim=vectors.shape[1])
        index.init_index(len(vectors), ef_construction=BUILD_EFFORT, M=DEGREE)
        index.add_items(vectors, np.arange(len(vectors)))
        index.set_ef(EFFORT)

        def ask(query: Vectors) -> list[int]:
            return [int(row) for row in index.knn_query(query, PAGE)[0][0]]

        yield "index", [_way("averaged vector", False, vectors, ask)]
