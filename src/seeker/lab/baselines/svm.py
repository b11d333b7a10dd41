"""A linear support vector machine trained on the clicks, as in Exquisitor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seeker.lab.baselines.base import Baseline, Feedback, JointSpace, dislikes_of, likes_of
from seeker.types import Doubles


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
