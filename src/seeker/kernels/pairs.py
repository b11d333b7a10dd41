"""Distances of many pairs of items, what clicks say of them, and which way vectors should move.

Sums run in eight fixed lanes, as everywhere in these kernels: they are the same on every machine.
"""

from __future__ import annotations

import numpy as np

from seeker.kernels.simd import kernel


@kernel
def pair_distances(vectors, one, other, start, stop, out):  # type: ignore[no-untyped-def]
    """Write out[p] = ‖vectors[one[p]] − vectors[other[p]]‖² for start ≤ p < stop.

    vectors: (items, d), d a multiple of eight; out: (pairs,).
    """
    width = vectors.shape[1]
    for p in range(start, stop):
        a, b = vectors[one[p]], vectors[other[p]]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = vectors.dtype.type(0)
        for k in range(0, width, 8):
            d0, d1 = a[k] - b[k], a[k + 1] - b[k + 1]
            d2, d3 = a[k + 2] - b[k + 2], a[k + 3] - b[k + 3]
            d4, d5 = a[k + 4] - b[k + 4], a[k + 5] - b[k + 5]
            d6, d7 = a[k + 6] - b[k + 6], a[k + 7] - b[k + 7]
            s0 += d0 * d0
            s1 += d1 * d1
            s2 += d2 * d2
            s3 += d3 * d3
            s4 += d4 * d4
            s5 += d5 * d5
            s6 += d6 * d6
            s7 += d7 * d7
        out[p] = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@kernel
def pair_gradient(vectors, offsets, others, pairs, slopes, start, stop, out):  # type: ignore[no-untyped-def]
    """Write out[i] = 2 Σ slopes[p] (vectors[i] − vectors[o]) over the pairs p = {i, o} of item i.

    The pairs of item i are pairs[offsets[i] : offsets[i + 1]], their other items likewise in
    `others`. slopes: (pairs,), of the loss with respect to the pairs' squared distances.
    """
    width = vectors.shape[1]
    two = vectors.dtype.type(2)
    for i in range(start, stop):
        mine, result = vectors[i], out[i]
        result[:] = 0
        for e in range(offsets[i], offsets[i + 1]):
            slope = two * slopes[pairs[e]]
            theirs = vectors[others[e]]
            for k in range(width):
                result[k] += slope * (mine[k] - theirs[k])


@kernel
def choice_slopes(  # type: ignore[no-untyped-def]
    distances, offsets, pairs, signs, sharpness, slip, floor, start, stop, logs, slopes, steepness
):
    """Compute, for clicks from start to stop, their log-probability and its derivatives.

    distances: (pairs,) of what was shown to the target. The first of pairs[offsets[c] :
    offsets[c + 1]] was chosen; signs[c]: 1 for a like, −1 for a dislike. logs: (clicks,), of
    (1 − slip) softmax(−sign · sharpness · f(D))[0] + slip / n, where f(D) is log(D + floor), or D
    itself without a floor. slopes: as `pairs`, of d log / d D. steepness: (clicks,), d log /
    d log sharpness.
    """
    for c in range(start, stop):
        first, last = offsets[c], offsets[c + 1]
        factor = -signs[c] * sharpness
        largest = -np.inf
        for e in range(first, last):
            distance = np.float64(distances[pairs[e]])
            logit = factor * (np.log(distance + floor) if floor > 0.0 else distance)
            slopes[e] = logit
            largest = max(largest, logit)
        total = 0.0
        mean = 0.0
        own = slopes[first]
        for e in range(first, last):
            logit = slopes[e]
            share = np.exp(logit - largest)
            total += share
            mean += share * logit
            slopes[e] = share
        mean /= total
        chosen = slopes[first] / total
        probability = (1.0 - slip) * chosen + slip / (last - first)
        logs[c] = np.log(probability)
        sure = (1.0 - slip) * chosen / probability
        steepness[c] = sure * (own - mean)
        for e in range(first, last):
            slopes[e] = -sure * factor * slopes[e] / total
        slopes[first] += sure * factor
        if floor > 0.0:
            for e in range(first, last):
                slopes[e] /= distances[pairs[e]] + floor


@kernel
def choice_logs(  # type: ignore[no-untyped-def]
    distances, mixtures, sharpness, slip, floor, offsets, pairs, signs, start, stop, out
):
    """Write, for clicks from start to stop, their log-probabilities under each θ.

    distances: (views, pairs); mixtures: (mixtures, views); sharpness: (noises,) 1 / σ; floor: as
    in `choice_slopes`; out: (clicks, mixtures · noises), the noise running fastest.
    """
    noises = len(sharpness)
    if start == stop:
        return
    mixed = np.empty(np.diff(offsets[start : stop + 1]).max())
    for c in range(start, stop):
        first, count = offsets[c], offsets[c + 1] - offsets[c]
        for w in range(len(mixtures)):
            smallest = np.inf
            for e in range(count):
                total = 0.0
                for v in range(mixtures.shape[1]):
                    total += mixtures[w, v] * distances[v, pairs[first + e]]
                if floor > 0.0:
                    total = np.log(total + floor)
                mixed[e] = signs[c] * total
                smallest = min(smallest, mixed[e])
            for s in range(noises):
                total = 0.0
                for e in range(count):
                    total += np.exp((smallest - mixed[e]) * sharpness[s])
                chosen = np.exp((smallest - mixed[0]) * sharpness[s]) / total
                out[c, w * noises + s] = np.log((1.0 - slip) * chosen + slip / count)
