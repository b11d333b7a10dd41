"""Columns: one number per item from one probe vector, by a single reading of the item's vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from seeker.kernels.dots import LANES, dots
from seeker.kernels.simd import WIDE, inlined, kernel

STRIP = 64
"""Items worked on before their columns are written out, so that the writing runs in lines."""

AHEAD = 16
"""How many items ahead memory is asked for. Without it the arithmetic waits for memory: a pass
with twelve probes takes twice as long."""

_one_one = dots(1, 1)


def _all_probes(most: tuple[int, Any], many: tuple[int, Any], two: Any, one: Any) -> Any:
    """Make what multiplies a few items with all probes, as many at a time as registers hold.

    most, many: pairs of a number of probes and what multiplies with that many.
    """
    most_probes, most_dots = most
    many_probes, many_dots = many

    @inlined
    def multiply(vectors, rows, soon, origin, probes, out, place):  # type: ignore[no-untyped-def]
        count = probes.shape[1]
        first = 0
        while first + most_probes <= count:
            most_dots(vectors, rows, soon, origin, probes, first, out, place)
            first += most_probes
        while first + many_probes <= count:
            many_dots(vectors, rows, soon, origin, probes, first, out, place)
            first += many_probes
        while first + 2 <= count:
            two(vectors, rows, soon, origin, probes, first, out, place)
            first += 2
        if first < count:
            one(vectors, rows, soon, origin, probes, first, out, place)

    return multiply


_four = _all_probes(
    (12, dots(4, 12, wide=True)),
    (6, dots(4, 6, wide=True)),
    dots(4, 2, wide=True),
    dots(4, 1, wide=True),
)
_pair = _all_probes((6, dots(2, 6)), (4, dots(2, 4)), dots(2, 2), dots(2, 1))
_single = _all_probes((6, dots(1, 6)), (4, dots(1, 4)), dots(1, 2), _one_one)


@kernel
def columns(vectors, steps, rows, origin, probes, constants, out):  # type: ignore[no-untyped-def]
    """Write out[j, r] = constants[j] + steps[rows[r]] · (vectors[rows[r]] − origin) · probe j.

    vectors: (items, d); steps: (items,), or none where they are all 1; rows: (r,); constants:
    (m,); out: (m, r). origin, (padded d,), and probes, (padded d / 8, m, 8), are padded with
    zeros; the sums run in the probes' type.
    """
    count = probes.shape[1]
    dimensions = vectors.shape[1]
    padded = np.zeros((1, origin.size), vectors.dtype)
    strip = np.empty((STRIP, count), probes.dtype)
    last = rows.size - 1
    for start in range(0, rows.size, STRIP):
        length = min(STRIP, rows.size - start)
        r = 0
        if dimensions == origin.size:
            while WIDE and probes.itemsize == 4 and r + 4 <= length:
                at = start + r
                soon = min(at + AHEAD, last - 3)
                now = rows[at], rows[at + 1], rows[at + 2], rows[at + 3]
                later = rows[soon], rows[soon + 1], rows[soon + 2], rows[soon + 3]
                _four(vectors, now, later, origin, probes, strip, r)
                r += 4
            while probes.itemsize == 4 and r + 2 <= length:
                at = start + r
                soon = min(at + AHEAD, last)
                two, others = (rows[at], rows[at + 1]), (rows[soon], rows[min(soon + 1, last)])
                _pair(vectors, two, others, origin, probes, strip, r)
                r += 2
        while r < length:
            at = start + r
            if dimensions == origin.size:
                item, other = rows[at], rows[min(at + AHEAD, last)]
                _single(vectors, (item, item), (other, other), origin, probes, strip, r)
            else:
                padded[0, :dimensions] = vectors[rows[at]]
                _single(padded, (0, 0), (0, 0), origin, probes, strip, r)
            r += 1
        for j in range(count):
            column = out[j, start : start + length]
            constant = constants[j]
            if steps.size == 0:
                for r in range(length):
                    column[r] = strip[r, j] + constant
            else:
                for r in range(length):
                    column[r] = strip[r, j] * steps[rows[start + r]] + constant


@kernel
def spread(vectors, rows, centre, weights, out):  # type: ignore[no-untyped-def]
    """Write out[r] = Σ_k weights[k]² (vectors[rows[r], k] − centre[k])², in float64."""
    dimensions = vectors.shape[1]
    width = (dimensions + LANES - 1) // LANES * LANES
    padded = np.zeros((1, width), np.float64)
    zero = np.zeros(width, np.float64)
    probe = padded.reshape((width // LANES, 1, LANES))
    total = np.empty((1, 1), np.float64)
    for r in range(rows.size):
        item = vectors[rows[r]]
        for k in range(dimensions):
            padded[0, k] = (item[k] - centre[k]) * weights[k]
        _one_one(padded, (0, 0), (0, 0), zero, probe, 0, total, 0)
        out[r] = total[0, 0]


@kernel
def mean_distances(columns, one, other, average, out):  # type: ignore[no-untyped-def]
    """Write the mean over the views of distances between items, (one, other) float64.

    columns: of all items, (views, items, items), relative to the average item, whose distances from
    the others are average, (views, other) float64.
    """
    views = columns.shape[0]
    for i in range(one.size):
        line = out[i]
        for v in range(views):
            column = columns[v, one[i]]
            for j in range(other.size):
                distance = np.float64(column[other[j]]) + average[v, j]
                line[j] = distance if v == 0 else line[j] + distance
        for j in range(other.size):
            line[j] /= views
