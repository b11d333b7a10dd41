"""Bayesian baselines: PicHunter, SOMHunter, sub-perceptions, Gaussian processes, telling pairs."""

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
from seeker.types import Doubles, Floats, Rows


@dataclass(frozen=True)
class PicHunter(Baseline):
    """P(pick i | t, shown) = e^(−d(i,t)/σ) / Σ_k e^(−d(k,t)/σ), d the distance (not squared).

    I. J. Cox et al., "The Bayesian image retrieval system, PicHunter", 2000: softmin user model
    with one pick a page, so dislikes are not used; where several are liked, each is a pick. The
    display is the one of least expected entropy after the answer, among sets drawn from the
    posterior and the set of the most probable items (their Monte Carlo scheme), judged on a
    sample of the posterior.
    """

    name = "PicHunter"
    sigma: float = 0.1
    sets: int = 6
    sample: int = 400

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        total = np.zeros(space.count)
        for feedback in history:
            total += _pick_logs(space, feedback, self.sigma)
        return total

    def choose(self, context: PageContext) -> Rows:
        likely, weights = context.likely(self.sample)
        sets = [context.best()[: context.count]]
        sets += [
            draw_rows(context.values, context.free, context.count, context.rng)
            for _ in range(self.sets)
        ]
        entropies = [self._expected_entropy(context.space, rows, likely, weights) for rows in sets]
        return sets[int(np.argmin(entropies))]

    def probabilities(self, values: Doubles) -> Doubles | None:
        return softmax(values)

    def _expected_entropy(
        self, space: JointSpace, rows: Rows, likely: Rows, weights: Doubles
    ) -> float:
        """Return the expected entropy of the posterior sample after an answer to this page."""
        one, other = space.vectors[rows], space.vectors[likely]
        squares = space.squares[rows][:, None] + space.squares[likely] - 2.0 * (one @ other.T)
        logs = -np.sqrt(np.maximum(squares, 0.0)).astype(np.float64) / self.sigma
        answers = np.exp(logs - np.logaddexp.reduce(logs, axis=0))  # (shown, likely)
        together = answers * weights
        chance = together.sum(axis=1, keepdims=True)
        after = together / np.maximum(chance, 1e-300)
        entropy = -(after * np.log(np.maximum(after, 1e-300))).sum(axis=1)
        return float(chance[:, 0] @ entropy)


@lru_cache(maxsize=64)
def _pick_logs(space: JointSpace, feedback: Feedback, sigma: float) -> Doubles:
    """Return the log-probability of the likes of one page for every item, (items,)."""
    total = np.zeros(space.count)
    others = [row for row in feedback.shown if row not in feedback.likes]
    for like in feedback.likes:
        logs = np.stack([-np.sqrt(space.distances(row)) for row in [like, *others]]) / sigma
        total += logs[0] - np.logaddexp.reduce(logs, axis=0)
    return total


@dataclass(frozen=True)
class SOMHunter(Baseline):
    """Each like i multiplies the score of t by e^(−d(i,t)/σ) over the sum of it and all others.

    M. Kratochvíl et al., "SOMHunter: lightweight video search system with SOM-guided relevance
    feedback", 2020, and https://github.com/siret-junior/somhunter-simulator (BayesianRanker,
    σ = 0.1, d = 1 − cosine). Dislikes are not used. The page is drawn with probability
    proportional to score^power without replacement.
    """

    name = "SOMHunter"
    sigma: float = 0.1
    power: float = 3.0

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        total = np.zeros(space.count)
        for feedback in history:
            total += _update_logs(space, feedback, self.sigma)
        # The simulator keeps scores within 1e-12 of the best one.
        return np.asarray(np.maximum(total - total.max(), np.log(1e-12)))

    def choose(self, context: PageContext) -> Rows:
        return draw_rows(self.power * context.values, context.free, context.count, context.rng)

    def probabilities(self, values: Doubles) -> Doubles | None:
        return softmax(values)


@lru_cache(maxsize=64)
def _update_logs(space: JointSpace, feedback: Feedback, sigma: float) -> Doubles:
    """Return the log-factor of one page for every item, (items,)."""
    total = np.zeros(space.count)
    others = [row for row in feedback.shown if row not in feedback.likes]
    for like in feedback.likes:
        logs = np.stack([space.cosines(row) for row in [like, *others]]).astype(np.float64) / sigma
        total += logs[0] - np.logaddexp.reduce(logs, axis=0)
    return total


@dataclass(frozen=True)
class SubPerceptions(Baseline):
    """Likes beat what else was shown, and that beats dislikes, as one of the views has it.

    After Z. Ma and C.-W. Ngo, "Robust relevance feedback for interactive known-item video search",
    2025 (arXiv 2505.15128), as its abstract and reviews tell it, without its formulas: PicHunter's
    update by judgements of pairs; every view a perception of its own; and a model of the person
    that predicts by which of them each feedback was given, and weighs its update by that. Theirs is
    a network trained on many simulated searches. Here a view counts for a page by how probable it
    made its judgements, given the belief until then. σ is PicHunter's; the most probable items are
    shown.
    """

    name = "sub-perceptions"
    sigma: float = 0.1

    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        total = np.zeros(space.count)
        for feedback in history:
            logs = _pair_logs(space, feedback, self.sigma)
            belief = total - np.logaddexp.reduce(total)
            confidence = np.logaddexp.reduce(belief + logs, axis=1)
            confidence -= np.logaddexp.reduce(confidence)
            total += np.logaddexp.reduce(confidence[:, None] + logs, axis=0)
        return total

    def probabilities(self, values: Doubles) -> Doubles | None:
        return softmax(values)


@lru_cache(maxsize=64)
def _pair_logs(space: JointSpace, feedback: Feedback, sigma: float) -> Doubles:
    """Return the log-probability of one page's judgements of pairs, (views, items)."""
    pairs = [(like, other) for like in feedback.likes for other in feedback.others]
    pairs += [(better, worse) for worse in feedback.dislikes for better in feedback.others]
    pairs += [(like, worse) for like in feedback.likes for worse in feedback.dislikes]
    total = np.zeros((len(space.widths), space.count))
    shown = list(feedback.shown)
    place = {row: number for number, row in enumerate(shown)}
    for logs, (vectors, squares) in zip(total, _unit_views(space), strict=True):
        products = vectors[shown] @ vectors.T
        far = np.sqrt(np.maximum(squares + squares[shown][:, None] - 2.0 * products, 0.0))
        for better, worse in pairs:
            logs -= np.logaddexp(0.0, (far[place[better]] - far[place[worse]]) / sigma)
    return total


@lru_cache(maxsize=4)
def _unit_views(space: JointSpace) -> list[tuple[Floats, Floats]]:
    """Return every view in its own unit, in which two random items are 1 apart, and its squares."""
    ends = np.cumsum(space.widths)[:-1]
    parts = np.split(space.vectors * np.float32(np.sqrt(len(space.widths))), ends, axis=1)
    views = [np.ascontiguousarray(part) for part in parts]
    return [(vectors, (vectors**2).sum(axis=1)) for vectors in views]


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
