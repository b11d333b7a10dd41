"""Scores and distances over shards: exact for the few items that are asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from seeker.cluster.messages import Vectors
from seeker.cluster.partition import CatalogPart, RowRange
from seeker.cluster.prior import Prior
from seeker.kernels.parallel import Stop, never
from seeker.models.base import Evidence, Model
from seeker.models.scores import Scores
from seeker.space import Space, View
from seeker.types import Doubles, Floats, Rows


class PartSpace(Space):
    """A part of a catalog's items.

    Items that are measured are counted from the beginning of the part; items that they are
    measured from (`DistanceProbe`) are named by their row in the whole catalog, so that a term is
    the same
    thing in every shard. elsewhere: the vectors of items outside the part, by row; it may grow.
    """

    def __init__(
        self,
        part: CatalogPart,
        model: Model,
        person: Mapping[str, Doubles] | None,
        elsewhere: Mapping[int, Vectors],
    ) -> None:
        self._part = part.rows
        self._elsewhere = elsewhere
        super().__init__(part.views, model.units, person, model.sharpness())
        self.shared = None  # rows are those of the whole catalog, and some are not held here

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


class FrontScores(Scores):
    """Scores under a model of items whose sums are kept in shards.

    Nothing is kept of all items here, so every term is computed for the items that are asked about.
    """

    space: FrontSpace
    log_prior: Prior | None  # type: ignore[assignment]

    def __init__(self, model: Model, space: FrontSpace, ranges: tuple[RowRange, ...]) -> None:
        super().__init__(model, space)
        self._ranges = ranges
        self._evidence = Evidence()
        self.rows: tuple[int, ...] = ()
        """The items that the evidence speaks of."""

    def set_prior(self, log_prior: Doubles | None) -> None:
        """Put another log-prior, (items,), in the place of the one there is; it is kept small."""
        self.log_prior = None if log_prior is None else Prior(log_prior, self._ranges)

    def condition_on(self, evidence: Evidence) -> None:
        """Make the scores those given this evidence."""
        terms = self.model.terms(evidence, self.space)
        self._evidence = evidence
        self._wanted = self._summable(terms)
        self._batches = {}
        spoken = [probe.row for term in terms for probe in self.model.probe(term)]
        shifted = [click.row for click in evidence.clicks] if evidence.texts else []
        self.rows = tuple(dict.fromkeys([*spoken, *shifted]))

    def then(self) -> FrontScores:
        """Return these scores as they are now, whatever comes."""
        kept = FrontScores(self.model, self.space, self._ranges)
        kept.log_prior = self.log_prior
        kept.condition_on(self._evidence)
        return kept

    def catch_up(self, stop: Stop = never) -> None:
        """Do nothing: the shards do it."""

    def everywhere(self, stop: Stop = never) -> Doubles:
        raise NotImplementedError("The front holds no scores of all items; the shards do.")
