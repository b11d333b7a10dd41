"""What is kept of every item between clicks: sums of terms, or only bounds of them.

The items lie in parts, and each part has a stage: the terms that its sums or bounds hold. Work
over all items goes part by part and can be stopped between two of them; nothing is lost then,
some parts are merely further on than others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from seeker.models.base import Term
from seeker.types import Array, Doubles, Floats

PART_ITEMS = 256_000
"""Items in a part: a few dozen blocks of work."""

NO_TERMS: frozenset[Term] = frozenset()

_INT32 = 2**31 - 1


def prior_bounds(count: int, log_prior: Doubles | None) -> Floats:
    """Return upper bounds of the scores that hold whatever is said, (items,): the prior's."""
    from seeker.kernels.posterior import rounded_up

    upper = np.zeros(count, np.float32)
    if log_prior is not None:
        rounded_up(log_prior, upper)
    return upper


class Accumulator(ABC):
    """What is kept of every item; stages: by part, the terms it holds."""

    def __init__(self, count: int, log_weights: Doubles) -> None:
        self.count = count
        self.log_weights = log_weights
        self.stages: list[frozenset[Term]] = [NO_TERMS] * -(-count // PART_ITEMS)

    def part(self, number: int) -> slice:
        """Return the items of a part."""
        return slice(number * PART_ITEMS, min((number + 1) * PART_ITEMS, self.count))

    @property
    def stage(self) -> frozenset[Term] | None:
        """The stage of all parts, or None where some are further on than others."""
        first = self.stages[0]
        return first if all(stage is first or stage == first for stage in self.stages) else None

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """How many bytes are kept."""

    @abstractmethod
    def basis(self, part: int) -> frozenset[Term]:
        """Return the terms that `begin` gives the exact sums of, in a part."""

    @abstractmethod
    def begin(self, where: slice | Array, units: Array) -> None:
        """Write the exact sums of the basis at some items to units, (thetas, rows) int64."""

    @abstractmethod
    def upper(self, log_prior: Doubles | None) -> Floats:
        """Return upper bounds of log-prior plus log-likelihood of the stages, (items,)."""

    @abstractmethod
    def forget(self) -> None:
        """Keep nothing any longer."""


class ExactSums(Accumulator):
    """Exact sums for every θ: (thetas, items) whole numbers, 32 bits for as long as they fit."""

    def __init__(self, count: int, log_weights: Doubles) -> None:
        super().__init__(count, log_weights)
        self.sums: Array | None = None
        self._upper: Floats | None = None

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self.sums, self._upper) if array is not None)

    def basis(self, part: int) -> frozenset[Term]:
        return self.stages[part]

    def begin(self, where: slice | Array, units: Array) -> None:
        units[:] = 0 if self.sums is None else self.sums[:, where]

    def make_room(self, deepest: float) -> None:
        """Make sure that sums down to so many nats below zero can be held."""
        from seeker.kernels import UNIT

        dtype = np.dtype(np.int32 if deepest < _INT32 * UNIT else np.int64)
        if self.sums is None:
            self.sums = np.zeros((len(self.log_weights), self.count), dtype)
        elif self.sums.dtype.itemsize < dtype.itemsize:
            self.sums = self.sums.astype(dtype)

    def keep(self, run: slice, units: Array, scores: Doubles) -> None:
        """Take in the sums of a run of items, (thetas, rows), and the scores that follow."""
        from seeker.kernels.posterior import rounded_up

        if self.sums is not None:
            self.sums[:, run] = units
        if self._upper is not None:
            rounded_up(scores, self._upper[run])

    def upper(self, log_prior: Doubles | None) -> Floats:
        from seeker.kernels.parallel import over_blocks
        from seeker.kernels.posterior import rounded_up, scores

        if self._upper is None:
            self._upper = prior_bounds(self.count, log_prior)
            if self.sums is None:
                return self._upper
            sums, upper = self.sums, self._upper

            def work(start: int, stop: int) -> None:
                values = np.empty(stop - start)
                scores(sums[:, start:stop].astype(np.int64), self.log_weights, values)
                if log_prior is not None:
                    values += log_prior[start:stop]
                rounded_up(values, upper[start:stop])

            over_blocks(self.count, work)
        return self._upper

    def forget_bounds(self) -> None:
        """Find bounds anew when they are asked for."""
        self._upper = None

    def forget(self) -> None:
        self.sums = self._upper = None
        self.stages = [NO_TERMS] * len(self.stages)


class UpperBounds(Accumulator):
    """Only upper bounds: four bytes an item, and one for every θ where there are several.

    top: of the log-likelihood, (items,). below: by how much each θ's sum stays below the best one,
    (thetas, items), in sixteenths of a nat, rounded so that bounds stay bounds.
    """

    def __init__(self, count: int, log_weights: Doubles) -> None:
        super().__init__(count, log_weights)
        self.loose = [False] * len(self.stages)
        """By part, whether bounds were raised because something was taken back."""
        self._top: Floats | None = None
        self._below: Array = np.empty((len(log_weights), 0), np.uint8)

    @property
    def nbytes(self) -> int:
        return 0 if self._top is None else self._top.nbytes + self._below.nbytes

    def basis(self, part: int) -> frozenset[Term]:
        return NO_TERMS

    def begin(self, where: slice | Array, units: Array) -> None:
        units[:] = 0

    def make_room(self) -> Floats:
        """Have arrays to write to; return the bounds of the log-likelihood, (items,)."""
        if self._top is None:
            self._top = np.zeros(self.count, np.float32)
            self._below = np.zeros((len(self.log_weights), self.count), np.uint8)
        return self._top

    def lower(self, run: slice, units: Array, anew: bool) -> None:
        """Take in terms of a run of items, (thetas, rows); anew: they are all that counts."""
        from seeker.kernels.posterior import lowered

        top, below = self.make_room()[run], self._below[:, run]
        if anew:
            top[:] = 0.0
            below[:] = 0
        lowered(units, self.log_weights, top, below)

    def take_back(self, part: int, gone: frozenset[Term], depth: Callable[[Term], float]) -> None:
        """Let terms no longer count: bounds rise by the most that the terms can have been."""
        top, run = self.make_room(), self.part(part)
        rise = sum(map(depth, gone))
        if rise < MAX_RISE_NATS:
            top[run] += np.float32(rise * (1.0 + 1e-6))
            self.stages[part] -= gone
            self.loose[part] = True
        else:
            top[run] = 0.0
            self._below[:, run] = 0
            self.stages[part] = NO_TERMS

    def upper(self, log_prior: Doubles | None) -> Floats:
        from seeker.kernels.parallel import over_blocks
        from seeker.kernels.posterior import rounded_up

        top = self.make_room()
        if log_prior is None:
            return top
        upper = np.empty_like(top)

        def work(start: int, stop: int) -> None:
            rounded_up(top[start:stop] + log_prior[start:stop], upper[start:stop])

        over_blocks(self.count, work)
        return upper

    def forget(self) -> None:
        self._top = None
        self._below = self._below[:, :0]
        self.stages = [NO_TERMS] * len(self.stages)
        self.loose = [False] * len(self.stages)


MAX_RISE_NATS = 8.0
"""Nats by which bounds may be raised; beyond, they say so little that they are dropped."""
