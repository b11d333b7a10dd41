"""SOMHunter's Bayesian relevance feedback."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from seeker.lab.rivals.base import Feedback, Rival, Turn, drawn, softmax
from seeker.lab.rivals.joint import Joint
from seeker.types import Doubles, Rows


@dataclass(frozen=True)
class SOMHunter(Rival):
    """Each like i multiplies the score of t by e^(−d(i,t)/σ) over the sum of it and all others.

    M. Kratochvíl et al., "SOMHunter: lightweight video search system with SOM-guided relevance
    feedback", 2020, and https://github.com/siret-junior/somhunter-simulator (BayesianRanker,
    σ = 0.1, d = 1 − cosine). Dislikes are not used. The page is drawn with probability
    proportional to score^power without replacement.
    """

    name = "SOMHunter"
    sigma: float = 0.1
    power: float = 3.0

    def values(self, space: Joint, history: tuple[Feedback, ...]) -> Doubles:
        total = np.zeros(space.count)
        for feedback in history:
            total += _update(space, feedback, self.sigma)
        # The simulator keeps scores within 1e-12 of the best one.
        return np.asarray(np.maximum(total - total.max(), np.log(1e-12)))

    def choose(self, turn: Turn) -> Rows:
        return drawn(self.power * turn.values, turn.free, turn.count, turn.rng)

    def probabilities(self, values: Doubles) -> Doubles | None:
        return softmax(values)


@lru_cache(maxsize=64)
def _update(space: Joint, feedback: Feedback, sigma: float) -> Doubles:
    """Return the log-factor of one page for every item, (items,)."""
    total = np.zeros(space.count)
    others = [row for row in feedback.shown if row not in feedback.likes]
    for like in feedback.likes:
        logs = np.stack([space.cosines(row) for row in [like, *others]]).astype(np.float64) / sigma
        total += logs[0] - np.logaddexp.reduce(logs, axis=0)
    return total
