"""Baselines that learn: Gaussian process bandits, and pages that would tell most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from seeker.lab.baselines.base import (
    Baseline,
    Feedback,
    JointSpace,
    PageContext,
    dislikes_of,
    draw_rows,
    likes_of,
    softmax,
)
from seeker.types import Doubles, Rows


@dataclass(frozen=True)
class GaussSearch(Baseline):
    """A Gaussian process of relevance; items by upper confidence bound, mean + β · deviation.

    K. Konyushkova and D. Glowacka, "Content-based image retrieval with hierarchical Gaussian
    process bandits with self-organizing maps", 2013. Likes have relevance 1, dislikes 0; items
    shown and passed over count as ½, which is the prior mean. Kernel e^(−D / (2 · length²)).
    """

    name = "GaussSearch"
    length: float = 0.5
    noise: float = 0.1
    beta: float = 0.2

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
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


@dataclass(frozen=True)
class InfoGain(Baseline):
    """P(i rather than j | t) = σ(k · (D(j, t) − D(i, t))); the page is made of the best pairs.

    G. H. Canal et al., "Active embedding search via noisy paired comparisons", 2019: each pair
    maximises H(answer) − E_t[H(answer | t)] over a pool of candidate pairs, the belief about t
    being the posterior over the catalog. A page holds as many pairs as fit, taken greedily. A
    like is preferred to everything else on the page, and everything to a dislike.
    """

    name = "InfoGain pairs"
    k: float = 4.0
    pool: int = 120
    sample: int = 400

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        total = np.zeros(space.count)
        for feedback in history:
            total += _comparison_logs(space, feedback, self.k)
        return total

    def choose(self, context: PageContext) -> Rows:
        likely, weights = context.likely(self.sample)
        rows = draw_rows(
            context.values, context.free, min(2 * self.pool, len(context.free)), context.rng
        )
        one, other = rows[: len(rows) // 2], rows[len(rows) // 2 :][: len(rows) // 2]
        gains = self._gains(context.space, one, other, likely, weights)
        pairs = np.argsort(-gains, kind="stable")[: context.count // 2]
        page = np.stack([one[pairs], other[pairs]], axis=1).ravel()
        rest = context.best()
        return np.concatenate([page, rest[~np.isin(rest, page)]])[: context.count]

    def probabilities(self, values: Doubles) -> Doubles | None:
        return softmax(values)

    def _gains(
        self, space: JointSpace, one: Rows, other: Rows, likely: Rows, weights: Doubles
    ) -> Doubles:
        """Return the information each pair's answer would give, in nats, (pairs,)."""
        first, second = space.vectors[one], space.vectors[other]
        ahead = space.squares[other] - space.squares[one]
        products = (first - second) @ space.vectors[likely].T
        logit = self.k * (ahead[:, None] + 2.0 * products).astype(np.float64)
        chance = 1.0 / (1.0 + np.exp(-np.clip(logit, -60.0, 60.0)))
        return _entropy(chance @ weights) - _entropy(chance) @ weights


def _entropy(chance: Doubles) -> Doubles:
    """Return the entropy of a yes-or-no answer, in nats."""
    inside = np.clip(chance, 1e-12, 1.0 - 1e-12)
    return np.asarray(-inside * np.log(inside) - (1.0 - inside) * np.log(1.0 - inside))


@lru_cache(maxsize=64)
def _comparison_logs(space: JointSpace, feedback: Feedback, k: float) -> Doubles:
    """Return the log-likelihood of the comparisons of one page for every item, (items,)."""
    rows = [*feedback.likes, *feedback.dislikes, *feedback.others]
    columns = {row: space.distances(row).astype(np.float64) for row in rows}
    pairs = [
        (like, other) for like in feedback.likes for other in (*feedback.dislikes, *feedback.others)
    ]
    pairs += [(other, dislike) for dislike in feedback.dislikes for other in feedback.others]
    total = np.zeros(space.count)
    for nearer, farther in pairs:
        total -= np.logaddexp(0.0, -k * (columns[farther] - columns[nearer]))
    return total
