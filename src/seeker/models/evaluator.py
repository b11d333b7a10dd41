"""Scores of the items that are asked about, from what was said and their vectors alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from seeker.errors import BadInput
from seeker.kernels.parallel import over_blocks
from seeker.models.base import Evidence, Grid, Model, Term, TextTerm
from seeker.models.columns import ColumnStore, SignedTerm, TermBatch, scratch_array
from seeker.space import Space
from seeker.types import Array, Doubles, Rows

NO_TERMS: frozenset[Term] = frozenset()

_COST_OF_A_COLUMN, _COST_OF_A_TERM = 64, 32
"""What a column and a term cost for each item, in multiplications: exponentials and logarithms."""

_LONG = np.dtype(np.int64)


class ScoreEvaluator:
    """The terms that count now, with what it takes to compute them at any item.

    terms: those of the evidence. log_prior: (items,), or None for an even one; −inf keeps an item
    out. store: columns that need not be computed again.
    """

    def __init__(self, model: Model, space: Space, grid: Grid, store: ColumnStore) -> None:
        self.model = model
        self.space = space
        self.grid = grid
        self.store = store
        self.count = space.count
        self.log_prior: Doubles | None = None
        self.terms = NO_TERMS
        self._batches: dict[frozenset[Term], TermBatch] = {}

    def fork(self) -> ScoreEvaluator:
        """Return the same, for which other terms may count."""
        fork = copy(self)
        fork.forget_batches()
        return fork

    @property
    def thetas(self) -> int:
        """How many settings of the person are averaged over."""
        return len(self.grid.log_weights)

    def condition_on(self, evidence: Evidence) -> None:
        """Let the terms of this evidence count, and no others."""
        self.set_terms(self.summable(self.model.terms(evidence, self.space)))

    def set_terms(self, terms: frozenset[Term]) -> None:
        """Let these terms count, and no others."""
        self.terms = terms
        self.forget_batches()

    def summable(self, terms: Sequence[Term]) -> frozenset[Term]:
        """Return terms as a set, if their sums are exact in 64 bits."""
        from seeker.kernels import DEEPEST, MOST

        # Of a function as a metric nothing is known, but that its terms are usually shallow.
        many = len(terms) * DEEPEST > MOST and self.space.reach < math.inf
        if many and sum(min(self.depth(term), DEEPEST) for term in terms) > MOST:
            raise BadInput(
                f"{len(terms):,} comparisons are too many for so sharp a model.",
                "Begin a search with a smaller alpha, or with scale='unit'.",
            )
        return frozenset(terms)

    def depth(self, term: Term) -> float:
        """Return how far below zero a term can be, in nats."""
        if isinstance(term, TextTerm):
            return self.model.beta * self.space.longest(term.along) + 1.0
        return self.model.depth(term, self.space.reach)

    def batch(self, basis: frozenset[Term]) -> TermBatch:
        """Return the batch that leads from the sum of a basis to that of the terms that count."""
        if basis not in self._batches:
            added = [(term, 1) for term in self.terms - basis]
            removed = [(term, -1) for term in basis - self.terms]
            self._batches[basis] = self._new_batch(added + removed)
        return self._batches[basis]

    def _new_batch(self, terms: Sequence[SignedTerm]) -> TermBatch:
        return TermBatch(self.model, self.grid, self.space, self.store, terms)

    def forget_batches(self) -> None:
        """Make batches anew: the terms have changed, or which columns are stored."""
        self._batches = {}

    def forget(self) -> None:
        """Keep no columns any longer."""
        self.store.clear()
        self.forget_batches()

    def at(
        self,
        rows: Rows,
        basis: frozenset[Term] = NO_TERMS,
        read_basis: Callable[[Rows, Array], None] | None = None,
    ) -> Doubles:
        """Return the scores of some items, (rows,).

        read_basis(rows, units): writes the sums of the basis to units, (thetas, rows), where there
        are such.
        """
        batch, out = self.batch(basis), np.empty(len(rows))

        def work(start: int, stop: int) -> None:
            some = rows[start:stop]
            units = self.scratch_units(len(some))
            if read_basis is None:
                units[:] = 0
            else:
                read_basis(some, units)
            batch.add(some, some, units)
            self.finish(units, some, out[start:stop])

        over_blocks(len(rows), work)
        return out

    def scratch_units(self, rows: int) -> Array:
        """Return room for the sums of some items, (thetas, rows), which this thread uses again."""
        return scratch_array("units", (self.thetas, rows), _LONG)

    def finish(self, units: Array, where: slice | Rows, out: Doubles) -> None:
        """Average sums, (thetas, rows), over θ and add the prior; out: (rows,)."""
        from seeker.kernels.posterior import scores

        scores(units, self.grid.log_weights, out)
        if self.log_prior is not None:
            out += self.log_prior[where]

    def work(self, terms: frozenset[Term]) -> float:
        """About how many multiplications it takes to compute some terms for all items."""
        columns = {probe for term in terms for probe in self.model.probe(term)}
        dimensions = sum(view.dimensions for view in self.space.views)
        cost = len(columns) * (dimensions + _COST_OF_A_COLUMN) + len(terms) * _COST_OF_A_TERM
        return float(self.count) * cost

    def values(self, terms: Sequence[Term], rows: Rows) -> Doubles:
        """Return the sum of some terms and of θ's log-prior, in nats: (thetas, rows)."""
        from seeker.kernels import UNIT

        units = np.zeros((self.thetas, len(rows)), np.int64)
        self._new_batch([(term, 1) for term in terms]).add(rows, rows, units)
        return units * UNIT + self.grid.log_weights[:, None]

    def prior_at(self, run: slice) -> Doubles:
        """Return the log-prior of a run of items, (rows,)."""
        return np.zeros(run.stop - run.start) if self.log_prior is None else self.log_prior[run]
