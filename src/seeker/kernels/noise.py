"""Keyed noise: a pure function of (session seed, step, item), so that nothing has to be kept.

The generator is SplitMix64 used as a counter-based one: item number i of a stream is the mixed
value of key + (i + 1) · 0x9E37…15. The Gumbel(0, 1) value of an item is −log(−log(1 − v)), with v
its 53-bit uniform number in (0, 1).
"""

from __future__ import annotations

import numpy as np

from seeker.kernels.simd import atanh2, float_bits, inlined, kernel, log

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)

# For the cheap upper bound, the uniform number is known by its power of two and the three bits
# after it: 54 × 8 classes, each with the largest noise in it.
_CLASS = np.uint64(49)
_LOWEST = np.uint64(int(np.float64(2.0**-54).view(np.uint64)) >> 49)


def _bounds() -> np.ndarray:
    """Upper bounds of the noise per class of the uniform number, shape (432,), float32."""
    codes = (np.arange(54 * 8, dtype=np.uint64) + _LOWEST) << _CLASS
    lowest = codes.view(np.float64)
    return np.nextafter((-np.log(-np.log1p(-lowest))).astype(np.float32), np.float32(np.inf))


BOUNDS = _bounds()
LARGEST = float(BOUNDS[0])


@inlined
def uniform(key, item):  # type: ignore[no-untyped-def]
    """Return the item's number in (0, 1): 53 bits, never 0 or 1."""
    z = key + (np.uint64(item) + np.uint64(1)) * _STEP
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    z = z ^ (z >> _31)
    return (np.float64(np.int64(z >> _11)) + 0.5) * 1.1102230246251565e-16


@inlined
def gumbel_of(v):  # type: ignore[no-untyped-def]
    """Return −log(−log(1 − v)), accurate for the smallest v as well."""
    if v > 0.25:
        return -log(-log(1.0 - v))
    return -log(atanh2(v / (2.0 - v)))


@kernel
def gumbel(key, items, out):  # type: ignore[no-untyped-def]
    """Write the Gumbel(0, 1) noise of the given items; items, out: (n,)."""
    for n in range(items.size):
        out[n] = gumbel_of(uniform(key, items[n]))


@kernel
def bound(upper, first, key, scale, largest, out, keep):  # type: ignore[no-untyped-def]
    """Write an upper bound of upper + scale · noise for every item, and find the best of them.

    upper, out: (items,) float32; first: the number of the first item; largest: the largest noise.
    Returns up to keep items with the highest bounds, in no order; where many share the lowest of
    these bounds, some are left out.
    """
    table = BOUNDS
    size = 4 * keep
    values = np.empty(size, np.float32)
    places = np.empty(size, np.int64)
    count = 0
    enough = np.float32(-np.inf)
    reach = np.float32(scale * largest)
    width = np.float32(scale)
    for i in range(upper.size):
        value = upper[i] + reach
        if value > enough and width > 0:
            code = (float_bits(uniform(key, first + i)) >> _CLASS) - _LOWEST
            value = upper[i] + width * table[code]
        out[i] = value
        if value > enough:
            values[count] = value
            places[count] = i
            count += 1
            if count == size:
                enough = np.partition(values, size - keep)[size - keep]
                count = 0
                for n in range(size):
                    if values[n] > enough:
                        values[count] = values[n]
                        places[count] = places[n]
                        count += 1
    if count > keep:
        order = np.argsort(-values[:count])
        return places[order[:keep]]
    return places[:count]


@kernel
def above(bounds, threshold, limit):  # type: ignore[no-untyped-def]
    """Return the places whose bound is at least the threshold, or limit + 1 of them at most."""
    count = 0
    found = np.empty(limit + 1, np.int64)
    for i in range(bounds.size):
        if bounds[i] >= threshold:
            found[count] = i
            count += 1
            if count > limit:
                break
    return found[:count]
