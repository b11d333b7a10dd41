"""A view: one way of comparing items, a matrix of vectors with a metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from seeker.errors import BadInput
from seeker.space import metric as metrics
from seeker.space.metric import Metric
from seeker.types import Array, Doubles, Floats

Scale = Literal["unit", "raw"]

_CHUNK = 16_384
_SAMPLE = 256


@dataclass(frozen=True, eq=False)
class View:
    """One way of comparing items.

    vectors: (items, d) float32, read-only. mean, variance: (d,), over the items. radius: the
    largest squared distance of an item from the mean. scale: the mean squared distance between
    two random items; distances are divided by it, so that they are about 1 in every catalog. With
    units="raw" the scale is 1.
    """

    name: str
    vectors: Floats = field(repr=False)
    metric: Metric
    mean: Doubles = field(repr=False)
    variance: Doubles = field(repr=False)
    radius: float
    scale: float
    units: Scale = "unit"

    @classmethod
    def from_vectors(
        cls, name: str, vectors: object, metric: Metric = "euclidean", units: Scale = "unit"
    ) -> View:
        """Check the vectors, keep them as float32 and measure what distances need."""
        kept = _float32(name, vectors)
        if metric == "cosine":
            kept = _unit_length(name, kept)
        mean, variance, radius = _moments(kept)
        kept.setflags(write=False)
        mean_square = 2.0 * float(variance.sum())
        if metric not in metrics.FAST:
            mean_square = _mean_squared(metric, kept)
        scale = mean_square if units == "unit" and mean_square > 0.0 else 1.0
        return cls(name, kept, metric, mean, variance, radius, scale, units)

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def dimensions(self) -> int:
        """How many numbers describe an item."""
        return int(self.vectors.shape[1])

    @property
    def fast(self) -> bool:
        """Whether differences of distances are linear in the item's vector."""
        return self.metric in metrics.FAST

    @cached_property
    def origin(self) -> Floats:
        """Where vectors are measured from, (d,): near the mean, so that float32 loses nothing."""
        return self.mean.astype(np.float32)

    def rows(self, rows: Array) -> Doubles:
        """Return the vectors of some items, (n, d) float64."""
        return self.vectors[rows].astype(np.float64)


def _float32(name: str, vectors: object) -> Floats:
    """Return a float32 array, (items, d), that nobody else will change."""
    try:
        given = np.asarray(vectors)
        numeric = given.dtype.kind in "fiub"
    except ValueError:
        numeric = False
    if not numeric:
        raise BadInput(
            f"The vectors of view '{name}' are not an array of numbers.",
            "Give one row of numbers per item, all rows of the same length.",
        )
    if given.ndim != 2 or given.shape[1] == 0:
        raise BadInput(
            f"The vectors of view '{name}' have shape {given.shape}.",
            "They must have shape (items, dimensions), with at least one dimension.",
        )
    shared = given.dtype == np.float32 and given.flags.c_contiguous and not given.flags.writeable
    with np.errstate(over="ignore"):
        kept = given if shared else np.array(given, dtype=np.float32, order="C")
    for start in range(0, len(kept), _CHUNK):
        bad = ~np.isfinite(kept[start : start + _CHUNK]).all(axis=1)
        if bad.any():
            row = start + int(np.argmax(bad))
            large = given.dtype.kind in "iu" or bool(np.isfinite(given[row]).all())
            what = "a number too large for float32" if large else "NaN or infinity"
            raise BadInput(
                f"Row {row} of view '{name}' holds {what}.",
                "Every number must be finite; leave such items out or repair them.",
            )
    return kept


def _unit_length(name: str, vectors: Floats) -> Floats:
    """Return the vectors scaled to length one, (items, d)."""
    unit = np.empty_like(vectors)
    for start in range(0, len(vectors), _CHUNK):
        chunk = vectors[start : start + _CHUNK].astype(np.float64)
        length = np.sqrt((chunk**2).sum(axis=1, keepdims=True))
        if not length.all():
            row = start + int(np.argmin(length))
            raise BadInput(
                f"Row {row} of view '{name}' is all zeros, which has no direction.",
                "The cosine metric needs every vector to differ from zero.",
            )
        unit[start : start + _CHUNK] = chunk / length
    return unit


def _moments(vectors: Floats) -> tuple[Doubles, Doubles, float]:
    """Return the mean and variance per dimension, (d,) each, and the largest squared radius."""
    count, dimensions = vectors.shape
    mean = np.zeros(dimensions)
    for start in range(0, count, _CHUNK):
        mean += vectors[start : start + _CHUNK].sum(axis=0, dtype=np.float64)
    mean /= count
    variance = np.zeros(dimensions)
    radius = 0.0
    for start in range(0, count, _CHUNK):
        squares = (vectors[start : start + _CHUNK] - mean) ** 2
        variance += squares.sum(axis=0)
        radius = max(radius, float(squares.sum(axis=1).max()))
    return mean, variance / count, radius


def _mean_squared(metric: Metric, vectors: Floats) -> float:
    """Return the mean squared distance between two items, over all or over an even sample."""
    sample = sample_of(vectors)
    return float(np.mean([metrics.squared(metric, query, sample).mean() for query in sample]))


def sample_of(vectors: Floats) -> Doubles:
    """Return evenly spread rows that stand for all, (at most 256 of a large catalog, d)."""
    few = len(vectors) <= 8 * _SAMPLE
    places = np.linspace(0, len(vectors) - 1, len(vectors) if few else _SAMPLE).astype(np.int64)
    return vectors[places].astype(np.float64)
