"""The belief: how probable it is of every item that it is the one looked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from seeker.models.base import Grid
from seeker.types import Doubles, Rows


class Belief:
    """The posterior over items, and over what the model leaves open, at one step of a session."""

    def __init__(
        self,
        scores: Doubles,
        views: Sequence[str],
        grid: Grid,
        settings: Callable[[float], Doubles],
        page: Callable[[], Rows],
        row: Callable[[str], int],
    ) -> None:
        """Normalise scores, (items,), in place; settings(log total): the posterior of θ."""
        self._log_total = _normalise(scores)
        scores.setflags(write=False)
        self.log_posterior = scores
        """Log-probabilities, (items,) float64, in catalog order; −inf for what is ruled out."""
        self._views = tuple(views)
        self._grid = grid
        self._settings = settings
        self._row = row
        self._page = page

    def __repr__(self) -> str:
        return f"<Belief: about {self.candidates:.1f} candidates>"

    def rank(self, item: str) -> float:
        """Return an item's place by probability: 1 is best, ties share the middle place."""
        mine = self.log_posterior[self._row(item)]
        higher = np.count_nonzero(self.log_posterior > mine)
        equal = np.count_nonzero(self.log_posterior == mine)
        return float(higher + (equal + 1) / 2)

    def probability(self, item: str) -> float:
        """Return how probable it is that this item is the one looked for."""
        return float(np.exp(self.log_posterior[self._row(item)]))

    @cached_property
    def entropy(self) -> float:
        """The uncertainty about the item looked for, in nats."""
        likely = self.log_posterior[self.log_posterior > -700.0]
        return max(0.0, float(-(np.exp(likely) @ likely)))

    @property
    def candidates(self) -> float:
        """How many equally probable items would be as uncertain: e to the entropy."""
        return float(np.exp(self.entropy))

    @cached_property
    def on_page(self) -> float:
        """How probable it is that the item looked for is on the page of this step."""
        return min(1.0, float(np.exp(self.log_posterior[self._page()]).sum()))

    @cached_property
    def settings(self) -> Doubles:
        """The posterior of θ, (mixtures, noises); (1, 1) where a model leaves nothing open."""
        noises = max(1, len(self._grid.sigmas))
        return self._settings(self._log_total).reshape(-1, noises)

    @property
    def views(self) -> dict[str, float]:
        """How much each view counts for this person, adding up to 1."""
        weights = self.settings.sum(axis=1) @ self._grid.mixtures
        return dict(zip(self._views, map(float, weights), strict=True))

    @property
    def noise(self) -> float | None:
        """How noisily this person judges (mean σ), or None where the model has no such thing."""
        if not len(self._grid.sigmas):
            return None
        return float(self.settings.sum(axis=0) @ self._grid.sigmas)


def _normalise(scores: Doubles) -> float:
    """Make scores log-probabilities, in place; return log Σ exp(scores) as it was."""
    from seeker.kernels.posterior import mass
    from seeker.kernels.threads import BLOCK, over_blocks

    top = float(scores.max())
    parts = np.zeros(-(-len(scores) // BLOCK))

    def add_up(start: int, stop: int) -> None:
        parts[start // BLOCK] = mass(scores[start:stop], top)

    def divide(start: int, stop: int) -> None:
        scores[start:stop] -= log_total

    over_blocks(len(scores), add_up)
    log_total = top + float(np.log(parts.cumsum()[-1]))
    over_blocks(len(scores), divide)
    return log_total
