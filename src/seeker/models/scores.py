"""The score of every item: exact, and computed no sooner and no oftener than needed.

Something is kept of all items as of some moment (`catch_up`, see `ledger`). Clicks made since then
are pending: their terms are added on the fly for the items that are asked about. Because terms are
never positive, a settled score is an upper bound of the present one for as long as nothing has
been taken back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from seeker.errors import BadInput
from seeker.kernels.parallel import Interrupted, Stop, never
from seeker.models import foreseen
from seeker.models.accumulators import NO_TERMS, PART_ITEMS, ExactSums, UpperBounds, prior_bounds
from seeker.models.base import Evidence, Model, Term, TextTerm
from seeker.models.columns import ColumnBatch, ColumnStore, SignedTerm, TermBatch, scratch_array
from seeker.space import Space
from seeker.space.probes import DistanceProbe
from seeker.types import Array, Doubles, Floats, Rows

MEMORY = 64_000_000
"""Bytes that one session may keep; large catalogs need more, but then only for bounds."""

_BESIDES = 300_000
"""Bytes of these for what else a session keeps, such as the list of candidates."""

_AT_A_TIME = 64
"""Columns that are computed in one go while catching up: the caches hold so many of a block."""

_PER_COLUMN, _PER_TERM = 64, 32
"""What a column and a term cost for each item, in multiplications: exponentials and logarithms."""

_DOUBLE, _LONG = np.dtype(np.float64), np.dtype(np.int64)


class Scores:
    """Scores of all items of a space under a model, given evidence and a log-prior.

    log_prior: (items,) or None for an even one; −inf keeps an item out.
    """

    def __init__(self, model: Model, space: Space, log_prior: Doubles | None = None) -> None:
        self.model = model
        self.space = space
        self.grid = model.grid([view.name for view in space.views])
        self.log_prior = log_prior
        self.count = space.count
        self._wanted = NO_TERMS
        self._foreseen: foreseen.ScoreDropBound | None = None
        self._whole: tuple[frozenset[Term], list[tuple[float, Doubles]]] | None = None
        self._batches: dict[frozenset[Term], TermBatch] = {}
        self.strained = False
        """Whether a look at the bounds has ever left many items to be evaluated."""
        wide = 8 if self.thetas == 1 else 4  # one sum may need 64 bits, several seldom do
        fixed = self.count * (wide * self.thetas + 4)
        self._ledger: ExactSums | UpperBounds
        if self.thetas > 1 and fixed > MEMORY:
            self._ledger = UpperBounds(self.count, self.grid.log_weights)
        else:
            self._ledger = ExactSums(self.count, self.grid.log_weights)
        columns = MEMORY - _BESIDES - fixed
        self.store = ColumnStore(space, columns)

    @property
    def thetas(self) -> int:
        """How many settings of the person are averaged over."""
        return len(self.grid.log_weights)

    @property
    def nbytes(self) -> int:
        """How many bytes this object keeps, the log-prior's with them."""
        prior = 0 if self.log_prior is None else self.log_prior.nbytes
        return self.store.nbytes + self._ledger.nbytes + prior

    def condition_on(self, evidence: Evidence) -> None:
        """Make the scores those given this evidence; costs nothing until they are asked for."""
        self._wanted = self._summable(self.model.terms(evidence, self.space))
        self._batches = {}
        if not self.space.fast and self.pending:
            self.catch_up()

    def _summable(self, terms: Sequence[Term]) -> frozenset[Term]:
        """Return terms as a set, if their sums are exact in 64 bits."""
        from seeker.kernels import DEEPEST, MOST

        # Of a function as a metric nothing is known, but that its terms are usually shallow.
        many = len(terms) * DEEPEST > MOST and self.space.reach < math.inf
        if many and sum(min(self._deep(term), DEEPEST) for term in terms) > MOST:
            raise BadInput(
                f"{len(terms):,} comparisons are too many for so sharp a model.",
                "Begin a search with a smaller alpha, or with scale='unit'.",
            )
        return frozenset(terms)

    @property
    def pending(self) -> bool:
        """Whether clicks were made that what is kept does not hold yet."""
        ledger = self._ledger
        loose = isinstance(ledger, UpperBounds) and any(ledger.loose)
        return loose or any(stage != self._wanted for stage in ledger.stages)

    @property
    def stage(self) -> frozenset[Term] | None:
        """The terms that what is kept holds, or None where it is not the same for all items."""
        return self._ledger.stage

    def includes(self, stage: frozenset[Term]) -> bool:
        """Whether all terms of a stage still count, so that bounds of then are bounds now."""
        return stage <= self._wanted

    def at(self, rows: Rows) -> Doubles:
        """Return the scores of some items, (rows,)."""
        out = np.empty(len(rows))
        for some, batch in self._by_basis(rows):
            chosen = rows if some is None else rows[some]
            values = out if some is None else np.empty(len(chosen))

            def work(
                start: int,
                stop: int,
                batch: TermBatch = batch,
                chosen: Rows = chosen,
                values: Doubles = values,
            ) -> None:
                few = chosen[start:stop]
                units = scratch_array("units", (self.thetas, len(few)), _LONG)
                self._ledger.begin(few, units)
                batch.add(few, few, units)
                self._finish(units, few, values[start:stop])

            self._over(0, len(chosen), work)
            if some is not None:
                out[some] = values
        return out

    def _by_basis(self, rows: Rows) -> list[tuple[Rows | None, TermBatch]]:
        """Split rows by what is pending for them: places in rows (None: all), and a batch each."""
        bases = [self._ledger.basis(part) for part in range(len(self._ledger.stages))]
        kinds = list(dict.fromkeys(bases))
        if len(kinds) == 1:
            return [(None, self._batch(kinds[0]))]
        of_part = np.array([kinds.index(basis) for basis in bases])
        of_row = of_part[rows // PART_ITEMS]
        return [
            (np.flatnonzero(of_row == kind), self._batch(basis)) for kind, basis in enumerate(kinds)
        ]

    def _batch(self, basis: frozenset[Term]) -> TermBatch:
        """Return the batch that leads from a basis to what is wanted."""
        if basis not in self._batches:
            added = [(term, 1) for term in self._wanted - basis]
            self._batches[basis] = self._new_batch(
                added + [(term, -1) for term in basis - self._wanted]
            )
        return self._batches[basis]

    def _new_batch(self, terms: Sequence[SignedTerm]) -> TermBatch:
        return TermBatch(self.model, self.grid, self.space, self.store, terms)

    def everywhere(self, stop: Stop = never) -> Doubles:
        """Return the scores of all items, (items,)."""
        out = np.empty(self.count)
        if isinstance(self._ledger, ExactSums):
            self._settle(self._ledger, out, stop)
        else:
            self._measure(self._ledger, out, stop)
        return out

    def bounds(self) -> Floats:
        """Return upper bounds of the present scores, (items,)."""
        ledger = self._ledger
        if all(stage and not stage & self._wanted for stage in ledger.stages):
            return prior_bounds(self.count, self.log_prior)
        for part, stage in enumerate(ledger.stages):
            gone = stage - self._wanted
            if gone and isinstance(ledger, UpperBounds):
                ledger.take_back(part, gone, self._deep)
            elif gone:
                self.catch_up()
                break
        return ledger.upper(self.log_prior)

    def set_prior(self, log_prior: Doubles | None) -> None:
        """Put another log-prior, (items,), in the place of the one there is."""
        self.log_prior = log_prior
        self._whole = None
        if isinstance(self._ledger, ExactSums):
            self._ledger.forget_bounds()

    def catch_up(self, stop: Stop = never) -> None:
        """Bring what is kept of all items up to date; what was done before a stop stays done."""
        if not self.pending:
            return
        if isinstance(self._ledger, ExactSums):
            self._settle(self._ledger, None, stop)
        else:
            self._lower(self._ledger, stop)

    @property
    def pending_work(self) -> float:
        """About how many multiplications it takes to bring what is kept of all items up to date."""
        pending = frozenset[Term]().union(*(stage ^ self._wanted for stage in self._ledger.stages))
        columns = {probe for term in pending for probe in self.model.probe(term)}
        dimensions = sum(view.dimensions for view in self.space.views)
        cost = len(columns) * (dimensions + _PER_COLUMN) + len(pending) * _PER_TERM
        return float(self.count) * cost

    def catch_up_in_pieces(self, between: Callable[[], None]) -> None:
        """Settle where many clicks are pending, some at a time; between: called after each time.

        After a replay all clicks are. Their columns are more than caches hold, and in one go
        everybody else who wants the cores would wait until the last of them is computed.
        """
        wanted = self._wanted
        held = wanted.intersection(*self._ledger.stages)
        groups = self._groups(wanted - held)
        if len(groups) < 2:
            return
        try:
            for group in groups:
                held |= frozenset(group)
                self._wanted, self._batches = held, {}
                self.catch_up()
                between()
        finally:
            self._wanted, self._batches = wanted, {}

    def _groups(self, terms: frozenset[Term]) -> list[list[Term]]:
        """Split terms so that each group needs few columns that the groups before it do not."""
        probes = {term: tuple(self.model.probe(term)) for term in terms}
        places: dict[DistanceProbe, int] = {}
        for asked in probes.values():
            for probe in asked:
                places.setdefault(probe, len(places))
        groups: dict[int, list[Term]] = {}
        for term, asked in probes.items():
            last = max((places[probe] for probe in asked), default=0)
            groups.setdefault(last // _AT_A_TIME, []).append(term)
        return [groups[number] for number in sorted(groups)]

    def _settle(self, ledger: ExactSums, out: Doubles | None, stop: Stop) -> None:
        """Bring exact sums up to date in one reading; out, (items,), receives the scores."""
        wanted = self._wanted
        if not wanted:
            ledger.forget()
        else:
            ledger.make_room(sum(map(self._deep, wanted.union(*ledger.stages))))
        ledger.upper(self.log_prior)
        whole = ledger.stage
        keep = whole is not None and whole != wanted
        if whole is not None and keep:
            first = self._batch(whole)
            self.store.reserve(first.new, first.kept)
        for part, stage in enumerate(ledger.stages):
            if out is None and stage == wanted:
                continue
            batch = self._batch(stage)

            def work(
                start: int, end: int, batch: TermBatch = batch, same: bool = stage == wanted
            ) -> None:
                run = slice(start, end)
                rows = np.arange(start, end)
                units = scratch_array("units", (self.thetas, len(rows)), _LONG)
                ledger.begin(run, units)
                batch.add(rows, run, units, keep)
                scores = scratch_array("scores", (len(rows),), _DOUBLE) if out is None else out[run]
                self._finish(units, run, scores)
                if not same:
                    ledger.keep(run, units, scores)

            self._part(part, work, stop)
            ledger.stages[part] = wanted
        if keep:
            self.store.commit()
            self._batches = {}

    def _lower(self, ledger: UpperBounds, stop: Stop) -> None:
        """Bring bounds up to date, reading only what is new where nothing was taken back."""
        ledger.make_room()
        wanted = self._wanted
        for part, stage in enumerate(ledger.stages):
            anew = ledger.loose[part] or bool(stage - wanted)
            if stage == wanted and not anew:
                continue
            batch = self._batch(NO_TERMS if anew else stage)

            def work(start: int, end: int, batch: TermBatch = batch, anew: bool = anew) -> None:
                rows = np.arange(start, end)
                units = scratch_array("units", (self.thetas, len(rows)), _LONG)
                units[:] = 0
                batch.add(rows, slice(start, end), units)
                ledger.lower(slice(start, end), units, anew)

            self._part(part, work, stop)
            ledger.stages[part], ledger.loose[part] = wanted, False

    def _measure(self, ledger: UpperBounds, out: Doubles, stop: Stop) -> None:
        """Compute all scores from nothing; out: (items,). Bounds become as close as can be."""
        from seeker.kernels.posterior import mass_by_theta

        ledger.make_room()
        wanted, batch = self._wanted, self._batch(NO_TERMS)
        masses: dict[int, tuple[float, Doubles]] = {}

        def work(start: int, end: int) -> None:
            run = slice(start, end)
            rows = np.arange(start, end)
            units = scratch_array("units", (self.thetas, len(rows)), _LONG)
            units[:] = 0
            batch.add(rows, run, units)
            self._finish(units, run, out[run])
            ledger.lower(run, units, True)
            highest = float(out[run].max())
            if highest > -np.inf:
                prior = np.zeros(len(rows)) if self.log_prior is None else self.log_prior[run]
                weights = np.zeros(self.thetas)
                mass_by_theta(units, 0, self.grid.log_weights, prior - highest, weights)
                masses[start] = highest, weights

        for part in range(len(ledger.stages)):
            self._part(part, work, stop)
            ledger.stages[part], ledger.loose[part] = wanted, False
        self._whole = wanted, [masses[start] for start in sorted(masses)]

    def _part(self, part: int, work: Callable[[int, int], None], stop: Stop) -> None:
        """Do work on a part, or stop before it; what is half done is done anew."""
        if stop():
            raise Interrupted
        run = self._ledger.part(part)
        try:
            self._over(run.start, run.stop, work)
        except BaseException:
            self._ledger.forget()
            self.store.clear()
            self._batches = {}
            raise

    def anticipate(self, evidence: Evidence, rows: Sequence[int], stop: Stop = never) -> None:
        """Do in advance what the next click needs, which will be on one of some items."""
        self.space.expect(sorted(rows))
        if self.strained:
            self._foresee(evidence, rows, stop)

    def _foresee(self, evidence: Evidence, rows: Sequence[int], stop: Stop) -> None:
        """Find out, for all items at once, what a click on one of some items could do at most.

        Worth its price (one reading of the vectors) where the scores lie so close together that
        bounds from before the click do not tell items apart: then it is the same fall for all.
        """
        from seeker.kernels import EXACT

        seen, stage = self.model.foresight(evidence), self._ledger.stage
        if seen is None or stage is None or self.pending or not self.space.fast:
            return
        if max(map(self._deep, stage), default=0.0) > EXACT:
            return  # what such terms add is less than the formula says
        near = map(DistanceProbe, [*rows, *seen.likes, *seen.dislikes])
        asked = ColumnBatch(self.space, self.store, near)
        parts = [self._ledger.part(number) for number in range(len(self._ledger.stages))]
        caps = foreseen.drop_bounds(seen, rows, asked, self.grid.mixtures[0], parts, stop)
        self._foreseen = foreseen.ScoreDropBound(stage, seen, caps)

    def ceiling(self) -> float:
        """Return the most that pending terms add to any score: 0, or less where it was foreseen."""
        stage = self._ledger.stage
        if self._foreseen is None or stage is None:
            return 0.0
        return self._foreseen.ceiling(stage, self._wanted)

    def values(self, terms: Sequence[Term], rows: Rows) -> Doubles:
        """Return the sum of some terms and of θ's log-prior, in nats: (thetas, rows)."""
        from seeker.kernels import UNIT

        units = np.zeros((self.thetas, len(rows)), np.int64)
        self._new_batch([(term, 1) for term in terms]).add(rows, rows, units)
        return units * UNIT + self.grid.log_weights[:, None]

    def settings(self, log_total: float) -> Doubles:
        """Return the posterior of θ, (thetas,); log_total: the log of the sum of e**score."""
        from seeker.kernels.posterior import mass_by_theta

        if self.thetas == 1:
            return np.ones(1)
        weights = np.zeros(self.thetas)
        if isinstance(self._ledger, UpperBounds):
            if self._whole is None or self._whole[0] != self._wanted:
                self.everywhere()
            assert self._whole is not None
            for highest, part in self._whole[1]:
                weights += part * np.exp(highest - log_total)
            return np.asarray(weights / weights.sum())
        self.catch_up()
        sums = self._ledger.sums
        if sums is None:
            return np.exp(self.grid.log_weights)
        for start in range(0, self.count, 1 << 16):
            run = slice(start, min(start + (1 << 16), self.count))
            prior = np.zeros(run.stop - start) if self.log_prior is None else self.log_prior[run]
            mass_by_theta(sums, start, self.grid.log_weights, prior - log_total, weights)
        return np.asarray(weights / weights.sum())

    def _deep(self, term: Term) -> float:
        """Return how far below zero a term can be, in nats."""
        if isinstance(term, TextTerm):
            return self.model.beta * self.space.longest(term.along) + 1.0
        return self.model.depth(term, self.space.reach)

    def _finish(self, units: Array, where: slice | Rows, out: Doubles) -> None:
        """Average over θ and add the prior; out: (rows,)."""
        from seeker.kernels.posterior import scores

        scores(units, self.grid.log_weights, out)
        if self.log_prior is not None:
            out += self.log_prior[where]

    @staticmethod
    def _over(start: int, stop: int, work: Callable[[int, int], None]) -> None:
        from seeker.kernels.parallel import over_blocks

        over_blocks(stop - start, work, start)
