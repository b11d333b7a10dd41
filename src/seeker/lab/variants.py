"""Variants of Seeker's own settings, from among which its defaults were chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from seeker import display, models
from seeker.lab.baselines import Searcher, Seeker
from seeker.lab.baselines.informed import Informed
from seeker.types import Doubles


@dataclass(frozen=True)
class Weighted(models.Choice):
    """The choice model with other mixtures of two views: the weights of the first, all alike."""

    name = "weighted choice"
    weights: tuple[float, ...] | Literal["broad"] | None = None
    first: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)

    def mixtures(self, views: int) -> Doubles:  # type: ignore[override]
        """Return the mixtures that are averaged over, (mixtures, views)."""
        if views != 2:
            return models.Choice.mixtures(views)
        return np.array([[share, 1.0 - share] for share in self.first])


@dataclass(frozen=True)
class Ratios(models.Relative):
    """Ratios of distances with the mixtures and the prior of the choice model."""

    name = "ratios"
    sigmas: tuple[float, ...] = (0.0625, 0.125, 0.25, 0.5, 1.0)
    weights: tuple[float, ...] | Literal["broad"] | None = "broad"

    @staticmethod
    def mixtures(views: int) -> Doubles:
        """Return the mixtures that are averaged over, (mixtures, views)."""
        return models.Choice.mixtures(views)


VARIANTS: dict[str, Searcher] = {
    "default": Seeker(),
    "relative distances": Seeker(models.Relative()),
    "relative distances, same mixtures": Seeker(Ratios()),
    "noiseless": Seeker(strategy=display.Greedy()),
    "C = 0.7": Seeker(strategy=display.Boltzmann(c=0.7)),
    "diverse, submodular": Seeker(strategy=display.Diverse(reach=0.5)),
    "diverse, determinantal": Seeker(
        strategy=display.Diverse(criterion="determinantal", reach=0.5)
    ),
    "sigmas 0.1 … 1.6": Seeker(models.Choice(sigmas=(0.1, 0.2, 0.4, 0.8, 1.6))),
    "sigmas 0.025 … 0.4": Seeker(models.Choice(sigmas=(0.025, 0.05, 0.1, 0.2, 0.4))),
    "sigmas 0.1, 0.2": Seeker(models.Choice(sigmas=(0.1, 0.2))),
    "slip 0.02": Seeker(models.Choice(slip=0.02)),
    "slip 0.15": Seeker(models.Choice(slip=0.15)),
    "all mixtures alike": Seeker(models.Choice(weights=None)),
    "five mixtures": Seeker(Weighted()),
    "inner mixtures": Seeker(Weighted(first=(0.25, 0.5, 0.75))),
    "even mixture": Seeker(Weighted(first=(0.5,))),
    "informed until 0.05": Informed(until=0.05),
    "informed until 0.2": Informed(),
    "informed until 0.2, half": Informed(share=0.5),
    "informed until 0.5": Informed(until=0.5),
}
