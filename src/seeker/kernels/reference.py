"""The slow twins: the formulas in float64, as they are written, for the tests to compare with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from seeker.types import Array, Doubles

Clicks = Sequence[tuple[int, bool, Sequence[int]]]
"""(row, liked, rows it was chosen among, itself included) per click."""


def distances(vectors: Array, rows: Sequence[int], scale: float = 1.0) -> Doubles:
    """Return squared distances of some items to all, (rows, items), divided by the scale."""
    exact = vectors.astype(np.float64)
    return np.array([((exact - exact[row]) ** 2).sum(axis=1) / scale for row in rows])


def mean_squared_distance(vectors: Array) -> float:
    """Return the mean squared distance between two items drawn with replacement."""
    exact = vectors.astype(np.float64)
    return float(np.mean([((exact - one) ** 2).sum(axis=1).mean() for one in exact]))


def log_sigmoid(u: Doubles) -> Doubles:
    """Return log(1 / (1 + e**-u))."""
    return -np.logaddexp(0.0, -u)


def pairwise(likes: Doubles, dislikes: Doubles, average: Doubles, alpha: float) -> Doubles:
    """Return the paper's log-likelihood, (items,); likes, dislikes: (n, items) distances."""
    if not len(likes) and not len(dislikes):
        return np.zeros(len(average))
    near = likes if len(likes) else average[None]
    far = dislikes if len(dislikes) else average[None]
    pairs = [log_sigmoid(alpha * (j - i)) for i in near for j in far]
    return np.asarray(np.sum(pairs, axis=0))


def bipartite(
    likes: Doubles, dislikes: Doubles, average: Doubles, alpha1: float, alpha2: float
) -> Doubles:
    """Return the log-likelihood of the paper's future work, (items,)."""
    nearest = likes.min(axis=0) if len(likes) else average
    total = np.zeros(len(average))
    for i in likes:
        total -= alpha1 * i
    for j in dislikes:
        total += log_sigmoid(alpha2 * (j - nearest))
    return total


def choice(
    views: Sequence[Doubles],
    clicks: Clicks,
    mixtures: Doubles,
    sigmas: Sequence[float],
    slip: float,
    weights: Doubles | None = None,
    floor: float | None = None,
) -> Doubles:
    """Return log Σ_θ P(θ) P(clicks | t, θ), (items,); views: full distance matrices per view.

    weights: P(θ), (mixtures · sigmas,), even where none is given. With a floor, log(floor + D)
    stands in the place of D.
    """
    per_theta = []
    for mixture in mixtures:
        mixed = sum(weight * matrix for weight, matrix in zip(mixture, views, strict=True))
        mixed = mixed if floor is None else np.log(floor + mixed)
        for sigma in sigmas:
            total = np.zeros(len(views[0]))
            for row, liked, among in clicks:
                sign = -1.0 if liked else 1.0
                logits = sign * mixed[list(among)] / sigma
                soft = np.exp(logits[list(among).index(row)] - np.logaddexp.reduce(logits))
                total += np.log((1.0 - slip) * soft + slip / len(among))
            per_theta.append(total)
    prior = np.full(len(per_theta), 1.0 / len(per_theta)) if weights is None else weights
    return np.asarray(np.logaddexp.reduce(np.array(per_theta) + np.log(prior)[:, None]))


def gumbel(key: int, items: Sequence[int]) -> Doubles:
    """Return the keyed Gumbel noise of some items, (items,), with whole numbers only."""
    mask = 2**64 - 1
    noise = []
    for item in items:
        z = (key + (item + 1) * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        z ^= z >> 31
        noise.append(-math.log(-math.log1p(-((z >> 11) + 0.5) * 2.0**-53)))
    return np.array(noise)


def informative(
    scores: Doubles, distances: Doubles, sharpness: float, floor: float, hit: float, count: int
) -> list[int]:
    """Return the places of the items of the page that tells most, chosen one by one.

    scores: (targets,); distances: (items, targets), the items being the first targets.
    """
    chances = np.exp(scores - np.logaddexp.reduce(scores))
    logs = -sharpness * (np.log(distances + floor) if floor else distances)
    chosen: list[int] = []

    def worth(item: int) -> float:
        page = logs[[*chosen, item]]
        log_answers = page - np.logaddexp.reduce(page, axis=0)
        answers = np.exp(log_answers)
        all_told = answers @ chances
        unsure = -(answers * log_answers).sum(axis=0) @ chances
        return float(-(all_told @ np.log(all_told)) - unsure + hit * chances[item])

    for _ in range(count):
        left = [item for item in range(len(distances)) if item not in chosen]
        chosen.append(max(left, key=worth))
    return chosen
