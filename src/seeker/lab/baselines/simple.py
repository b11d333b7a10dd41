"""The simplest baselines: no feedback, chance, Rocchio, and a linear support vector machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seeker.lab.baselines.base import (
    Baseline,
    Feedback,
    JointSpace,
    PageContext,
    dislikes_of,
    likes_of,
)
from seeker.types import Doubles, Rows


@dataclass(frozen=True)
class NoFeedback(Baseline):
    """Leafs through the catalog in an order fixed beforehand: by nearness to the average item."""

    name = "no feedback"

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        return np.asarray(-space.squares, np.float64)


@dataclass(frozen=True)
class Chance(Baseline):
    """Shows new items at random."""

    name = "random"

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        return np.zeros(space.count)

    def choose(self, context: PageContext) -> Rows:
        return context.rng.choice(context.free, context.count, replace=False)


@dataclass(frozen=True)
class Rocchio(Baseline):
    """q = β · mean of likes − γ · mean of dislikes; items by cosine with q.

    J. J. Rocchio, "Relevance feedback in information retrieval", 1971; the usual weights
    β = 0.75 and γ = 0.15 are those of Manning, Raghavan and Schütze, "Introduction to
    Information Retrieval", 2008, section 9.1.1. There is no query to start from: q₀ = 0, the
    catalog's mean.
    """

    name = "Rocchio"
    beta: float = 0.75
    gamma: float = 0.15

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        likes, dislikes = likes_of(history), dislikes_of(history)
        query = np.zeros(space.vectors.shape[1])
        if likes:
            query += self.beta * space.directions[likes].mean(axis=0)
        if dislikes:
            query -= self.gamma * space.directions[dislikes].mean(axis=0)
        return np.asarray(space.directions @ query.astype(np.float32), np.float64)


@dataclass(frozen=True)
class LinearSVM(Baseline):
    """Items by distance from the hyperplane between likes and dislikes.

    B. Þ. Jónsson et al., "Exquisitor: interactive learning at large", 2019: a linear SVM is
    trained anew on all judgements of every round and the items farthest on the liked side are
    shown. While one side is missing, items of the pages shown that were not clicked stand in for
    it. Trained by dual coordinate descent (Hsieh et al., 2008), the bias as one more dimension.
    """

    name = "linear SVM"
    c: float = 1.0
    sweeps: int = 40

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        likes, dislikes = likes_of(history), dislikes_of(history)
        others = [row for feedback in history for row in feedback.others]
        likes, dislikes = likes or others, dislikes or others
        if not likes or not dislikes:
            return np.zeros(space.count)
        rows = likes + dislikes
        sides = np.repeat([1.0, -1.0], [len(likes), len(dislikes)])
        vectors = space.vectors[rows].astype(np.float64)
        weights = _train((vectors @ vectors.T + 1.0) * np.outer(sides, sides), self)
        normal = (weights * sides) @ vectors
        return np.asarray(space.vectors @ normal.astype(np.float32), np.float64)


def _train(products: Doubles, settings: LinearSVM) -> Doubles:
    """Return the weights of the examples, (examples,): max Σ a − ½ a·Q·a, 0 ≤ a ≤ C."""
    weights = np.zeros(len(products))
    gradient = -np.ones(len(products))
    for _ in range(settings.sweeps):
        change = 0.0
        for i in range(len(products)):
            before = weights[i]
            weights[i] = min(max(before - gradient[i] / products[i, i], 0.0), settings.c)
            if weights[i] != before:
                gradient += products[i] * (weights[i] - before)
                change = max(change, abs(weights[i] - before))
        if change < 1e-6:
            break
    return weights
