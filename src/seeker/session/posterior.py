"""A belief that holds the log-probability of every item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from seeker.models.base import Grid
from seeker.session.belief import Belief
from seeker.types import Doubles, Rows


class Posterior(Belief):
    """A belief over items whose scores are all known here.

    settings(log total): the posterior of θ, (thetas,). page(): the rows on display. row(item): its
    row; all of them as of the belief's own step.
    """

    def __init__(
        self,
        scores: Doubles,
        views: Sequence[str],
        grid: Grid,
        settings: Callable[[float], Doubles],
        page: Callable[[], Rows],
        row: Callable[[str], int],
    ) -> None:
        """Normalise scores, (items,), in place."""
        super().__init__(views, grid)
        self._log_total = _normalise(scores)
        scores.setflags(write=False)
        self._logs = scores
        self._settings = settings
        self._page = page
        self._row = row

    @property
    def log_posterior(self) -> Doubles:
        """Log-probabilities, (items,) float64, in catalog order; −inf for what is ruled out."""
        return self._logs

    def rank(self, item: str) -> float:
        """Return an item's place by probability: 1 is best, ties share the middle place."""
        mine = self._logs[self._row(item)]
        higher = np.count_nonzero(self._logs > mine)
        equal = np.count_nonzero(self._logs == mine)
        return float(higher + (equal + 1) / 2)

    def probability(self, item: str) -> float:
        """Return how probable it is that this item is the one looked for."""
        return float(np.exp(self._logs[self._row(item)]))

    @cached_property
    def entropy(self) -> float:
        """The uncertainty about the item looked for, in nats."""
        likely = self._logs[self._logs > -700.0]
        return max(0.0, float(-(np.exp(likely) @ likely)))

    @cached_property
    def on_page(self) -> float:
        """How probable it is that the item looked for is on the page of this step."""
        return min(1.0, float(np.exp(self._logs[self._page()]).sum()))

    @cached_property
    def settings(self) -> Doubles:
        """The posterior of θ, (mixtures, noises)."""
        return self._arranged(self._settings(self._log_total))


def _normalise(scores: Doubles) -> float:
    """Make scores log-probabilities, in place; return log Σ exp(scores) as it was."""
    from seeker.kernels import EXACT
    from seeker.kernels.posterior import mass
    from seeker.kernels.threads import BLOCK, over_blocks

    top = float(scores.max())
    parts = np.zeros(-(-len(scores) // BLOCK))

    def add_up(start: int, stop: int) -> None:
        parts[start // BLOCK] = mass(scores[start:stop], top)

    def divide(start: int, stop: int) -> None:
        if abs(top) < EXACT:
            scores[start:stop] -= log_total
        else:  # so large a number has no room for the digits of the small one
            scores[start:stop] -= top
            scores[start:stop] -= log_mass

    over_blocks(len(scores), add_up)
    log_mass = float(np.log(parts.cumsum()[-1]))
    log_total = top + log_mass
    over_blocks(len(scores), divide)
    return log_total
