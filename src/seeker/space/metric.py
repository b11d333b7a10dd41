"""The ways to measure a distance between vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, cast

import numpy as np

from seeker.errors import BadInput
from seeker.types import Array, Doubles

Measure: TypeAlias = Callable[[Doubles, Array], Array]
"""measure(query, vectors): distances from query, shape (d,), to vectors, shape (n, d): (n,)."""

Metric: TypeAlias = Literal["euclidean", "cosine", "manhattan"] | Measure

FAST = ("euclidean", "cosine")
"""Squared distances whose differences are linear in the item's vector."""

_MAX_DISTANCE = 1e150
"""Distances up to this can be squared, and the squares be added up."""


def check(metric: object) -> Metric:
    """Return the metric if it is one that Seeker knows or can call."""
    if callable(metric) or metric in (*FAST, "manhattan"):
        return cast(Metric, metric)
    raise BadInput(
        f"{metric!r} is not a metric.",
        "Use 'euclidean', 'cosine', 'manhattan' or a function of (query, vectors).",
    )


def manhattan(query: Doubles, vectors: Array) -> Doubles:
    """Return the sums of absolute differences, shape (n,)."""
    return np.asarray(np.abs(vectors - query).sum(axis=1))


def squared(metric: Metric, query: Doubles, vectors: Array) -> Doubles:
    """Return squared distances from query, shape (d,), to vectors, shape (n, d): (n,) float64.

    This is the one place where a metric without a fast path is measured.
    """
    if metric in FAST:
        return np.asarray(((vectors - query) ** 2).sum(axis=1, dtype=np.float64))
    measure = manhattan if metric == "manhattan" else cast(Measure, metric)
    distances = np.asarray(measure(query, vectors), dtype=np.float64)
    if distances.shape != vectors.shape[:1]:
        raise BadInput(
            f"The metric returned shape {distances.shape} for {len(vectors)} vectors.",
            "It must return one distance per vector.",
        )
    if not np.isfinite(distances).all():
        raise BadInput("The metric returned a distance that is not a finite number.")
    if not bool((np.abs(distances) <= _MAX_DISTANCE).all()):
        raise BadInput(
            f"The metric returned a distance beyond {_MAX_DISTANCE:g}, which cannot be squared.",
            "Return smaller numbers.",
        )
    return distances**2


def mean_square(metric: Metric, sample: Doubles) -> float:
    """Return the mean squared distance between two of some vectors, (n, d)."""
    return float(np.mean([squared(metric, query, sample).mean() for query in sample]))
