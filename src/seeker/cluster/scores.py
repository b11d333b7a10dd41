"""Scores over shards: exact for the few items that are asked about."""

from __future__ import annotations

from typing import cast

from seeker.cluster.partition import RowRange
from seeker.cluster.prior import Prior
from seeker.kernels.parallel import Stop, never
from seeker.models.base import Evidence, Model
from seeker.models.scores import Scores
from seeker.space import Space
from seeker.types import Doubles


class FrontScores(Scores):
    """Scores under a model of items whose sums are kept in shards.

    Nothing is kept of all items here, so every term is computed for the items that are asked about.
    """

    def __init__(self, model: Model, space: Space, ranges: tuple[RowRange, ...]) -> None:
        super().__init__(model, space)
        self._ranges = ranges
        self._evidence = Evidence()
        self.rows: tuple[int, ...] = ()
        """The items that the evidence speaks of."""

    @property
    def log_prior(self) -> Prior | None:  # type: ignore[override]
        """The log-prior, read like an array, (items,), or None for an even one."""
        return cast("Prior | None", self.evaluator.log_prior)

    def set_prior(self, log_prior: Doubles | None) -> None:
        """Put another log-prior, (items,), in the place of the one there is; it is kept small."""
        prior = None if log_prior is None else Prior(log_prior, self._ranges)
        self.evaluator.log_prior = cast("Doubles | None", prior)

    def condition_on(self, evidence: Evidence) -> None:
        """Make the scores those given this evidence."""
        terms = self.model.terms(evidence, self.space)
        self._evidence = evidence
        self.evaluator.set_terms(self.evaluator.summable(terms))
        spoken = [probe.row for term in terms for probe in self.model.probe(term)]
        shifted = [click.row for click in evidence.clicks] if evidence.texts else []
        self.rows = tuple(dict.fromkeys([*spoken, *shifted]))

    def then(self) -> FrontScores:
        """Return these scores as they are now, whatever comes."""
        kept = FrontScores(self.model, self.space, self._ranges)
        kept.evaluator.log_prior = self.evaluator.log_prior
        kept.condition_on(self._evidence)
        return kept

    def catch_up(self, stop: Stop = never) -> None:
        """Do nothing: the shards do it."""

    def everywhere(self, stop: Stop = never) -> Doubles:
        raise NotImplementedError("The front holds no scores of all items; the shards do.")
