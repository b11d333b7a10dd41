"""The score of every item: exact, and computed no sooner and no oftener than needed.

Sums of terms are kept for all items as of some moment (`settle`). Clicks made since then are
pending: their terms are added on the fly for the items that are asked about. Because terms are
never positive, a settled score is an upper bound of the present one for as long as nothing has
been taken back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from threading import Lock, local
from typing import Any

import numpy as np

from seeker.models.base import Evidence, Foresight, Model, Said, Term
from seeker.models.columns import ColumnStore
from seeker.space import Space
from seeker.space.space import Near, Probes
from seeker.types import Array, Doubles, Floats, Rows

Signed = tuple[Term, int]

MEMORY = 64_000_000
"""Bytes that one session may keep."""

_INT32 = 2**31 - 1
_DOUBLE, _LONG = np.dtype(np.float64), np.dtype(np.int64)


class _Asked:
    """Columns that are asked for: first those to be computed, then those that are kept."""

    def __init__(self, scores: Scores, asked: Iterable[Near]) -> None:
        asked = dict.fromkeys(asked)
        self.new = [probe for probe in asked if probe not in scores.store]
        self.kept = [probe for probe in asked if probe in scores.store]
        self.probes: Probes = scores.space.prepare(self.new)
        self.places = {probe: place for place, probe in enumerate([*self.new, *self.kept])}


class _Batch(_Asked):
    """Terms to be added in one go, with the columns they need."""

    def __init__(self, scores: Scores, terms: Sequence[Signed]) -> None:
        model = scores.model
        super().__init__(scores, (probe for term, _ in terms for probe in model.probe(term)))
        by_row = {probe.row: place for probe, place in self.places.items()}
        self.said = [(term.along, sign) for term, sign in terms if isinstance(term, Said)]
        clicks = [(term, sign) for term, sign in terms if not isinstance(term, Said)]
        self.average = model.uses_average and bool(clicks)
        self.add = model.adder(clicks, by_row, scores.grid, scores.space.dtype) if clicks else None


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
        self._settled: frozenset[Term] = frozenset()
        self._wanted: frozenset[Term] = frozenset()
        self._sums: Array | None = None  # (thetas, items)
        self._upper: Floats | None = None
        self._foresight: tuple[frozenset[Term], Foresight] | None = None
        self._caps: dict[tuple[int, bool], float] = {}
        self.strained = False
        """Whether a look at the bounds has ever left many items to be evaluated."""
        wide = 8 if self.thetas == 1 else 4  # one sum may need 64 bits, several seldom do
        fixed = self.count * (wide * self.thetas + 4)
        self.store = ColumnStore(len(space.views), self.count, space.dtype, MEMORY - fixed)

    @property
    def thetas(self) -> int:
        """How many settings of the person are averaged over."""
        return len(self.grid.log_weights)

    @property
    def nbytes(self) -> int:
        """How many bytes this object keeps."""
        arrays = (self._sums, self._upper)
        return self.store.nbytes + sum(array.nbytes for array in arrays if array is not None)

    def want(self, evidence: Evidence) -> None:
        """Make the scores those given this evidence; costs nothing until they are asked for."""
        self._wanted = frozenset(self.model.terms(evidence, self.space))
        if not self.space.fast and self.pending:
            self.settle()

    @property
    def pending(self) -> bool:
        """Whether clicks were made that the settled sums do not hold yet."""
        return self._wanted != self._settled

    def _pending(self) -> list[Signed]:
        added = [(term, 1) for term in self._wanted - self._settled]
        return added + [(term, -1) for term in self._settled - self._wanted]

    def at(self, rows: Rows) -> Doubles:
        """Return the scores of some items, (rows,)."""
        batch = _Batch(self, self._pending())
        out = np.empty(len(rows))

        def work(start: int, stop: int) -> None:
            some = rows[start:stop]
            self._finish(self._units(batch, some, some), some, out[start:stop])

        self._over(len(rows), work)
        return out

    def everywhere(self) -> Doubles:
        """Return the scores of all items, (items,)."""
        if not self.pending:
            return self._settled_scores()
        out = np.empty(self.count)
        self._settle(out)
        return out

    def _settled_scores(self) -> Doubles:
        """Return the scores that the settled sums make, (items,), without looking at vectors."""
        out = np.empty(self.count)
        nothing = _Batch(self, [])

        def work(start: int, stop: int) -> None:
            run = slice(start, stop)
            self._finish(self._units(nothing, np.arange(start, stop), run), run, out[run])

        self._over(self.count, work)
        return out

    def bounds(self) -> Floats:
        """Return upper bounds of the present scores, (items,)."""
        if self._settled - self._wanted:
            self.settle()
        if self._upper is None:
            from seeker.kernels.posterior import rounded_up

            self._upper = np.zeros(self.count, np.float32)
            if self._sums is not None:
                rounded_up(self._settled_scores(), self._upper)
            elif self.log_prior is not None:
                rounded_up(self.log_prior, self._upper)
        return self._upper

    def assume(self, log_prior: Doubles | None) -> None:
        """Put another log-prior, (items,), in the place of the one there is."""
        self.log_prior = log_prior
        self._upper = None

    def settle(self) -> None:
        """Bring the sums and bounds of all items up to date."""
        if self.pending:
            self._settle(None)

    def _settle(self, out: Doubles | None) -> None:
        """Settle in one reading of the vectors; out, (items,), receives the scores."""
        from seeker.kernels.posterior import rounded_up

        if not self._wanted:
            self._sums, self._settled = None, frozenset()
        batch = _Batch(self, self._pending())
        self.store.reserve(batch.new, batch.kept)
        sums = self._room_for_sums()
        upper = np.empty(self.count, np.float32) if self._upper is None else self._upper

        def work(start: int, stop: int) -> None:
            run = slice(start, stop)
            units = self._units(batch, np.arange(start, stop), run, keep=True)
            if sums is not None:
                sums[:, run] = units
            scores = _scratch("scores", (stop - start,), _DOUBLE) if out is None else out[run]
            self._finish(units, run, scores)
            rounded_up(scores, upper[run])

        try:
            self._over(self.count, work)
        except BaseException:
            self._forget()  # what is half done is done anew
            raise
        self.store.commit()
        self._upper, self._settled = upper, self._wanted

    def _forget(self) -> None:
        """Drop all that was computed; it is computed again when it is needed."""
        self._sums = self._upper = None
        self._settled = frozenset()
        self.store.clear()

    def foresee(self, evidence: Evidence, rows: Sequence[int]) -> None:
        """Find out, for all items at once, what a click on one of some items could do at most.

        Worth its price (one reading of the vectors) where the scores lie so close together that
        bounds from before the click do not tell items apart: then it is the same fall for all.
        """
        seen = self.model.foresight(evidence)
        if seen is None or self.pending or not self.space.fast:
            return
        asked = _Asked(self, map(Near, [*rows, *seen.likes, *seen.dislikes]))
        places = [asked.places[Near(row)] for row in rows]
        sides = [[asked.places[Near(row)] for row in side] for side in (seen.likes, seen.dislikes)]
        gaps = np.full((2, len(rows)), -np.inf)
        lock = Lock()

        def work(start: int, stop: int) -> None:
            columns = self._columns(asked, np.arange(start, stop), slice(start, stop))
            mixed = np.tensordot(self.grid.mixtures[0], columns, 1)
            likes, dislikes = (mixed[side].mean(axis=0) for side in sides)
            found = (dislikes - mixed[places]).max(axis=1), (mixed[places] - likes).max(axis=1)
            with lock:
                np.maximum(gaps, found, out=gaps)

        self._over(self.count, work)
        self._caps = {
            (row, liked): seen.most(float(gap), len(seen.dislikes if liked else seen.likes))
            for liked, line in ((True, gaps[0]), (False, gaps[1]))
            for row, gap in zip(rows, line, strict=True)
        }
        self._foresight = (self._settled, seen)

    def ceiling(self) -> float:
        """Return the most that pending terms add to any score: 0, or less where it was foreseen."""
        if self._foresight is None or self._foresight[0] is not self._settled:
            return 0.0
        new = self._wanted - self._settled
        if self._settled - self._wanted or not new:
            return 0.0
        click = self._foresight[1].click(list(new))
        return 0.0 if click is None else self._caps.get(click, 0.0)

    def values(self, terms: Sequence[Term], rows: Rows) -> Doubles:
        """Return the sum of some terms and of θ's log-prior, in nats: (thetas, rows)."""
        from seeker.kernels import UNIT

        units = np.zeros((self.thetas, len(rows)), np.int64)
        self._add(_Batch(self, [(term, 1) for term in terms]), rows, rows, units)
        return units * UNIT + self.grid.log_weights[:, None]

    def settings(self, log_total: float) -> Doubles:
        """Return the posterior of θ, (thetas,); log_total: the log of the sum of e**score."""
        from seeker.kernels.posterior import mass_by_theta

        self.settle()
        weights = np.zeros(self.thetas)
        if self._sums is None:
            return np.exp(self.grid.log_weights)
        for start in range(0, self.count, 1 << 16):
            run = slice(start, min(start + (1 << 16), self.count))
            prior = np.zeros(run.stop - start) if self.log_prior is None else self.log_prior[run]
            offsets = prior - log_total
            mass_by_theta(self._sums, start, self.grid.log_weights, offsets, weights)
        return np.asarray(weights / weights.sum())

    def _room_for_sums(self) -> Array | None:
        """Return the sums, in 32 bits for as long as no sum can grow beyond them."""
        from seeker.kernels import UNIT

        if not self._wanted:
            return None
        deepest = sum(self._deep(term) for term in self._wanted | self._settled)
        dtype = np.dtype(np.int32 if deepest < _INT32 * UNIT else np.int64)
        if self._sums is None:
            self._sums = np.zeros((self.thetas, self.count), dtype)
        elif self._sums.dtype.itemsize < dtype.itemsize:
            self._sums = self._sums.astype(dtype)
        return self._sums

    def _deep(self, term: Term) -> float:
        """Return how far below zero a term can be, in nats."""
        if isinstance(term, Said):
            return self.model.beta * self.space.longest(term.along) + 1.0
        return self.model.depth(term, self.space.reach)

    def _units(self, batch: _Batch, rows: Rows, where: slice | Rows, keep: bool = False) -> Array:
        """Return the sums at some items with the batch added, (thetas, rows) int64.

        where: the rows again, as a slice if they are consecutive, which is read faster.
        """
        units = _scratch("units", (self.thetas, len(rows)), _LONG)
        units[:] = 0 if self._sums is None else self._sums[:, where]
        self._add(batch, rows, where, units, keep)
        return units

    def _add(
        self,
        batch: _Batch,
        rows: Rows,
        where: slice | Rows,
        units: Array,
        keep: bool = False,
    ) -> None:
        """Add a batch of terms to units, (thetas, rows); keep: whether columns are stored, too."""
        from seeker.kernels.likelihood import text

        if not len(rows):
            return
        for along, sign in batch.said:
            text(self.space.direction(along, rows), self.model.beta, sign, units)
        if batch.add is None:
            return
        columns = self._columns(batch, rows, where)
        if keep and isinstance(where, slice):
            self.store.write(batch.places, where, columns)
        batch.add(columns, self.space.average(rows) if batch.average else None, units)

    def _columns(self, asked: _Asked, rows: Rows, where: slice | Rows) -> Array:
        """Return the columns asked for at some items, (views, places, rows)."""
        shape = (len(self.space.views), len(asked.places), len(rows))
        columns = _scratch("columns", shape, self.space.dtype)
        self.space.columns(asked.probes, rows, columns[:, : len(asked.new)])
        self.store.read(asked.kept, where, columns[:, len(asked.new) :])
        return columns

    def _finish(self, units: Array, where: slice | Rows, out: Doubles) -> None:
        """Average over θ and add the prior; out: (rows,)."""
        from seeker.kernels.posterior import scores

        scores(units, self.grid.log_weights, out)
        if self.log_prior is not None:
            out += self.log_prior[where]

    @staticmethod
    def _over(count: int, work: Callable[[int, int], None]) -> None:
        from seeker.kernels.threads import over_blocks

        over_blocks(count, work)


_held = local()


def _scratch(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array that this thread will use again."""
    size = math.prod(shape)
    held = getattr(_held, name, None)
    if held is None or held.size < size or held.dtype != dtype:
        held = np.empty(size, dtype)
        setattr(_held, name, held)
    return held[:size].reshape(shape)
