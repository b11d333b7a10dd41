"""The space of a shard: items are the shard's own, but one can ask how far they are from any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from seeker.cluster.messages import Vectors
from seeker.cluster.part import Part
from seeker.models.base import Model
from seeker.space import Space, View
from seeker.types import Doubles, Floats, Rows


class PartSpace(Space):
    """A part of a catalog's items.

    Items that are measured are counted from the beginning of the part; items that they are
    measured from (`Near`) are named by their row in the whole catalog, so that a term is the same
    thing in every shard. elsewhere: the vectors of items outside the part, by row; it may grow.
    """

    def __init__(
        self,
        part: Part,
        model: Model,
        person: Mapping[str, Doubles] | None,
        elsewhere: Mapping[int, Vectors],
    ) -> None:
        self._part = part.rows
        self._elsewhere = elsewhere
        super().__init__(part.views, model.units, person, model.sharpness())

    def _vectors(self, v: int, rows: Sequence[int]) -> Doubles:
        found = [self._vector(v, row) for row in rows]
        return np.stack(found) if found else super()._vectors(v, rows)

    def _vector(self, v: int, row: int) -> Doubles:
        if row in self._part:
            return super()._vector(v, row - self._part.first)
        return self._elsewhere[row][v]


class FrontSpace(Space):
    """The whole catalog as the front sees it: only the few vectors that are asked for are read."""

    def average(self, rows: Rows) -> Doubles:
        """Return D̄ of some items, (views, rows); where it must be measured, of these alone."""
        return super().average(rows) if self.fast else self._measured(rows)

    def vectors(self, row: int) -> Vectors:
        """Return the vectors of an item, be it there or departed."""
        return tuple(self._vector(v, row) for v in range(len(self.views)))


def front_space(
    views: Sequence[View],
    model: Model,
    person: Mapping[str, Doubles] | None,
    departed: Sequence[Mapping[str, Floats]],
) -> FrontSpace:
    """Return the space that a model measures distances in, for the front."""
    return FrontSpace(views, model.units, person, model.sharpness(), departed)
