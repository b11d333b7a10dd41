"""What the paper's two models share: one distance, the views weighing alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seeker.errors import NotFound, short
from seeker.models.base import Grid, Model
from seeker.numbers import check_names, check_number
from seeker.space.view import Scale, check_scale

AVERAGE = -1
"""Stands for the average item, which takes the place of a side that is empty."""


class EvenModel(Model):
    """A model of one distance: the mean over the views, or over those it names."""

    scale: Scale
    views: tuple[str, ...] | None

    def __post_init__(self) -> None:
        check_number("beta", self.beta, 0.0)
        check_scale(self.scale)
        if self.views is not None:
            object.__setattr__(self, "views", check_names("views", self.views))

    @property
    def units(self) -> Scale:
        return self.scale

    def grid(self, views: Sequence[str]) -> Grid:
        chosen = views if self.views is None else self.views
        unknown = [name for name in chosen if name not in views]
        if unknown:
            raise NotFound(
                f"The model names a view {short(unknown[0])}.", f"The catalog has {list(views)}."
            )
        weights = np.array([[(name in chosen) / len(chosen) for name in views]])
        return Grid(weights, np.empty(0), np.zeros(1))
