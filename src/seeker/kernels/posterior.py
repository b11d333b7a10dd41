"""From sums of log-likelihoods to scores: what is not known about the person is averaged out."""

from __future__ import annotations

import numpy as np

from seeker.kernels.simd import exp, inlined, kernel, log, to_nats

STRIP = 64


@inlined
def averaged(units, log_weights, start, length, nats, best, out):  # type: ignore[no-untyped-def]
    """Write out[r] = log Σ_θ exp(log_weights[θ] + units[θ, start + r]) for r < length."""
    thetas = log_weights.size
    for theta in range(thetas):
        row = nats[theta]
        source = units[theta, start : start + length]
        weight = log_weights[theta]
        for r in range(length):
            row[r] = to_nats(source[r]) + weight
            best[r] = max(best[r], row[r]) if theta > 0 else row[r]
    if thetas == 1:
        for r in range(length):
            out[r] = best[r]
    else:
        for r in range(length):
            out[r] = 0.0
        for theta in range(thetas):
            row = nats[theta]
            for r in range(length):
                out[r] += exp(max(row[r] - best[r], -700.0))
        for r in range(length):
            out[r] = best[r] + log(out[r])


@kernel
def scores(units, log_weights, out):  # type: ignore[no-untyped-def]
    """Write every item's log-likelihood, (items,), θ averaged out of units, (thetas, items)."""
    items = units.shape[1]
    nats = np.empty((log_weights.size, STRIP))
    best = np.empty(STRIP)
    for start in range(0, items, STRIP):
        length = min(STRIP, items - start)
        averaged(units, log_weights, start, length, nats, best, out[start : start + length])


@kernel
def rounded_up(values, out):  # type: ignore[no-untyped-def]
    """Write float32 numbers, (items,), that are not below the float64 values; −inf stays −inf."""
    for r in range(values.size):
        value = values[r]
        out[r] = value + abs(value) * 2.0**-22 + 1e-37 if value > -np.inf else value


@kernel
def load(sums, rows, units):  # type: ignore[no-untyped-def]
    """Copy sums[rows], shape (items, thetas), into units, shape (thetas, rows)."""
    for r in range(rows.size):
        source = sums[rows[r]]
        for theta in range(units.shape[0]):
            units[theta, r] = source[theta]


@kernel
def store(units, rows, sums):  # type: ignore[no-untyped-def]
    """Copy units, shape (thetas, rows), into sums[rows], shape (items, thetas)."""
    for r in range(rows.size):
        target = sums[rows[r]]
        for theta in range(units.shape[0]):
            target[theta] = units[theta, r]


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
def mass_by_theta(sums, rows, log_weights, offsets, out):  # type: ignore[no-untyped-def]
    """Add Σ_rows exp(sums[row, θ] + log_weights[θ] + offsets[row]) to out[θ], where it counts."""
    for r in range(rows.size):
        for theta in range(log_weights.size):
            value = sums[rows[r], theta] * 9.5367431640625e-07 + log_weights[theta] + offsets[r]
            if value > -40.0:
                out[theta] += exp(min(value, 0.0))
