"""A shard's part of a catalog: a run of rows of every view, and what distances need to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from seeker.cluster.ranges import Range
from seeker.space import View
from seeker.types import Array, Doubles


@dataclass(frozen=True, eq=False)
class PartView(View):
    """Some rows of a view; mean, scale and the like are those of the whole.

    standing: the vectors that stand for the whole catalog, which some metrics need.
    """

    standing: Doubles = field(default_factory=lambda: np.empty((0, 0)), repr=False)

    @cached_property
    def sample(self) -> Doubles:
        """Vectors that stand for the whole catalog."""
        return self.standing

    @classmethod
    def cut(cls, view: View, rows: Range) -> PartView:
        """Cut some rows out of a view; nothing is copied."""
        same = {one.name: getattr(view, one.name) for one in fields(View)}
        same["vectors"] = view.vectors[rows.first : rows.last]
        if view.steps is not None:
            same["steps"] = view.steps[rows.first : rows.last]
        return cls(**same, standing=view.sample)

    @property
    def arrays(self) -> list[Array]:
        """What there is of every item."""
        return [self.vectors] if self.steps is None else [self.vectors, self.steps]


@dataclass(frozen=True, eq=False)
class Part:
    """The views of a part, in the order of the catalog's."""

    rows: Range
    views: tuple[PartView, ...]

    @classmethod
    def of(cls, views: Mapping[str, View], rows: Range) -> Part:
        """Cut a part out of a catalog's views; nothing is copied."""
        return cls(rows, tuple(PartView.cut(view, rows) for view in views.values()))

    @property
    def outline(self) -> tuple[PartView, ...]:
        """The views with none of their rows: all that is needed to read a copy of these."""
        none = Range(0, 0)
        return tuple(PartView.cut(view, none) for view in self.views)

    @property
    def arrays(self) -> list[Array]:
        """What there is of every item, in all views."""
        return [array for view in self.views for array in view.arrays]
