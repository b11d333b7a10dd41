"""Gaussian process bandits over the items, as in GaussSearch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seeker.lab.rivals.base import Feedback, Rival, dislikes_of, likes_of
from seeker.lab.rivals.joint import Joint
from seeker.types import Doubles


@dataclass(frozen=True)
class GaussSearch(Rival):
    """A Gaussian process of relevance; items by upper confidence bound, mean + β · deviation.

    K. Konyushkova and D. Glowacka, "Content-based image retrieval with hierarchical Gaussian
    process bandits with self-organizing maps", 2013. Likes have relevance 1, dislikes 0; items
    shown and passed over count as ½, which is the prior mean. Kernel e^(−D / (2 · length²)).
    """

    name = "GaussSearch"
    length: float = 0.5
    noise: float = 0.1
    beta: float = 0.2

    def values(self, space: Joint, history: tuple[Feedback, ...]) -> Doubles:
        likes, dislikes = likes_of(history), dislikes_of(history)
        others = [row for feedback in history for row in feedback.others]
        rows = likes + dislikes + others
        relevance = np.repeat([0.5, -0.5, 0.0], [len(likes), len(dislikes), len(others)])
        cross = np.exp(
            -np.stack([space.distances(row) for row in rows]).astype(np.float64)
            / (2.0 * self.length**2)
        )  # (judged, items)
        gram = cross[:, rows] + self.noise * np.eye(len(rows))
        factor = np.linalg.cholesky(gram)
        half = np.linalg.solve(factor, cross)
        mean = np.linalg.solve(factor, relevance) @ half
        variance = np.maximum(1.0 - (half**2).sum(axis=0), 0.0)
        return np.asarray(mean + self.beta * np.sqrt(variance))
