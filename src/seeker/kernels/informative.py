"""Which page tells most about what is looked for, by the answer that is expected to it."""

from __future__ import annotations

import numpy as np

from seeker.kernels.simd import exp, inlined, kernel, log

LEAST_DRAW = 1e-200
"""No item draws a click less than so many times as much as the one that draws it most."""


@kernel
def informative_places(scores, distances, sharpness, floor, hit, places):  # type: ignore[no-untyped-def]
    """Choose the items of a page one by one, and write their places, (count,).

    scores: (targets,) log-probabilities of being what is looked for, but for a constant; the first
    of these are the items to choose from. distances: (items, targets). The answer to a page is the
    item of it that draws a like: as e**(−sharpness · distance) or, with a floor, as
    (distance + floor)**−sharpness. Each item is the one with which I(answer; what is looked for)
    plus hit · P(it is on the page) is most, ties by place.
    """
    count, items, targets = places.size, distances.shape[0], scores.size
    weights, draws, logs = _expected(scores, distances, sharpness, floor)
    drawn, inside = np.zeros(targets), np.zeros(targets)  # Σ e and Σ e log e over the page so far
    answers = np.empty((count, items))  # by item of the page: how probable it is as the answer
    mine, unsure, shares = np.empty(items), np.empty(items), np.empty(items)
    free = np.ones(items, np.bool_)
    for place in range(count):
        mine[:] = 0.0
        unsure[:] = 0.0
        answers[:place] = 0.0
        for t in range(targets):
            line, own, before, within, weight = draws[t], logs[t], drawn[t], inside[t], weights[t]
            for k in range(items):
                whole = before + line[k]
                shares[k] = weight / whole
                mine[k] += line[k] * shares[k]
                unsure[k] += weight * log(whole) - (within + own[k]) * shares[k]
            for old in range(place):
                draw, answer = line[places[old]], answers[old]
                for k in range(items):
                    answer[k] += draw * shares[k]
        best, choice = -np.inf, 0
        for k in range(items):
            if free[k]:
                gain = hit * weights[k] - unsure[k] - mine[k] * log(mine[k])
                for old in range(place):
                    gain -= answers[old, k] * log(answers[old, k])
                if gain > best:
                    best, choice = gain, k
        places[place] = choice
        free[choice] = False
        for t in range(targets):
            drawn[t] += draws[t, choice]
            inside[t] += logs[t, choice]


@inlined
def _expected(scores, distances, sharpness, floor):  # type: ignore[no-untyped-def]
    """Return the probabilities of the targets, (targets,), and by target what each item draws.

    That is e and e log e, (targets, items), where the item that draws most has e = 1.
    """
    items, targets = distances.shape
    weights, draws, logs = np.empty(targets), np.empty((targets, items)), np.empty((targets, items))
    top, total = scores.max(), 0.0
    for t in range(targets):
        weights[t] = exp(scores[t] - top)
        total += weights[t]
    for t in range(targets):
        weights[t] /= total
        line, own = draws[t], logs[t]
        most = -np.inf
        for k in range(items):
            distance = max(distances[k, t], 0.0)
            own[k] = -sharpness * (log(distance + floor) if floor > 0.0 else distance)
        for k in range(items):
            most = max(most, own[k])
        for k in range(items):
            own[k] -= most
            line[k] = max(exp(own[k]), LEAST_DRAW)
            own[k] *= line[k]
    return weights, draws, logs
