"""Scores at the front: exact for the few items that are asked about."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from seeker.cluster.partition import RowRange
from seeker.cluster.prior import Prior
from seeker.models.base import Evidence, Grid, Model, Term, focus_grid
from seeker.models.evaluator import ColumnStore, ScoreEvaluator
from seeker.space import Space
from seeker.types import Doubles, Rows


class FrontScores:
    """Scores under a model of items whose sums are kept in shards.

    Nothing is kept of all items here, so every term is computed for the items that are asked about.
    """

    def __init__(self, model: Model, space: Space, ranges: tuple[RowRange, ...]) -> None:
        grid = model.grid([view.name for view in space.views])
        self._evaluator = ScoreEvaluator(model, space, grid, ColumnStore(space, 0))
        self._ranges = ranges
        self.log_prior: Prior | None = None
        """The log-prior, or None for an even one."""
        self.rows: tuple[int, ...] = ()
        """The items that the evidence speaks of."""

    def fork(self) -> FrontScores:
        """Return these scores as they are now, whatever comes."""
        fork = copy(self)
        fork._evaluator = self._evaluator.fork()
        return fork

    @property
    def model(self) -> Model:
        """The model."""
        return self._evaluator.model

    @property
    def space(self) -> Space:
        """The space that the model measures distances in."""
        return self._evaluator.space

    @property
    def grid(self) -> Grid:
        """The settings of the person that are averaged over."""
        return self._evaluator.grid

    @property
    def count(self) -> int:
        """How many items there are."""
        return self._evaluator.count

    @property
    def nbytes(self) -> int:
        """How many bytes are kept: those of the log-prior."""
        return 0 if self.log_prior is None else self.log_prior.nbytes

    @property
    def pending_work(self) -> float:
        """About how many multiplications the shards need for all items after a replay."""
        return self._evaluator.work(self._evaluator.terms)

    def set_prior(self, log_prior: Doubles | None) -> None:
        """Put another log-prior, (items,), in the place of the one there is; it is kept small."""
        self.log_prior = None if log_prior is None else Prior(log_prior, self._ranges)

    def set_focus(self, factors: Sequence[float] | None) -> None:
        """Let views matter by other factors, (views,), than before; None: as the model has it."""
        grid = self.model.grid([view.name for view in self.space.views])
        self._evaluator.set_grid(grid if factors is None else focus_grid(grid, factors))

    def condition_on(self, evidence: Evidence) -> None:
        """Make the scores those given this evidence."""
        terms = self.model.terms(evidence, self.space)
        self._evaluator.set_terms(self._evaluator.summable(terms))
        spoken = [probe.row for term in terms for probe in self.model.probe(term)]
        shifted = [click.row for click in evidence.clicks] if evidence.texts else []
        self.rows = tuple(dict.fromkeys([*spoken, *shifted]))

    def at(self, rows: Rows) -> Doubles:
        """Return the scores of some items, (rows,)."""
        scores = self._evaluator.at(rows)
        if self.log_prior is not None:
            scores += self.log_prior[rows]
        return scores

    def values(self, terms: Sequence[Term], rows: Rows) -> Doubles:
        """Return the sum of some terms and of θ's log-prior, in nats: (thetas, rows)."""
        return self._evaluator.values(terms, rows)
