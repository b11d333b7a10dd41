"""Keyed noise: a pure function of (session seed, step, item), so that nothing has to be kept.

The generator is SplitMix64 used as a counter-based one: item number i of a stream is the mixed
value of key + (i + 1) · 0x9E37…15. The Gumbel(0, 1) value of an item is −log(−log(1 − v)), with v
its 53-bit uniform number in (0, 1).
"""

from __future__ import annotations

import math

import numpy as np

from seeker.kernels.simd import atanh2, inlined, kernel, log, single_bits

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)

_40 = np.uint64(40)
_24_BITS = np.float32(2.0**-24)
_PER_BIT = np.float32(-math.log(2.0) * 2.0**-23)
_BIAS = np.float32(127.0 * math.log(2.0) * (1.0 + 1e-6))

LARGEST = 37.5
"""No noise is larger: −log(2**-54)."""

STRIP = 256


@inlined
def mix(counter):  # type: ignore[no-untyped-def]
    """Return 64 random bits for a counter."""
    z = (counter ^ (counter >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@inlined
def uniform(key, item):  # type: ignore[no-untyped-def]
    """Return the item's number in (0, 1): 53 bits, never 0 or 1."""
    z = mix(key + (np.uint64(item) + np.uint64(1)) * _STEP)
    return (np.float64(np.int64(z >> _11)) + 0.5) * 1.1102230246251565e-16


@inlined
def noise_bound(bits):  # type: ignore[no-untyped-def]
    """Return an upper bound of the noise that 64 random bits make, a little above the noise.

    −log(−log(1 − v)) ≤ −log v, and a float's bits, read as a whole number, are below its binary
    logarithm by less than 0.09.
    """
    v = np.float32(np.int32(bits >> _40)) * _24_BITS
    return np.float32(np.int32(single_bits(v))) * _PER_BIT + _BIAS


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
def select(values, place):  # type: ignore[no-untyped-def]
    """Return what is at a place once values, (n,), are sorted; they are left in another order.

    Hoare's selection. numba has `np.partition`, but compiling that takes as long as all the rest.
    """
    low, high = 0, values.size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return values[place]


@kernel
def bound(upper, first, key, scale, out, keep):  # type: ignore[no-untyped-def]
    """Write an upper bound of upper + scale · noise for every item, and find the best of them.

    upper, out: (items,) float32; first: the number of the first item; scale: float32; keep: how
    many to find. Returns about keep items with the highest bounds (up to four times as many), in
    no order; where many share the lowest of these bounds, they may be missing.
    """
    size = 4 * keep
    values = np.empty(size, np.float32)
    spare = np.empty(size, np.float32)
    places = np.empty(size, np.int64)
    count = 0
    enough = np.float32(-np.inf)
    for start in range(0, upper.size, STRIP):
        length = min(STRIP, upper.size - start)
        source = upper[start : start + length]
        target = out[start : start + length]
        if scale > 0:
            counter = key + (np.uint64(first + start) + np.uint64(1)) * _STEP
            for r in range(length):
                target[r] = source[r] + scale * noise_bound(mix(counter + np.uint64(r) * _STEP))
        else:
            target[:] = source
        for r in range(length):
            if target[r] > enough:
                values[count] = target[r]
                places[count] = start + r
                count += 1
                if count == size:
                    spare[:] = values
                    enough = select(spare, size - keep)
                    count = 0
                    for n in range(size):
                        if values[n] > enough:
                            values[count] = values[n]
                            places[count] = places[n]
                            count += 1
    return places[:count]


@kernel
def above(bounds, threshold, limit):  # type: ignore[no-untyped-def]
    """Return the places whose bound is at least the threshold, or limit + 1 of them at most."""
    count = 0
    places = np.empty(limit + 1, np.int64)
    for i in range(bounds.size):
        if bounds[i] >= threshold:
            places[count] = i
            count += 1
            if count > limit:
                break
    return places[:count]
