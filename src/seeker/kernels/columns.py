"""Columns: one number per item from one probe vector, by a single reading of the item's vector."""

from __future__ import annotations

import numpy as np

from seeker.kernels.simd import LANES, dots, inlined, kernel

STRIP = 64
"""Items worked on before their columns are written out, so that the writing runs in lines."""

_twelve, _six, _two, _one = dots(12), dots(6), dots(2), dots(1)


@inlined
def _products(item, origin, probes, sums):  # type: ignore[no-untyped-def]
    """Write sums[j] = (item − origin) · probe j, as many at a time as there are registers for."""
    count = probes.shape[1]
    first = 0
    if probes.itemsize == 4:
        while first + 12 <= count:
            _twelve(item, origin, probes, first, sums)
            first += 12
    while first + 6 <= count:
        _six(item, origin, probes, first, sums)
        first += 6
    while first + 2 <= count:
        _two(item, origin, probes, first, sums)
        first += 2
    if first < count:
        _one(item, origin, probes, first, sums)


@kernel
def columns(vectors, rows, origin, probes, constants, out):  # type: ignore[no-untyped-def]
    """Write out[j, r] = constants[j] + (vectors[rows[r]] − origin) · probe j.

    vectors: (items, d); rows: (r,); constants: (m,); out: (m, r). origin, (padded d,), and
    probes, (padded d / 8, m, 8), are padded with zeros; the sums run in the probes' type.
    """
    count = probes.shape[1]
    dimensions = vectors.shape[1]
    whole = dimensions == origin.size
    padded = np.zeros(origin.size, vectors.dtype)
    strip = np.empty((STRIP, count), probes.dtype)
    for start in range(0, rows.size, STRIP):
        length = min(STRIP, rows.size - start)
        for r in range(length):
            item = vectors[rows[start + r]]
            if whole:
                _products(item, origin, probes, strip[r])
            else:
                padded[:dimensions] = item
                _products(padded, origin, probes, strip[r])
        for j in range(count):
            column = out[j, start : start + length]
            constant = constants[j]
            for r in range(length):
                column[r] = strip[r, j] + constant


@kernel
def spread(vectors, rows, centre, weights, out):  # type: ignore[no-untyped-def]
    """Write out[r] = Σ_k weights[k]² (vectors[rows[r], k] − centre[k])², in float64."""
    dimensions = vectors.shape[1]
    padded = np.zeros((dimensions + LANES - 1) // LANES * LANES, np.float64)
    zero = np.zeros(padded.size, np.float64)
    probe = padded.reshape((padded.size // LANES, 1, LANES))
    for r in range(rows.size):
        item = vectors[rows[r]]
        for k in range(dimensions):
            padded[k] = (item[k] - centre[k]) * weights[k]
        _one(padded, zero, probe, 0, out[r : r + 1])
