"""The score of every item: exact, and computed no sooner and no oftener than needed.

Sums of terms are kept for all items as of some moment (`settle`). Clicks made since then are
pending: their terms are added on the fly for the items that are asked about. Because terms are
never positive, a settled score is an upper bound of the present one for as long as nothing has
been taken back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from threading import local
from typing import Any

import numpy as np

from seeker.models.base import Evidence, Model, Said, Term
from seeker.models.columns import ColumnStore, as_run
from seeker.space import Space
from seeker.space.space import Near, Probe, Probes
from seeker.types import Array, Doubles, Floats, Rows

Signed = tuple[Term, int]

MEMORY = 64_000_000
"""Bytes that one session may keep."""

_INT32 = 2**31 - 1


class _Batch:
    """Terms to be added in one go, with the columns they need: first the new, then the kept."""

    def __init__(self, scores: Scores, terms: Sequence[Signed]) -> None:
        model, store = scores.model, scores.store
        asked = dict.fromkeys(probe for term, _ in terms for probe in model.probe(term))
        self.new = [probe for probe in asked if probe not in store]
        self.kept = [probe for probe in asked if probe in store]
        self.probes: Probes = scores.space.prepare(self.new)
        self.places = {probe: place for place, probe in enumerate([*self.new, *self.kept])}
        self.by_row = {
            probe.row: place for probe, place in self.places.items() if isinstance(probe, Near)
        }
        self.said = [(term.along, sign) for term, sign in terms if isinstance(term, Said)]
        self.clicks = [(term, sign) for term, sign in terms if not isinstance(term, Said)]
        self.average = model.uses_average and bool(self.clicks)


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
        fixed = self.count * (4 * self.thetas + 4)
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
            units = self._units(batch, rows[start:stop])
            self._finish(units, rows[start:stop], out[start:stop])

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
            rows = np.arange(start, stop)
            self._finish(self._units(nothing, rows), rows, out[start:stop])

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
        keep = self.store.reserve(batch.new, batch.kept)
        sums = self._room_for_sums()
        upper = np.empty(self.count, np.float32)

        def work(start: int, stop: int) -> None:
            rows = np.arange(start, stop)
            units = self._units(batch, rows, keep)
            if sums is not None:
                sums[:, start:stop] = units
            scores = np.empty(stop - start) if out is None else out[start:stop]
            self._finish(units, rows, scores)
            rounded_up(scores, upper[start:stop])

        self._over(self.count, work)
        self.store.commit()
        self._upper, self._settled = upper, self._wanted

    def values(self, terms: Sequence[Term], rows: Rows) -> Doubles:
        """Return the sum of some terms and of θ's log-prior, in nats: (thetas, rows)."""
        from seeker.kernels import UNIT

        units = np.zeros((self.thetas, len(rows)), np.int64)
        self._add(_Batch(self, [(term, 1) for term in terms]), rows, units)
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
            mass_by_theta(self._sums[:, run], self.grid.log_weights, prior - log_total, weights)
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

    def _units(self, batch: _Batch, rows: Rows, keep: dict[Probe, int] | None = None) -> Array:
        """Return the sums at some items with the batch added, (thetas, rows) int64."""
        units = _scratch("units", (self.thetas, len(rows)), np.dtype(np.int64))
        if self._sums is None:
            units[:] = 0
        else:
            units[:] = self._sums[:, as_run(rows)]
        self._add(batch, rows, units, keep)
        return units

    def _add(
        self, batch: _Batch, rows: Rows, units: Array, keep: dict[Probe, int] | None = None
    ) -> None:
        """Add a batch of terms to units, (thetas, rows); keep: columns to be stored, by slot."""
        from seeker.kernels.likelihood import text

        if not batch.places or not len(rows):
            return
        number = self.space.dtype.type
        shape = (len(self.space.views), len(batch.places), len(rows))
        columns = _scratch("columns", shape, self.space.dtype)
        self.space.columns(batch.probes, rows, columns[:, : len(batch.new)])
        self.store.read(batch.kept, rows, columns[:, len(batch.new) :])
        if keep:
            self.store.write(keep, batch.places, rows, columns)
        for along, sign in batch.said:
            text(columns[along.view, batch.places[along]], number(self.model.beta), sign, units)
        if batch.clicks:
            average = self.space.average(rows) if batch.average else None
            self.model.add(batch.clicks, columns, batch.by_row, average, self.grid, units)

    def _finish(self, units: Array, rows: Rows, out: Doubles) -> None:
        """Average over θ and add the prior; out: (rows,)."""
        from seeker.kernels.posterior import scores

        scores(units, self.grid.log_weights, out)
        if self.log_prior is not None:
            out += self.log_prior[rows]

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
