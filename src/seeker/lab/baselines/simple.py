"""The simplest baselines: no feedback, chance, and Rocchio."""

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
