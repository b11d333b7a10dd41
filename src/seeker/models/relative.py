"""The choice model for people who compare distances by their ratio, not by their difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from seeker.models.base import Adder, Grid, Term
from seeker.models.choice import Choice
from seeker.types import Array, Doubles
from seeker.validation import check_number

_EVEN, _LEANING = 0.4, 0.5
"""The prior of the even mixture, and of all that lean to one view; the rest: one view alone."""


@dataclass(frozen=True)
class Relative(Choice):
    """P(like i | t, θ) = (1 − λ) softmax_{k ∈ R}(−log(D_θ(k, t) + floor) / σ_θ)[i] + λ / |R|.

    As `Choice`, but what is twice as far is as much worse among near items as among far ones
    (Weber's law): the probability of a like falls with the distance to the power 1 / σ. floor:
    distances well below it, in units of the catalog's mean, are not told apart. θ runs over the
    even mixture of all views, the mixtures half way from it to each view, and each view alone;
    while no weights are given, these have prior probabilities of 0.4, 0.5 and 0.1 together.
    """

    name = "relative"
    uses_average = True
    sigmas: tuple[float, ...] = (0.1, 0.2, 0.4, 0.8)
    weights: tuple[float, ...] | Literal["broad"] | None = None
    floor: float = 0.05

    def __post_init__(self) -> None:
        check_number("floor", self.floor, 1e-3, below=1e30)
        super().__post_init__()

    def grid(self, views: Sequence[str]) -> Grid:
        if self.weights is not None:
            return super().grid(views)
        shares = self.mixture_prior(len(views))
        settings = np.repeat(shares / len(self.sigmas), len(self.sigmas))
        return replace(self, weights=tuple(map(float, settings))).grid(views)

    @staticmethod
    def mixtures(views: int) -> Doubles:
        """Return the mixtures of views that are averaged over, (mixtures, views)."""
        if views == 1:
            return np.ones((1, 1))
        even, alone = np.full((1, views), 1.0 / views), np.eye(views)
        return np.concatenate([even, (even + alone) / 2.0, alone])

    @staticmethod
    def mixture_prior(views: int) -> Doubles:
        """Return how probable each mixture is before any click, (mixtures,)."""
        if views == 1:
            return np.ones(1)
        each = np.full(views, 1.0 / views)
        return np.concatenate([[_EVEN], _LEANING * each, (1.0 - _EVEN - _LEANING) * each])

    def depth(self, term: Term, reach: float) -> float:
        return self._depth(term, math.log1p(4.0 * reach / self.floor) / min(self.sigmas))

    def sharpness(self) -> float:
        return 1.0 / (min(self.sigmas) * self.floor)

    def adder(
        self,
        terms: Sequence[tuple[Term, int]],
        places: Mapping[int, int],
        grid: Grid,
        dtype: np.dtype[Any],
    ) -> Adder:
        from seeker.kernels.likelihood import logarithms

        adders = self._adders(terms, places, np.ones((1, 1), dtype), grid.sigmas)
        mixtures, floor = grid.mixtures.astype(dtype), dtype.type(self.floor)
        count, noises = len(mixtures), len(grid.sigmas)

        def add(columns: Array, average: Doubles | None, units: Array) -> None:
            logs = np.empty((count, *columns.shape[1:]), dtype)
            logarithms(columns, average, mixtures, floor, logs)
            for add_term in adders:
                for w in range(count):
                    add_term(logs[w : w + 1], units[w * noises : (w + 1) * noises])

        return add
