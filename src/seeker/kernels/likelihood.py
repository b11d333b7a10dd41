"""What one click says about every item: the terms of the three models and of text.

Settings come in the columns' type of number, in which everything here is computed, and signs in
the type of whole number that goes with it (int32 for float32), so that vector registers are full.
"""

from __future__ import annotations

import numpy as np

from seeker.kernels.dots import fetch_row
from seeker.kernels.simd import (
    atanh2,
    exp,
    inlined,
    kernel,
    log,
    log_sigmoid,
    prefer_wide,
    to_nats,
    to_units,
)

STRIP = 128
"""Items worked on at a time, so that what is in hand stays in the nearest cache."""

LEVELS = 5
"""Noise levels that follow from one exponential, each twice as sharp as the one before."""

RARE = 1e-9
"""Slips rarer than this are added in logarithms, for they are lost beside rounding otherwise."""


@inlined
def mix_views(columns, weights, place, start, length, out):  # type: ignore[no-untyped-def]
    """Write out[r] = Σ_v weights[v] · columns[v, place, start + r] for r < length."""
    weight = weights[0]
    column = columns[0, place, start : start + length]
    for r in range(length):
        out[r] = weight * column[r]
    for v in range(1, weights.size):
        weight = weights[v]
        if weight == 0:
            continue
        column = columns[v, place, start : start + length]
        for r in range(length):
            out[r] += weight * column[r]


@inlined
def mix_strip(columns, weights, start, length, out):  # type: ignore[no-untyped-def]
    """Mix all columns of a strip, out: (m + 1, STRIP); the last row is the average item: zeros."""
    for place in range(columns.shape[1]):
        mix_views(columns, weights, place, start, length, out[place])


@inlined
def flush(part, length, total):  # type: ignore[no-untyped-def]
    """Move a strip of units, (STRIP,), over to the total, (length,), which is wider."""
    for r in range(length):
        total[r] += part[r]
    part[:] = 0


@kernel
def pairwise(columns, weights, alpha, pairs, shifts, signs, units):  # type: ignore[no-untyped-def]
    """Add sign · log σ(α (D_b − D_a + shift)) to units, shape (1, items), for every pair (a, b).

    columns: (views, m, items); pairs: (n, 2) places in it, −1 for the average item.
    """
    items = columns.shape[2]
    strip = np.zeros((columns.shape[1] + 1, STRIP), columns.dtype)
    part = np.zeros(STRIP, signs.dtype)
    for start in range(0, items, STRIP):
        length = min(STRIP, items - start)
        mix_strip(columns, weights, start, length, strip)
        total = units[0, start : start + length]
        for p in range(pairs.shape[0]):
            liked, disliked = strip[pairs[p, 0]], strip[pairs[p, 1]]
            shift, sign = shifts[p], signs[p]
            for r in range(STRIP):
                difference = alpha * (disliked[r] - liked[r] + shift)
                part[r] = sign * to_units(log_sigmoid(difference))
            flush(part, length, total)


@kernel
def likes(columns, mean_distance, weights, alpha, places, signs, units):  # type: ignore[no-untyped-def]
    """Add sign · −α D(i, t) to units, shape (1, items), for every liked item's place.

    mean_distance: (items,), the distance of the average item, which the columns are relative to.
    """
    items = columns.shape[2]
    liked = np.empty(STRIP, columns.dtype)
    part = np.zeros(STRIP, signs.dtype)
    for start in range(0, items, STRIP):
        length = min(STRIP, items - start)
        total = units[0, start : start + length]
        for p in range(places.size):
            mix_views(columns, weights, places[p], start, length, liked)
            sign = signs[p]
            for r in range(length):
                part[r] = sign * to_units(-alpha * (liked[r] + mean_distance[start + r]))
            flush(part, length, total)


@kernel
def dislikes(columns, weights, alpha, places, likes, signs, units):  # type: ignore[no-untyped-def]
    """Add sign · log σ(α (D(j, t) − min_i D(i, t))) to units for every disliked item's place.

    likes: places of the liked items, −1 for the average item where nothing is liked.
    """
    items = columns.shape[2]
    strip = np.zeros((columns.shape[1] + 1, STRIP), columns.dtype)
    nearest = np.empty(STRIP, columns.dtype)
    part = np.zeros(STRIP, signs.dtype)
    for start in range(0, items, STRIP):
        length = min(STRIP, items - start)
        mix_strip(columns, weights, start, length, strip)
        total = units[0, start : start + length]
        nearest[:] = strip[likes[0]]
        for p in range(1, likes.size):
            liked = strip[likes[p]]
            for r in range(STRIP):
                nearest[r] = min(nearest[r], liked[r])
        for p in range(places.size):
            disliked = strip[places[p]]
            sign = signs[p]
            for r in range(STRIP):
                part[r] = sign * to_units(log_sigmoid(alpha * (disliked[r] - nearest[r])))
            flush(part, length, total)


@inlined
def first_levels(far, nearest, beta, chosen, totals):  # type: ignore[no-untyped-def]
    """Write e^((nearest − far) · beta) and its squares, one upon the other, of the item chosen.

    far, nearest: (STRIP,); chosen, totals: (LEVELS, STRIP).
    """
    for r in range(STRIP):
        a = exp((nearest[r] - far[r]) * beta)
        b = a * a
        c = b * b
        d = c * c
        e = d * d
        chosen[0, r] = a
        chosen[1, r] = b
        chosen[2, r] = c
        chosen[3, r] = d
        chosen[4, r] = e
        totals[0, r] = a
        totals[1, r] = b
        totals[2, r] = c
        totals[3, r] = d
        totals[4, r] = e


@inlined
def more_levels(far, nearest, beta, totals):  # type: ignore[no-untyped-def]
    """Add the same of another item to the totals."""
    for r in range(STRIP):
        a = exp((nearest[r] - far[r]) * beta)
        b = a * a
        c = b * b
        d = c * c
        totals[0, r] += a
        totals[1, r] += b
        totals[2, r] += c
        totals[3, r] += d
        totals[4, r] += d * d


@inlined
def one_level(far, nearest, beta, weight, total):  # type: ignore[no-untyped-def]
    """Write e^((nearest − far) · beta) of all items, (count, STRIP), and their sum, (STRIP,)."""
    total[:] = 0
    for k in range(far.shape[0]):
        for r in range(STRIP):
            weight[k, r] = exp((nearest[r] - far[k, r]) * beta)
            total[r] += weight[k, r]


@inlined
def squared_level(weight, total):  # type: ignore[no-untyped-def]
    """Square weights, (count, STRIP), and write their sum, (STRIP,)."""
    total[:] = 0
    for k in range(weight.shape[0]):
        for r in range(STRIP):
            weight[k, r] *= weight[k, r]
            total[r] += weight[k, r]


@kernel
def choice(columns, mixtures, sharpness, sure, chance, log_chance, among, signs, units):  # type: ignore[no-untyped-def]
    """Add sign · log P(among[0] is chosen of among) to units, shape (mixtures · noises, items).

    P = sure · softmax_k(−D_k / σ)[0] + chance, for every mixture of views, (mixtures, views), and
    every noise σ = 1 / sharpness (ascending); log_chance: float64; signs: (1,). For a dislike the
    mixtures are negative.
    Where one sharpness is twice the one before, exponentials are squared instead of computed, and
    where all are (octaves), no exponential is written down.
    """
    prefer_wide()
    items = columns.shape[2]
    count = among.size
    noises = sharpness.size
    strip = np.zeros((columns.shape[0], count, STRIP), columns.dtype)
    distance = np.zeros((count, STRIP), columns.dtype)
    nearest = np.empty(STRIP, columns.dtype)
    weight = np.empty((count, STRIP), columns.dtype)
    chosen = np.empty((LEVELS, STRIP), columns.dtype)
    totals = np.empty((LEVELS, STRIP), columns.dtype)
    part = np.zeros(STRIP, signs.dtype)
    sign = signs[0]
    octaves = 1 < noises <= LEVELS
    for s in range(1, noises):
        octaves = octaves and sharpness[s] == 2 * sharpness[s - 1]
    for start in range(0, items, STRIP):
        length = min(STRIP, items - start)
        for v in range(columns.shape[0]):
            for k in range(count):
                line = strip[v, k]
                column = columns[v, among[k], start : start + length]
                for r in range(length):
                    line[r] = column[r]
        for w in range(mixtures.shape[0]):
            for k in range(count):
                mix_views(strip, mixtures[w], k, 0, STRIP, distance[k])
            nearest[:] = distance[0]
            for k in range(1, count):
                far = distance[k]
                for r in range(STRIP):
                    nearest[r] = min(nearest[r], far[r])
            for s in range(noises):
                beta = sharpness[s]
                if octaves:
                    if s == 0:
                        first_levels(distance[0], nearest, beta, chosen, totals)
                        for k in range(1, count):
                            more_levels(distance[k], nearest, beta, totals)
                    near, total = chosen[s], totals[s]
                else:
                    near, total = weight[0], totals[0]
                    if s > 0 and beta == 2 * sharpness[s - 1]:
                        squared_level(weight, total)
                    else:
                        one_level(distance, nearest, beta, weight, total)
                far = distance[0]
                fetch_row(units, w * noises + s, start + STRIP, STRIP)
                out = units[w * noises + s, start : start + length]
                if chance > RARE:
                    for r in range(STRIP):
                        part[r] = sign * to_units(log(sure * (near[r] / total[r]) + chance))
                    flush(part, length, out)
                else:
                    for r in range(length):
                        p = np.float64((nearest[r] - far[r]) * beta) - log(np.float64(total[r]))
                        if log_chance > -np.inf:
                            e = exp(-abs(p - log_chance))
                            p = max(p, log_chance) + atanh2(e / (2.0 + e))
                        out[r] += sign * to_units(min(p, 0.0))


@kernel
def doubted(once, times, doubt, sign, units):  # type: ignore[no-untyped-def]
    """Add sign · log((1 − doubt) · pⁿ + doubt · p) to units, where once is log p in units.

    once, units: (thetas, items); times: n; doubt > 0.
    """
    for theta in range(units.shape[0]):
        for r in range(units.shape[1]):
            p = to_nats(once[theta, r])
            kept = (1.0 - doubt) * exp((times - 1) * p) + doubt
            units[theta, r] += sign * to_units(min(p + log(kept), 0.0))


@kernel
def logarithms(columns, average, mixtures, floor, out):  # type: ignore[no-untyped-def]
    """Write log(floor + D_w(k, t)) to out, (mixtures, m, items), for every mixture w of the views.

    columns: (views, m, items), relative to the average item, whose distances are average, (views,
    items) float64.
    """
    items = columns.shape[2]
    base = np.zeros(STRIP, columns.dtype)
    strip = np.zeros(STRIP, columns.dtype)
    zero = floor - floor
    for start in range(0, items, STRIP):
        length = min(STRIP, items - start)
        for w in range(mixtures.shape[0]):
            for r in range(length):
                total = 0.0
                for v in range(mixtures.shape[1]):
                    total += mixtures[w, v] * average[v, start + r]
                base[r] = total
            for k in range(columns.shape[1]):
                mix_views(columns, mixtures[w], k, start, length, strip)
                for r in range(STRIP):
                    strip[r] = log(max(strip[r] + base[r], zero) + floor)
                line = out[w, k, start : start + length]
                for r in range(length):
                    line[r] = strip[r]


@kernel
def text(column, beta, sign, units):  # type: ignore[no-untyped-def]
    """Add sign · log σ(β r·x_t) to every row of units, shape (thetas, items); column: (items,)."""
    for r in range(column.size):
        value = sign * to_units(log_sigmoid(beta * column[r]))
        for theta in range(units.shape[0]):
            units[theta, r] += value


@kernel
def words(letters, exponents, highest, meaning, log_top, sign, units):  # type: ignore[no-untyped-def]
    """Add sign · (log(letters_t + meaning · e^exponent_t) − log_top) to all rows of units.

    letters, exponents: (items,); no exponent counts for more than the highest. units: (thetas,
    items).
    """
    for r in range(letters.size):
        mixture = letters[r] + meaning * exp(min(exponents[r], highest))
        value = sign * to_units(min(log(mixture) - log_top, 0.0))
        for theta in range(units.shape[0]):
            units[theta, r] += value
