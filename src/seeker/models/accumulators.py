"""What is kept of every item between clicks: sums of terms, or only bounds of them.

The items lie in parts, and each part has a stage: the terms that its sums or bounds hold. Work
over all items goes part by part and can be stopped between two of them; nothing is lost then,
some parts are merely further on than others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Self

import numpy as np

from seeker.kernels.parallel import Interrupted, Stop, never, over_blocks
from seeker.models.base import Term
from seeker.models.evaluator import NO_TERMS, ScoreEvaluator, TermBatch, scratch_array
from seeker.types import Array, Doubles, Floats, Rows

_INT32 = 2**31 - 1
_INTEGER = np.dtype(np.int32)
_DOUBLE = np.dtype(np.float64)
_MASS_ITEMS = 1 << 16

MAX_RISE_NATS = 8.0
"""Nats by which bounds may be raised; beyond, they say so little that they are dropped."""


class Accumulator(ABC):
    """What is kept of every item.

    stages: by part, the terms it holds. part_items: how many items are in a part.
    """

    def __init__(self, evaluator: ScoreEvaluator, part_items: int) -> None:
        self._evaluator = evaluator
        self._count = evaluator.count
        self._part_items = part_items
        self.stages: list[frozenset[Term]] = [NO_TERMS] * -(-self._count // part_items)

    def fork(self, evaluator: ScoreEvaluator) -> Self:
        """Return the same for other terms, to be read only: the arrays are shared."""
        fork = copy(self)
        fork._evaluator = evaluator
        return fork

    @property
    def parts(self) -> list[slice]:
        """The items of every part."""
        size = self._part_items
        return [
            slice(first, min(first + size, self._count)) for first in range(0, self._count, size)
        ]

    @property
    def stage(self) -> frozenset[Term] | None:
        """The stage of all parts, or None where some are further on than others."""
        first = self.stages[0]
        return first if all(stage is first or stage == first for stage in self.stages) else None

    @property
    def pending(self) -> bool:
        """Whether there are parts that do not hold the terms that count."""
        return any(stage != self._evaluator.terms for stage in self.stages)

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """How many bytes are kept."""

    def at(self, rows: Rows) -> Doubles:
        """Return the present scores of some items, (rows,)."""
        bases = [self._basis(part) for part in range(len(self.stages))]
        kinds = list(dict.fromkeys(bases))
        if len(kinds) == 1:
            return self._evaluator.at(rows, kinds[0], self._read_basis)
        of_part = np.array([kinds.index(basis) for basis in bases])
        of_row = of_part[rows // self._part_items]
        out = np.empty(len(rows))
        for kind, basis in enumerate(kinds):
            places = np.flatnonzero(of_row == kind)
            out[places] = self._evaluator.at(rows[places], basis, self._read_basis)
        return out

    def bounds(self) -> Floats:
        """Return upper bounds of the present scores, (items,)."""
        terms = self._evaluator.terms
        if all(stage and not stage & terms for stage in self.stages):
            return self._prior_bounds()
        for part, stage in enumerate(self.stages):
            if not stage <= terms:
                self._take_back(part, stage - terms)
        return self._upper()

    def catch_up(self, stop: Stop = never) -> None:
        """Bring all parts up to date; what was done before a stop stays done."""
        if self.pending:
            self._catch_up(stop)

    @abstractmethod
    def everywhere(self, stop: Stop = never) -> Doubles:
        """Return the present scores of all items, (items,), and bring all parts up to date."""

    @abstractmethod
    def settings(self, log_total: float) -> Doubles:
        """Return the posterior of θ, (thetas,); log_total: the log of the sum of e**score."""

    @abstractmethod
    def forget(self) -> None:
        """Keep nothing any longer."""

    @abstractmethod
    def forget_prior(self) -> None:
        """Keep nothing any longer that depends on the prior."""

    @abstractmethod
    def forget_weights(self) -> None:
        """Keep nothing any longer that depends on how much each θ counts."""

    @abstractmethod
    def _basis(self, part: int) -> frozenset[Term]:
        """Return the terms whose exact sums are kept in a part."""

    @abstractmethod
    def _read_basis(self, where: slice | Rows, units: Array) -> None:
        """Write the exact sums of the basis at some items to units, (thetas, rows) int64."""

    @abstractmethod
    def _catch_up(self, stop: Stop) -> None:
        """Bring all parts up to date."""

    @abstractmethod
    def _take_back(self, part: int, terms: frozenset[Term]) -> None:
        """Let terms of a part no longer count, so that bounds hold without them."""

    @abstractmethod
    def _upper(self) -> Floats:
        """Return upper bounds of log-prior plus log-likelihood of the stages, (items,)."""

    def _prior_bounds(self) -> Floats:
        """Return upper bounds of the scores that hold whatever is said, (items,): the prior's."""
        from seeker.kernels.posterior import round_up

        upper = np.zeros(self._count, np.float32)
        if self._evaluator.log_prior is not None:
            round_up(self._evaluator.log_prior, upper)
        return upper

    def _work_on(self, part: slice, work: Callable[[int, int], None], stop: Stop) -> None:
        """Do work on a part, or stop before it; what is half done is done anew."""
        if stop():
            raise Interrupted
        try:
            over_blocks(part.stop - part.start, work, part.start)
        except BaseException:
            self.forget()
            self._evaluator.forget()
            raise


class ExactSums(Accumulator):
    """Exact sums for every θ: (thetas, items) whole numbers, 32 bits for as long as they fit."""

    def __init__(self, evaluator: ScoreEvaluator, part_items: int) -> None:
        super().__init__(evaluator, part_items)
        self._sums: Array | None = None
        self._bounds: Floats | None = None

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self._sums, self._bounds) if array is not None)

    def everywhere(self, stop: Stop = never) -> Doubles:
        out = np.empty(self._count)
        self._catch_up(stop, out)
        return out

    def settings(self, log_total: float) -> Doubles:
        from seeker.kernels.posterior import mass_by_theta

        self.catch_up()
        log_weights, sums = self._evaluator.grid.log_weights, self._sums
        if sums is None:
            return np.exp(log_weights)
        weights = np.zeros(len(log_weights))
        for start in range(0, self._count, _MASS_ITEMS):
            prior = self._evaluator.prior_at(slice(start, min(start + _MASS_ITEMS, self._count)))
            mass_by_theta(sums, start, log_weights, prior - log_total, weights)
        return np.asarray(weights / weights.sum())

    def forget(self) -> None:
        self._sums = self._bounds = None
        self.stages = [NO_TERMS] * len(self.stages)

    def forget_prior(self) -> None:
        self._bounds = None

    def forget_weights(self) -> None:
        self._bounds = None

    def _basis(self, part: int) -> frozenset[Term]:
        return self.stages[part]

    def _read_basis(self, where: slice | Rows, units: Array) -> None:
        units[:] = 0 if self._sums is None else self._sums[:, where]

    def _catch_up(self, stop: Stop, out: Doubles | None = None) -> None:
        """Bring the sums up to date in one reading; out, (items,), receives the scores."""
        evaluator, terms = self._evaluator, self._evaluator.terms
        if not terms:
            self.forget()
        else:
            self._make_room(sum(map(evaluator.depth, terms.union(*self.stages))))
        self._upper()
        stage = self.stage
        keep = stage is not None and stage != terms
        if stage is not None and keep:
            first = evaluator.batch(stage)
            evaluator.store.reserve(first.new, first.stored)
        for number, part in enumerate(self.parts):
            stage = self.stages[number]
            if out is None and stage == terms:
                continue
            batch = evaluator.batch(stage)

            def work(
                start: int, end: int, batch: TermBatch = batch, same: bool = stage == terms
            ) -> None:
                run, rows = slice(start, end), np.arange(start, end)
                units = self._units(run)
                batch.add(rows, run, units, keep)
                scores = scratch_array("scores", (len(rows),), _DOUBLE) if out is None else out[run]
                evaluator.finish(units, run, scores)
                if not same:
                    self._write(run, units, scores)

            self._work_on(part, work, stop)
            self.stages[number] = terms
        if keep:
            evaluator.store.commit()
            evaluator.forget_batches()

    def _units(self, run: slice) -> Array:
        """Return the sums of a run of items, (thetas, rows), to be added to.

        Those of all items are the ones that are kept, so that they need not be copied there and
        back: whatever goes wrong meanwhile, none of them is used again.
        """
        sums, rows = self._sums, run.stop - run.start
        if sums is not None and rows == self._count:
            return sums
        dtype = _INTEGER if sums is None else sums.dtype
        units = scratch_array("units", (self._evaluator.thetas, rows), dtype)
        self._read_basis(run, units)
        return units

    def _make_room(self, deepest: float) -> None:
        """Make sure that sums down to so many nats below zero can be held."""
        from seeker.kernels import UNIT

        dtype = np.dtype(np.int32 if deepest < _INT32 * UNIT else np.int64)
        if self._sums is None:
            self._sums = np.zeros((self._evaluator.thetas, self._count), dtype)
        elif self._sums.dtype.itemsize < dtype.itemsize:
            self._sums = self._sums.astype(dtype)

    def _write(self, run: slice, units: Array, scores: Doubles) -> None:
        """Take in the sums of a run of items, (thetas, rows), and the scores that follow."""
        from seeker.kernels.posterior import round_up

        if self._sums is not None and units is not self._sums:
            self._sums[:, run] = units
        if self._bounds is not None:
            round_up(scores, self._bounds[run])

    def _take_back(self, part: int, terms: frozenset[Term]) -> None:
        self.catch_up()

    def _upper(self) -> Floats:
        from seeker.kernels.posterior import round_up

        if self._bounds is None:
            self._bounds = self._prior_bounds()
            if self._sums is None:
                return self._bounds
            sums, bounds = self._sums, self._bounds

            def work(start: int, stop: int) -> None:
                run, values = slice(start, stop), np.empty(stop - start)
                self._evaluator.finish(sums[:, run].astype(np.int64), run, values)
                round_up(values, bounds[run])

            over_blocks(self._count, work)
        return self._bounds


class UpperBounds(Accumulator):
    """Only upper bounds: four bytes an item, and one for every θ where there are several.

    top: of the log-likelihood, (items,). below: by how much each θ's sum stays below the best one,
    (thetas, items), in sixteenths of a nat, rounded so that bounds stay bounds. loose: by part,
    whether bounds were raised because something was taken back. masses: of the terms for which all
    scores were computed last, by block, the highest score and the mass of every θ, (thetas,).
    """

    def __init__(self, evaluator: ScoreEvaluator, part_items: int) -> None:
        super().__init__(evaluator, part_items)
        self._loose = [False] * len(self.stages)
        self._top: Floats | None = None
        self._below: Array = np.empty((evaluator.thetas, 0), np.uint8)
        self._masses: tuple[frozenset[Term], list[tuple[float, Doubles]]] | None = None

    @property
    def nbytes(self) -> int:
        return 0 if self._top is None else self._top.nbytes + self._below.nbytes

    @property
    def pending(self) -> bool:
        """Whether there are parts whose bounds could be closer."""
        return any(self._loose) or super().pending

    def everywhere(self, stop: Stop = never) -> Doubles:
        """Compute all scores from nothing, (items,). Bounds become as close as can be."""
        from seeker.kernels.posterior import mass_by_theta

        self._make_room()
        evaluator, out = self._evaluator, np.empty(self._count)
        terms, batch = evaluator.terms, evaluator.batch(NO_TERMS)
        masses: dict[int, tuple[float, Doubles]] = {}

        def work(start: int, end: int) -> None:
            run, rows = slice(start, end), np.arange(start, end)
            units = evaluator.scratch_units(len(rows))
            units[:] = 0
            batch.add(rows, run, units)
            evaluator.finish(units, run, out[run])
            self._lower(run, units, anew=True)
            highest = float(out[run].max())
            if highest > -np.inf:
                weights = np.zeros(evaluator.thetas)
                offsets = evaluator.prior_at(run) - highest
                mass_by_theta(units, 0, evaluator.grid.log_weights, offsets, weights)
                masses[start] = highest, weights

        for number, part in enumerate(self.parts):
            self._work_on(part, work, stop)
            self.stages[number], self._loose[number] = terms, False
        self._masses = terms, [masses[start] for start in sorted(masses)]
        return out

    def settings(self, log_total: float) -> Doubles:
        if self._masses is None or self._masses[0] != self._evaluator.terms:
            self.everywhere()
        assert self._masses is not None
        weights = np.zeros(self._evaluator.thetas)
        for highest, mass in self._masses[1]:
            weights += mass * np.exp(highest - log_total)
        return np.asarray(weights / weights.sum())

    def forget(self) -> None:
        self._top = None
        self._below = self._below[:, :0]
        self.stages = [NO_TERMS] * len(self.stages)
        self._loose = [False] * len(self.stages)

    def forget_prior(self) -> None:
        self._masses = None

    def forget_weights(self) -> None:
        self._masses = None
        self.forget()

    def _basis(self, part: int) -> frozenset[Term]:
        return NO_TERMS

    def _read_basis(self, where: slice | Rows, units: Array) -> None:
        units[:] = 0

    def _catch_up(self, stop: Stop) -> None:
        """Bring bounds up to date, reading only what is new where nothing was taken back."""
        self._make_room()
        evaluator, terms = self._evaluator, self._evaluator.terms
        for number, part in enumerate(self.parts):
            stage = self.stages[number]
            anew = self._loose[number] or bool(stage - terms)
            if stage == terms and not anew:
                continue
            batch = evaluator.batch(NO_TERMS if anew else stage)

            def work(start: int, end: int, batch: TermBatch = batch, anew: bool = anew) -> None:
                run, rows = slice(start, end), np.arange(start, end)
                units = evaluator.scratch_units(len(rows))
                units[:] = 0
                batch.add(rows, run, units)
                self._lower(run, units, anew)

            self._work_on(part, work, stop)
            self.stages[number], self._loose[number] = terms, False

    def _make_room(self) -> Floats:
        """Have arrays to write to; return the bounds of the log-likelihood, (items,)."""
        if self._top is None:
            self._top = np.zeros(self._count, np.float32)
            self._below = np.zeros((self._evaluator.thetas, self._count), np.uint8)
        return self._top

    def _lower(self, run: slice, units: Array, anew: bool) -> None:
        """Take in terms of a run of items, (thetas, rows); anew: they are all that counts."""
        from seeker.kernels.posterior import lower_bounds

        top, below = self._make_room()[run], self._below[:, run]
        if anew:
            top[:] = 0.0
            below[:] = 0
        lower_bounds(units, self._evaluator.grid.log_weights, top, below)

    def _take_back(self, part: int, terms: frozenset[Term]) -> None:
        """Raise bounds by the most that the terms can have been."""
        top, run = self._make_room(), self.parts[part]
        rise = sum(map(self._evaluator.depth, terms))
        if rise < MAX_RISE_NATS:
            top[run] += np.float32(rise * (1.0 + 1e-6))
            self.stages[part] -= terms
            self._loose[part] = True
        else:
            top[run] = 0.0
            self._below[:, run] = 0
            self.stages[part] = NO_TERMS

    def _upper(self) -> Floats:
        from seeker.kernels.posterior import round_up

        top, log_prior = self._make_room(), self._evaluator.log_prior
        if log_prior is None:
            return top
        upper = np.empty_like(top)

        def work(start: int, stop: int) -> None:
            round_up(top[start:stop] + log_prior[start:stop], upper[start:stop])

        over_blocks(self._count, work)
        return upper
