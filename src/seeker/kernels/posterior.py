"""From sums of log-likelihoods to scores: what is not known about the person is averaged out."""

from __future__ import annotations

import numpy as np

from seeker.kernels.simd import exp, inlined, kernel, log, prefer_wide, to_nats

STRIP = 64
TOGETHER = 8


@inlined
def average_thetas(units, log_weights, start, length, nats, best, total, out):  # type: ignore[no-untyped-def]
    """Write out[r] = log Σ_θ exp(log_weights[θ] + units[θ, start + r]) for r < length.

    The sum relative to the best θ is between 1 and the number of θ, so float32 serves (to 1e-7).
    """
    thetas = log_weights.size
    for theta in range(thetas):
        row = nats[theta]
        source = units[theta, start : start + length]
        weight = log_weights[theta]
        for r in range(length):
            row[r] = to_nats(source[r]) + weight
        for r in range(STRIP):
            best[r] = max(best[r], row[r]) if theta > 0 else row[r]
    if thetas == 1:
        for r in range(length):
            out[r] = best[r]
    else:
        for r in range(STRIP):
            total[r] = 0
        for theta in range(thetas):
            row = nats[theta]
            for r in range(STRIP):
                total[r] += exp(np.float32(row[r] - best[r]))
        for r in range(length):
            out[r] = best[r] + log(total[r])


@kernel
def scores(units, log_weights, out):  # type: ignore[no-untyped-def]
    """Write every item's log-likelihood, (items,), θ averaged out of units, (thetas, items).

    The units are of any size; see `to_nats`.
    """
    prefer_wide()
    items = units.shape[1]
    nats = np.zeros((log_weights.size, STRIP))
    best = np.zeros(STRIP)
    total = np.empty(STRIP, np.float32)
    for start in range(0, items, STRIP):
        length = min(STRIP, items - start)
        average_thetas(
            units, log_weights, start, length, nats, best, total, out[start : start + length]
        )


@kernel
def round_up(values, out):  # type: ignore[no-untyped-def]
    """Write float32 numbers, (items,), that are not below the float64 values; −inf stays −inf."""
    for r in range(values.size):
        value = values[r]
        out[r] = value + abs(value) * 2.0**-22 + 1e-37 if value > -np.inf else value


@kernel
def lower_bounds(units, log_weights, top, below):  # type: ignore[no-untyped-def]
    """Lower the bounds top, (items,), by new terms, units (thetas, items).

    The bound of a θ's sum is the best θ's less below[θ] sixteenths of a nat, and top is the bound
    of their weighted mean. Everything is rounded towards larger bounds.
    """
    thetas = log_weights.size
    weights = np.exp(log_weights)
    shares = np.exp(np.arange(256) * -0.0625)
    sums = np.empty(thetas)
    for r in range(top.size):
        before = 0.0
        for theta in range(thetas):
            before += weights[theta] * shares[below[theta, r]]
        base = top[r] - np.log(before)
        best = -np.inf
        for theta in range(thetas):
            value = base - below[theta, r] * 0.0625 + to_nats(units[theta, r])
            sums[theta] = value
            best = max(best, value)
        after = 0.0
        for theta in range(thetas):
            steps = min(np.int64((best - sums[theta]) * 16.0), 255)
            below[theta, r] = steps
            after += weights[theta] * shares[steps]
        value = best + np.log(after)
        top[r] = value + abs(value) * 2.0**-22 + 1e-7


@kernel
def mass(log_values, top):  # type: ignore[no-untyped-def]
    """Return Σ exp(log_values − top), added up in the order of the items."""
    total = 0.0
    strip = np.empty(STRIP)
    for start in range(0, log_values.size, STRIP):
        length = min(STRIP, log_values.size - start)
        for r in range(length):
            strip[r] = exp(log_values[start + r] - top)
        for r in range(length):
            total += strip[r]
    return total


@kernel
def mass_by_theta(sums, start, log_weights, offsets, out):  # type: ignore[no-untyped-def]
    """Add Σ_r exp(sums[θ, start + r] + log_weights[θ] + offsets[r]) to out[θ], where it counts.

    Each θ is added up in the order of the items; several at a time, for one addition waits for the
    one before.
    """
    prefer_wide()
    thetas = log_weights.size
    strips = np.zeros((TOGETHER, STRIP))
    totals = np.zeros(TOGETHER)
    for first in range(0, thetas, TOGETHER):
        count = min(TOGETHER, thetas - first)
        totals[:count] = out[first : first + count]
        for begin in range(0, offsets.size, STRIP):
            length = min(STRIP, offsets.size - begin)
            for k in range(count):
                strip = strips[k]
                weight = log_weights[first + k]
                row = sums[first + k, start + begin : start + begin + length]
                offset = offsets[begin : begin + length]
                for r in range(length):
                    strip[r] = row[r] * 9.5367431640625e-07 + weight + offset[r]
                for r in range(STRIP):
                    strip[r] = exp(min(strip[r], 0.0)) if strip[r] > -40.0 else 0.0
            a, b, c, d = totals[0], totals[1], totals[2], totals[3]
            e, f, g, h = totals[4], totals[5], totals[6], totals[7]
            for r in range(length):
                a += strips[0, r]
                b += strips[1, r]
                c += strips[2, r]
                d += strips[3, r]
                e += strips[4, r]
                f += strips[5, r]
                g += strips[6, r]
                h += strips[7, r]
            totals[0], totals[1], totals[2], totals[3] = a, b, c, d
            totals[4], totals[5], totals[6], totals[7] = e, f, g, h
        out[first : first + count] = totals[:count]
