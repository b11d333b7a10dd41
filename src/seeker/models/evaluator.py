"""Scores of the items that are asked about, from what was said and their vectors alone.

A term needs columns of distances: they are kept between clicks where there is room (`ColumnStore`),
computed in batches where not (`TermBatch`), and added up to scores (`ScoreEvaluator`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from threading import local
from typing import Any

import numpy as np

from seeker.errors import BadInput
from seeker.kernels.parallel import over_blocks
from seeker.models.base import Evidence, Grid, Model, Term, TextTerm, is_text
from seeker.models.words import WordsTerm
from seeker.space import Space
from seeker.space.columns import DistanceProbe, PreparedProbes
from seeker.types import Array, Doubles, Rows

ENOUGH_COLUMNS = 16
ENOUGH_BYTES = 8_000_000
"""More columns than so many, or so many bytes of small ones, are not worth keeping."""


class ColumnStore:
    """Columns of the items judged and shown last, (views, items) each, as many as fit into bytes.

    Only whole columns are kept. The longest unused make way for new ones. Columns that are the same
    for all searches are shared with them where there is room, and do not count here.
    """

    def __init__(self, space: Space, max_bytes: int) -> None:
        self._space = space
        views, items, dtype = len(space.views), space.count, space.dtype
        size = max(1, views * items * dtype.itemsize)
        enough = max(ENOUGH_COLUMNS, ENOUGH_BYTES // size)
        self.max_columns = max(0, min(max_bytes // size, enough))
        self._shape = (views, items)
        self._dtype = dtype
        self._stored: dict[DistanceProbe, Array] = {}
        self._reserved: dict[DistanceProbe, Array] = {}

    @property
    def nbytes(self) -> int:
        """How many bytes the kept columns take."""
        return sum(column.nbytes for column in self._stored.values())

    def get(self, probe: DistanceProbe) -> Array | None:
        """Return a column, (views, items), if it is here or shared."""
        column = self._stored.get(probe)
        return self._space.shared_column(probe) if column is None else column

    def reserve(self, probes: Sequence[DistanceProbe], spared: Collection[DistanceProbe]) -> None:
        """Find room for new columns, the last asked for first; spared ones stay."""
        for probe in spared:
            if probe in self._stored:
                self._stored[probe] = self._stored.pop(probe)  # used now: the last to make way
        old = [probe for probe in self._stored if probe not in spared]
        self._reserved = {}
        for probe in reversed(probes):
            if len(self._stored) + len(self._reserved) < self.max_columns:
                self._reserved[probe] = np.empty(self._shape, self._dtype)
            elif old:
                self._reserved[probe] = self._stored.pop(old.pop(0))

    def commit(self) -> None:
        """Take the reserved columns, now written for all items, into use."""
        for probe, column in self._reserved.items():
            if not self._space.share_column(probe, column):
                self._stored[probe] = column
        self._reserved = {}

    def write(self, places: Mapping[DistanceProbe, int], where: slice, columns: Array) -> None:
        """Write reserved columns at a run of rows; columns: (views, places, rows)."""
        for probe, column in self._reserved.items():
            column[:, where] = columns[:, places[probe]]

    def clear(self) -> None:
        """Keep nothing any longer."""
        self._stored, self._reserved = {}, {}


SignedTerm = tuple[Term, int]


class ColumnBatch:
    """Columns of some probes: first those to be computed, then those that are stored.

    Where the columns of all items were computed in advance, all are taken from there.
    """

    def __init__(self, space: Space, store: ColumnStore, probes: Iterable[DistanceProbe]) -> None:
        self.space = space
        self.store = store
        distinct = sorted(set(probes))
        in_catalog = not distinct or distinct[-1].row < space.count
        self._all = space.all_columns if in_catalog else None
        self._all_rows = np.array([probe.row for probe in distinct], np.int64)
        columns = {} if self._all is not None else {probe: store.get(probe) for probe in distinct}
        self.new = [probe for probe, column in columns.items() if column is None]
        self.stored = [probe for probe, column in columns.items() if column is not None]
        self._columns = [column for column in columns.values() if column is not None]
        self._prepared: PreparedProbes | None = space.prepare(self.new) if self.new else None
        order = distinct if self._all is not None else [*self.new, *self.stored]
        self.places = {probe: place for place, probe in enumerate(order)}

    def columns(self, rows: Rows, where: slice | Rows) -> Array:
        """Return the columns at some items, (views, places, rows), in memory used again.

        where: the rows again, as a slice if they are consecutive, which is read faster.
        """
        shape = (len(self.space.views), len(self.places), len(rows))
        columns = scratch_array("columns", shape, self.space.dtype)
        if self._all is not None:
            if isinstance(where, slice) and len(rows) == self.space.count:
                self._all.take(self._all_rows, axis=1, out=columns, mode="clip")
            else:
                columns[:] = self._all[:, self._all_rows[:, None], rows]
            return columns
        if self._prepared is not None:
            self.space.columns(self._prepared, rows, columns[:, : len(self.new)])
        for place, column in enumerate(self._columns, len(self.new)):
            columns[:, place] = column[:, where]
        return columns


class TermBatch(ColumnBatch):
    """Signed terms of a model."""

    def __init__(
        self,
        model: Model,
        grid: Grid,
        space: Space,
        store: ColumnStore,
        terms: Sequence[SignedTerm],
    ) -> None:
        super().__init__(space, store, (probe for term, _ in terms for probe in model.probe(term)))
        by_row = {probe.row: place for probe, place in self.places.items()}
        clicks = [(term, sign) for term, sign in terms if not is_text(term)]
        self._texts = [(term.along, sign) for term, sign in terms if isinstance(term, TextTerm)]
        self._words = [(term, sign) for term, sign in terms if isinstance(term, WordsTerm)]
        self._beta = model.beta
        self._average = model.uses_average and bool(clicks)
        self._add = model.adder(clicks, by_row, grid, space.dtype) if clicks else None

    def add(self, rows: Rows, where: slice | Rows, units: Array, keep: bool = False) -> None:
        """Add the terms to units, (thetas, rows); keep: whether columns are stored, too."""
        from seeker.kernels.likelihood import text

        if not len(rows):
            return
        for along, sign in self._texts:
            text(self.space.direction(along, rows), self._beta, sign, units)
        for term, sign in self._words:
            self._add_words(term, sign, rows, units)
        if self._add is None:
            return
        columns = self.columns(rows, where)
        if keep and isinstance(where, slice):
            self.store.write(self.places, where, columns)
        self._add(columns, self.space.average(rows) if self._average else None, units)

    def _add_words(self, term: WordsTerm, sign: int, rows: Rows, units: Array) -> None:
        from seeker.kernels.likelihood import words

        letters = term.matches.at(rows)
        letters *= term.letters
        letters += term.chance
        if term.along is None:
            exponents, meaning = np.zeros(len(rows)), 0.0
        else:
            exponents, meaning = self.space.direction(term.along, rows), term.meaning
            exponents -= term.level
            exponents *= term.sharpness
        highest, log_top = term.highest_exponent, term.log_top
        words(letters, exponents, highest, meaning, log_top, sign, units)


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

    def set_grid(self, grid: Grid) -> None:
        """Let the same settings count by other weights."""
        self.grid = grid
        self.forget_batches()

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
        from seeker.kernels import DEEPEST, DEEPEST_SUM

        # Of a function as a metric nothing is known, but that its terms are usually shallow.
        many = len(terms) * DEEPEST > DEEPEST_SUM and self.space.reach < math.inf
        if many and sum(min(self.depth(term), DEEPEST) for term in terms) > DEEPEST_SUM:
            raise BadInput(
                f"{len(terms):,} comparisons are too many for so sharp a model.",
                "Begin a search with a smaller alpha, or with scale='unit'.",
            )
        return frozenset(terms)

    def depth(self, term: Term) -> float:
        """Return how far below zero a term can be, in nats."""
        if isinstance(term, WordsTerm):
            return term.depth
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

    def values(
        self, terms: Sequence[Term], rows: Rows, summed_in: np.dtype[Any] = _LONG
    ) -> Doubles:
        """Return the sum of some terms and of θ's log-prior, in nats: (thetas, rows)."""
        from seeker.kernels import UNIT

        units = np.zeros((self.thetas, len(rows)), summed_in)
        self._new_batch([(term, 1) for term in terms]).add(rows, rows, units)
        return units * UNIT + self.grid.log_weights[:, None]

    def prior_at(self, run: slice) -> Doubles:
        """Return the log-prior of a run of items, (rows,)."""
        return np.zeros(run.stop - run.start) if self.log_prior is None else self.log_prior[run]


_scratch = local()


def scratch_array(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array that this thread will use again."""
    size = math.prod(shape)
    array: Array | None = getattr(_scratch, name, None)
    if array is None or array.size < size or array.dtype != dtype:
        array = np.empty(size, dtype)
        setattr(_scratch, name, array)
    return array[:size].reshape(shape)
