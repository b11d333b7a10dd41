"""Qdrant's ways of searching by examples, on cosine similarity.

Formulas: https://qdrant.tech/documentation/concepts/explore/ (recommendation strategies
average_vector, best_score and sum_scores; discovery and context search). A test holds that each
ranks as qdrant-client's local mode does. As in Qdrant, average_vector needs a like and the
context needs pairs; without them nothing is known and the order is left to chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seeker.lab.baselines.base import Baseline, Feedback, JointSpace, dislikes_of, likes_of
from seeker.types import Doubles, Floats

_EPSILON = np.float32(1.1920929e-7)


@dataclass(frozen=True)
class AverageVector(Baseline):
    """Cosine with 2 · mean of likes − mean of dislikes."""

    name = "Qdrant average_vector"

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        likes, dislikes = likes_of(history), dislikes_of(history)
        if not likes:
            return np.zeros(space.count)
        query = space.directions[likes].mean(axis=0)
        if dislikes:
            query = 2.0 * query - space.directions[dislikes].mean(axis=0)
        return np.asarray(space.directions @ query.astype(np.float32), np.float64)


@dataclass(frozen=True)
class BestScore(Baseline):
    """The best similarity to a like, or minus the best to a dislike where that is higher."""

    name = "Qdrant best_score"

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        liked = _best(space, likes_of(history))
        disliked = _best(space, dislikes_of(history))
        return np.where(liked > disliked, _fast_sigmoid(liked), -_fast_sigmoid(disliked))


@dataclass(frozen=True)
class SumScores(Baseline):
    """The sum of similarities to the likes minus the sum of similarities to the dislikes."""

    name = "Qdrant sum_scores"

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        total = np.zeros(space.count)
        for row in likes_of(history):
            total += space.cosines(row)
        for row in dislikes_of(history):
            total -= space.cosines(row)
        return total


@dataclass(frozen=True)
class Context(Baseline):
    """Σ over pairs of min(s(like) − s(dislike), 0), squashed: a loss where dislikes are nearer."""

    name = "Qdrant context"

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        total = np.zeros(space.count)
        for liked, disliked in _pairs(space, history):
            loss = np.minimum(liked - disliked - _EPSILON, 0.0)
            total += loss / (1.0 + np.abs(loss))
        return total


@dataclass(frozen=True)
class Discovery(Baseline):
    """How many pairs an item is on the right side of, then similarity to the latest like."""

    name = "Qdrant discovery"

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        total = np.zeros(space.count)
        for liked, disliked in _pairs(space, history):
            total += np.sign(liked - disliked)
        likes = likes_of(history)
        return total + _fast_sigmoid(space.cosines(likes[-1])) if likes else total


def _best(space: JointSpace, rows: list[int]) -> Floats:
    """Return the best similarity to any of some items, (items,); −inf where there are none."""
    best = np.full(space.count, -np.inf, np.float32)
    for row in rows:
        np.maximum(best, space.cosines(row), out=best)
    return best


def _pairs(space: JointSpace, history: tuple[Feedback, ...]) -> list[tuple[Floats, Floats]]:
    """Return similarities to both items of every pair of a like and a dislike, (items,) each."""
    return [
        (space.cosines(like), space.cosines(dislike))
        for like in likes_of(history)
        for dislike in dislikes_of(history)
    ]


def _fast_sigmoid(values: Floats) -> Doubles:
    """Return ½ (x / (1 + |x|) + 1), Qdrant's fast sigmoid; −inf stays as it is."""
    finite = np.where(np.isfinite(values), values, 0.0).astype(np.float64)
    squashed = 0.5 * (finite / (1.0 + np.abs(finite)) + 1.0)
    return np.where(np.isfinite(values), squashed, values)
