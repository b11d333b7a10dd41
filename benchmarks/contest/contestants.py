"""All contestants, by name."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.contest.base import Contestant
from benchmarks.contest.by_faiss import Faiss
from benchmarks.contest.by_graphs import Hnswlib, UsearchExact, UsearchGraph
from benchmarks.contest.by_pgvector import Pgvector
from benchmarks.contest.by_qdrant import Embedded, Local
from benchmarks.contest.plain import Memory, Numpy


def _seeker() -> Contestant:
    from benchmarks.contest.ours import Seeker

    return Seeker()


def _service() -> Contestant:
    from benchmarks.contest.ours import Service

    return Service()


CONTESTANTS: dict[str, Callable[[], Contestant]] = {
    "memory": Memory,
    "seeker": _seeker,
    "seeker-service": _service,
    "numpy": Numpy,
    "faiss-flat": lambda: Faiss("flat"),
    "faiss-ivf": lambda: Faiss("ivf"),
    "faiss-hnsw": lambda: Faiss("hnsw"),
    "usearch-exact": UsearchExact,
    "usearch-hnsw": UsearchGraph,
    "hnswlib": Hnswlib,
    "qdrant-embedded": Embedded,
    "qdrant-local": Local,
    "pgvector": Pgvector,
}
