"""What one click says about every item: the terms of the three models and of text."""

from __future__ import annotations

import numpy as np

from seeker.kernels.simd import atanh2, exp, inlined, kernel, log, log_sigmoid, to_units

STRIP = 128
"""Items worked on at a time, so that what is in hand stays in the nearest cache."""

RARE = 1e-9
"""Slips rarer than this are added in logarithms, for they are lost beside rounding otherwise."""


@inlined
def mixed(columns, weights, place, start, length, out):  # type: ignore[no-untyped-def]
    """Write out[r] = Σ_v weights[v] · columns[v, place, start + r] for r < length."""
    for r in range(length):
        out[r] = 0.0
    for v in range(weights.size):
        weight = weights[v]
        column = columns[v, place, start : start + length]
        for r in range(length):
            out[r] += weight * column[r]


@kernel
def pairwise(columns, weights, alpha, pairs, shifts, signs, units):  # type: ignore[no-untyped-def]
    """Add sign · log σ(α (D_b − D_a + shift)) to units, shape (1, items), for every pair (a, b).

    columns: (views, m, items); pairs: (n, 2) places in it, −1 for the average item.
    """
    items = columns.shape[2]
    liked = np.empty(STRIP)
    disliked = np.empty(STRIP)
    for start in range(0, items, STRIP):
        length = min(STRIP, items - start)
        total = units[0, start : start + length]
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            for r in range(length):
                liked[r] = 0.0
                disliked[r] = 0.0
            if a >= 0:
                mixed(columns, weights, a, start, length, liked)
            if b >= 0:
                mixed(columns, weights, b, start, length, disliked)
            shift, sign = shifts[p], signs[p]
            for r in range(length):
                u = alpha * (disliked[r] - liked[r] + shift)
                total[r] += sign * to_units(log_sigmoid(u))


@kernel
def likes(columns, mean_distance, weights, alpha, places, signs, units):  # type: ignore[no-untyped-def]
    """Add sign · −α D(i, t) to units, shape (1, items), for every liked item's place.

    mean_distance: (items,), the distance of the average item, which the columns are relative to.
    """
    items = columns.shape[2]
    liked = np.empty(STRIP)
    for start in range(0, items, STRIP):
        length = min(STRIP, items - start)
        total = units[0, start : start + length]
        for p in range(places.size):
            mixed(columns, weights, places[p], start, length, liked)
            sign = signs[p]
            for r in range(length):
                total[r] += sign * to_units(-alpha * (liked[r] + mean_distance[start + r]))


@kernel
def dislike(columns, weights, alpha, place, likes, sign, units):  # type: ignore[no-untyped-def]
    """Add sign · log σ(α (D(j, t) − min_i D(i, t))) to units; likes: places, −1 for the average."""
    items = columns.shape[2]
    disliked = np.empty(STRIP)
    liked = np.empty(STRIP)
    nearest = np.empty(STRIP)
    for start in range(0, items, STRIP):
        length = min(STRIP, items - start)
        total = units[0, start : start + length]
        mixed(columns, weights, place, start, length, disliked)
        for p in range(likes.size):
            if likes[p] >= 0:
                mixed(columns, weights, likes[p], start, length, liked)
            else:
                for r in range(length):
                    liked[r] = 0.0
            for r in range(length):
                nearest[r] = min(nearest[r], liked[r]) if p > 0 else liked[r]
        for r in range(length):
            total[r] += sign * to_units(log_sigmoid(alpha * (disliked[r] - nearest[r])))


@kernel
def choice(columns, mixtures, sharpness, slip, shown, toward, sign, units):  # type: ignore[no-untyped-def]
    """Add sign · log P(choosing shown[0] among shown) to units, shape (mixtures · noises, items).

    P = (1 − slip) · softmax_k(−toward · D_k / σ)[0] + slip / |shown|, for every mixture of views
    and every noise σ = 1 / sharpness (ascending); toward is +1 for a like, −1 for a dislike.
    Where one sharpness is twice the one before, exponentials are squared instead of computed.
    """
    items = columns.shape[2]
    count = shown.size
    noises = sharpness.size
    chance = slip / count
    sure = 1.0 - slip
    slipped = log(max(chance, 1e-300))
    distance = np.empty((count, STRIP))
    weight = np.empty((count, STRIP))
    nearest = np.empty(STRIP)
    total = np.empty(STRIP)
    floor = -700.0 * sharpness[0] / sharpness[noises - 1]
    for start in range(0, items, STRIP):
        length = min(STRIP, items - start)
        for w in range(mixtures.shape[0]):
            nearest[:] = np.inf
            for k in range(count):
                far = distance[k]
                mixed(columns, mixtures[w], shown[k], start, length, far)
                for r in range(STRIP):
                    far[r] *= toward
                    nearest[r] = min(nearest[r], far[r])
            for s in range(noises):
                beta = sharpness[s]
                total[:] = 0.0
                if s > 0 and beta == 2.0 * sharpness[s - 1]:
                    for k in range(count):
                        near = weight[k]
                        for r in range(STRIP):
                            near[r] *= near[r]
                            total[r] += near[r]
                else:
                    for k in range(count):
                        near = weight[k]
                        far = distance[k]
                        for r in range(STRIP):
                            near[r] = exp(max((nearest[r] - far[r]) * beta, floor))
                            total[r] += near[r]
                near = weight[0]
                far = distance[0]
                out = units[w * noises + s, start : start + length]
                if slip > RARE:
                    for r in range(length):
                        p = sure * (near[r] / total[r]) + chance
                        out[r] += sign * to_units(log(min(p, 1.0)))
                else:
                    for r in range(length):
                        p = (nearest[r] - far[r]) * beta - log(total[r])
                        if slip > 0.0:
                            e = exp(-abs(p - slipped))
                            p = max(p, slipped) + atanh2(e / (2.0 + e))
                        out[r] += sign * to_units(min(p, 0.0))


@kernel
def text(column, beta, sign, units):  # type: ignore[no-untyped-def]
    """Add sign · log σ(β r·x_t) to every row of units, shape (thetas, items); column: (items,)."""
    for r in range(column.size):
        value = sign * to_units(log_sigmoid(beta * column[r]))
        for theta in range(units.shape[0]):
            units[theta, r] += value
