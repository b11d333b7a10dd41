"""Where vectors lie and how far they spread, in whatever form they are stored."""

from __future__ import annotations

import numpy as np

from seeker.space.packing import unpacked
from seeker.space.runs import runs
from seeker.types import Array, Doubles, Floats


def mean(vectors: Array, steps: Array | None = None, centre: Floats | None = None) -> Doubles:
    """Return the mean per dimension, (d,); steps, centre: as in `View`."""
    total = np.zeros(vectors.shape[1])
    for run in runs(len(vectors)):
        total += _numbers(vectors, steps, centre, run).sum(axis=0, dtype=np.float64)
    return total / len(vectors)


def moments(
    vectors: Array, steps: Array | None, centre: Floats | None
) -> tuple[Doubles, Doubles, float]:
    """Return the mean and variance per dimension, (d,) each, and the largest squared radius."""
    middle = mean(vectors, steps, centre)
    variance = np.zeros(vectors.shape[1])
    radius = 0.0
    for run in runs(len(vectors)):
        squares = (_numbers(vectors, steps, centre, run) - middle) ** 2
        variance += squares.sum(axis=0)
        radius = max(radius, float(squares.sum(axis=1).max()))
    return middle, variance / len(vectors), radius


def _numbers(vectors: Array, steps: Array | None, centre: Floats | None, run: slice) -> Array:
    """Return a run of vectors as numbers that can be added, (n, d)."""
    if centre is None:
        return vectors[run]
    return unpacked(vectors[run], None if steps is None else steps[run], centre)
