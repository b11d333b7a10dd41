"""The belief: how probable it is of every item that it is the one looked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from seeker.models.base import Grid
from seeker.types import Doubles


class Belief(ABC):
    """The posterior over items, and over what the model leaves open, at one step of a session."""

    def __init__(self, views: Sequence[str], grid: Grid) -> None:
        self._views = tuple(views)
        self._grid = grid

    def __repr__(self) -> str:
        return f"<Belief: about {self.candidates:.1f} candidates>"

    @property
    def partial(self) -> bool:
        """Whether part of the catalog could not be asked, so that it is left out of the figures."""
        return False

    @property
    @abstractmethod
    def log_posterior(self) -> Doubles:
        """Log-probabilities, (items,) float64, in catalog order; −inf for what is ruled out."""

    @abstractmethod
    def rank(self, item: str) -> float:
        """Return an item's place by probability: 1 is best, ties share the middle place."""

    @abstractmethod
    def probability(self, item: str) -> float:
        """Return how probable it is that this item is the one looked for."""

    @property
    @abstractmethod
    def entropy(self) -> float:
        """The uncertainty about the item looked for, in nats."""

    @property
    def candidates(self) -> float:
        """How many equally probable items would be as uncertain: e to the entropy."""
        return float(np.exp(self.entropy))

    @property
    @abstractmethod
    def on_page(self) -> float:
        """How probable it is that the item looked for is on the page of this step."""

    @property
    @abstractmethod
    def settings(self) -> Doubles:
        """The posterior of θ, (mixtures, noises); (1, 1) where a model leaves nothing open."""

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

    def _arranged(self, weights: Doubles) -> Doubles:
        """Return weights of θ, (thetas,), by mixture and noise level, (mixtures, noises)."""
        return weights.reshape(-1, max(1, len(self._grid.sigmas)))
