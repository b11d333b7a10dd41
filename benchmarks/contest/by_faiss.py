"""FAISS: flat (exact), inverted lists and a graph; asked for the neighbours of one vector."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest.base import PAGE, Contestant, Way, average, nearest
from benchmarks.datasets import Vectors

LISTS_SEARCHED = 16
GRAPH_DEGREE = 32
GRAPH_EFFORT = 128


class Faiss(Contestant):
    """One kind of index: "flat", "ivf" or "hnsw"."""

    packages = ("faiss-cpu",)
    copies = True

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = f"FAISS {kind}"

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Train where needed and add all vectors."""
        index = self._index(vectors)
        index.add(np.ascontiguousarray(vectors))

        def ask(query: Vectors) -> list[int]:
            return [int(row) for row in index.search(query[None], PAGE)[1][0]]

        norms = np.einsum("ij,ij->i", vectors, vectors)
        way = Way(
            "averaged vector",
            self.kind == "flat",
            ask,
            prepare=lambda round: average(vectors, round),
            truth=lambda round: nearest(vectors, average(vectors, round), norms),
        )
        yield "index", [way]

    def _index(self, vectors: Vectors) -> Any:
        import faiss

        items, dimensions = vectors.shape
        if self.kind == "flat":
            return faiss.IndexFlatL2(dimensions)
        if self.kind == "hnsw":
            graph = faiss.IndexHNSWFlat(dimensions, GRAPH_DEGREE)
            graph.hnsw.efSearch = GRAPH_EFFORT
            return graph
        lists = max(1, int(4 * math.sqrt(items)))
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(dimensions), dimensions, lists)
        sample = np.random.default_rng(0).choice(items, min(items, 40 * lists), replace=False)
        index.train(np.ascontiguousarray(vectors[np.sort(sample)]))
        index.nprobe = LISTS_SEARCHED
        return index
