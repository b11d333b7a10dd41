"""Orders of all items, of which no more is sorted than is asked for.

The best by score and keyed noise are found exactly, looking closely at as few as possible. The
noise of the next step is known before the click is made, and a click never raises a score. So the
items whose scores and next noise come highest now are all that the next page needs (the shortlist):
a click then looks at some hundred items, however many there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from seeker.display.noise import KeyedNoise, Wave, WaveNoise
from seeker.models.base import Grid, Term
from seeker.models.evaluator import scratch_array
from seeker.models.scores import Scores
from seeker.types import Doubles, Floats, Rows

if TYPE_CHECKING:
    from seeker.display.base import LocalContext

SHORTLIST_ITEMS = 16_384
"""Items on a list at most: enough for all but the first clicks of a search."""

SHORTLIST_SHARE = 8
"""A list holds at most one in so many items."""


class Ranking(Protocol):
    """One total order of all items of a context; no more of it is sorted than is asked for."""

    @property
    def total(self) -> int:
        """How many items there are in all."""
        ...

    @property
    def strained(self) -> bool:
        """Whether bounds of the scores have left many items to be evaluated."""
        ...

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,) or fewer at the end of the catalog."""
        ...

    def shortlist(self) -> Shortlist | None:
        """Return the items that can lead the order after the next click, if that can be told."""
        ...


class ValueRanking(ABC):
    """Items by values, highest first, ties by row; then those that come later, group by group.

    total: how many items there are, with the later ones. strained: as in `Ranking`.
    """

    strained: bool = False

    def __init__(self, total: int, later: tuple[Rows, ...]) -> None:
        self.total = total
        self._later = later
        self._early = total - sum(map(len, later))
        self._rows: Rows = np.empty(0, np.int64)

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,)."""
        if count > len(self._rows) < self.total:
            size = min(max(count, 2 * len(self._rows)), self.total)
            groups = [self.early(size)]
            for rows in self._later:
                if sum(map(len, groups)) < size:
                    groups.append(best_rows(rows, self.values(rows)))
            self._rows = np.concatenate(groups)
        return self._rows[:count]

    def shortlist(self) -> Shortlist | None:
        """Return the items that can lead the order after the next click, if that can be told."""
        return None

    def early(self, count: int) -> Rows:
        """Return the first items of those that need not come later, (count,) or fewer."""
        return self._best(min(count, self._early)) if self._early else np.empty(0, np.int64)

    @abstractmethod
    def values(self, rows: Rows) -> Doubles:
        """Return the values of some items, (rows,)."""

    @abstractmethod
    def _best(self, count: int) -> Rows:
        """Return the best of the items that need not come later, (count,); there are as many."""


class SortedRanking(ValueRanking):
    """All items of a context by values that are known of all, (items,)."""

    def __init__(self, context: LocalContext, values: Doubles) -> None:
        super().__init__(context.total, context.later)
        self._context = context
        self._values = values

    def values(self, rows: Rows) -> Doubles:
        """Return the values of some items, (rows,)."""
        return self._values[rows]

    def _best(self, count: int) -> Rows:
        rows = self._context.candidates()
        return best_rows(rows, self._values[rows], count)


def best_rows(rows: Rows, values: Doubles, count: int | None = None) -> Rows:
    """Return the rows with the highest values, highest first, ties by row."""
    if count is not None and count < len(rows):
        least = np.partition(values, len(values) - count)[len(values) - count]
        among = values >= least
        rows, values = rows[among], values[among]
    return rows[np.lexsort((rows, -values))][:count]


class ShortlistExhausted(Exception):
    """A page was to be found by the beginning of a list alone, which does not reach far enough."""


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Items by an upper bound of score + noise, highest first.

    rows, bounds: (items,). rest: no other item has a higher bound, but those that were left out.
    noise, stage, log_prior, grid: what the bounds hold for.
    """

    rows: Rows
    bounds: Doubles
    rest: float
    left_out: frozenset[int]
    noise: KeyedNoise
    stage: frozenset[Term]
    log_prior: Doubles | None
    grid: Grid

    @property
    def nbytes(self) -> int:
        """How many bytes the list takes."""
        return self.rows.nbytes + self.bounds.nbytes

    def holds(self, scores: Scores, noise: KeyedNoise, aside: Collection[int]) -> bool:
        """Whether these are bounds still: the same noise, and nothing was taken back.

        aside: the items that are looked at by themselves, whatever this list says.
        """
        return (
            (noise.key, noise.width) == (self.noise.key, self.noise.width)
            and scores.log_prior is self.log_prior
            and scores.grid is self.grid
            and scores.includes(self.stage)
            and self.left_out.issubset(aside)
        )

    def reaching(self, limit: float) -> int:
        """Return how many of the bounds are at least so high."""
        return len(self.bounds) - int(self.bounds[::-1].searchsorted(limit))

    def some(self, first: int, last: int, aside: Collection[int]) -> Rows:
        """Return the items of some places, but for those aside."""
        return np.array(
            [row for row in self.rows[first:last].tolist() if row not in aside], np.int64
        )


_FIRST_SHORTLIST_ITEMS = 128
_FIRST_CANDIDATES = 256
_SECOND_CANDIDATES = 4096
_GROWTH_FACTOR = 8
_STRAIN_SHARE = 500
"""More than one in so many items that come close are many."""

_LOOKAHEAD_ITEMS = 1024
"""Items of a list that are evaluated at most where nothing else may be looked at."""

_SAMPLE_ITEMS = 50_000


class TopK(ValueRanking):
    """All items of a context by z = score + (width · noise + wave) / √(1 + clicks), ties by row.

    To fill the first places, the items are walked by an upper bound of z that needs no vectors;
    only those that could still be among the best are evaluated. What comes out is what sorting
    all items by z would give.
    """

    def __init__(
        self, context: LocalContext, width: float, per_click: bool = True, wave: Wave | None = None
    ) -> None:
        super().__init__(context.total, context.later)
        self.context = context
        self._scores = context.scores
        self._sorted = self._early <= context.scores.limits.sorted_items
        alike = None if wave is None else WaveNoise(context, context.scores.space, wave)
        self._noise = KeyedNoise(context, width, per_click, alike)

    def values(self, rows: Rows) -> Doubles:
        """Return the exact z of some items, (rows,)."""
        return self._scores.at(rows) + self._noise.at(rows)

    def _best(self, count: int) -> Rows:
        listed_only = self.context.listed_only
        if not listed_only and (self._sorted or 4 * count > self._early):
            if self._scores.few:
                self._scores.everywhere()
            else:
                self._scores.catch_up()
            return self._in_full(count)
        rows = self._by_shortlist(count)
        if rows is None and listed_only:
            raise ShortlistExhausted
        if rows is None:
            upper, keep = self._scores.bounds(), max(_FIRST_CANDIDATES, 2 * count)
            with self._bounds(upper, self._noise, keep) as (bounds, likely):
                rows = self._close_look(bounds, likely, count)
        if rows is None:
            self._scores.catch_up()
            return self._best(count)
        return rows

    def shortlist(self) -> Shortlist | None:
        """Return the items that can lead after the next click, if bounds of all are at hand.

        Where distances are not quick to compute, all are brought up to date at every click anyway.
        """
        scores, stage = self._scores, self._scores.stage
        if self._sorted or stage is None or scores.pending or not scores.space.fast:
            return None
        noise = KeyedNoise(
            replace(self.context, step=self.context.step + 1), self._noise.width, False
        )
        upper = scores.bounds()
        with self._bounds(upper, noise, min(SHORTLIST_ITEMS, self._early // SHORTLIST_SHARE)) as (
            bounds,
            likely,
        ):
            highest = upper[likely] + noise.at(likely)
            bounds[likely] = -np.inf
            rest = float(bounds.max())
        by_bound = np.argsort(-highest, kind="stable")
        return Shortlist(
            rows=likely[by_bound],
            bounds=highest[by_bound],
            rest=rest,
            left_out=self._aside[0],
            noise=noise,
            stage=stage,
            log_prior=scores.log_prior,
            grid=scores.grid,
        )

    @cached_property
    def _aside(self) -> tuple[frozenset[int], Rows]:
        """The items that bounds of all do not tell about, and those of them that are not later.

        They come later, or have less noise than others.
        """
        later = frozenset[int]().union(*(rows.tolist() for rows in self._later))
        clicked = self._noise.clicked.tolist()
        apart = [row for row in clicked if row not in later]
        return later.union(apart), np.array(apart, np.int64)

    def _in_full(self, count: int) -> Rows:
        """Return the best after evaluating all items that need not come later."""
        rows = self.context.candidates()
        noise = self._noise.at(rows, clicked=len(self._aside[1]) > 0)
        return best_rows(rows, self._scores.at(rows) + noise, count)

    @contextmanager
    def _bounds(self, upper: Floats, noise: KeyedNoise, keep: int) -> Iterator[tuple[Floats, Rows]]:
        """Lend upper bounds of score + noise, (items,), −inf for those aside, and the highest few.

        upper: bounds of the scores, (items,). keep: how many of the highest, in no order.
        """
        from seeker.kernels.noise import bound
        from seeker.kernels.parallel import in_parts

        aside = np.concatenate([*self._later, self._aside[1]])
        bounds = scratch_array("bounds", upper.shape, upper.dtype)
        width = np.float32(noise.width * (1.0 + 1e-6))

        def scan(start: int, stop: int) -> Rows:
            part = slice(start, stop)
            number = self.context.first + start
            places: Rows = bound(upper[part], number, noise.key, width, bounds[part], keep)
            return places + start

        upper_aside = upper[aside]
        upper[aside] = -np.inf
        try:
            rows = np.concatenate(in_parts(len(upper), scan))
            if len(rows) > keep:
                rows = rows[np.argpartition(-bounds[rows], keep)[:keep]]
            yield bounds, rows
        finally:
            upper[aside] = upper_aside

    def _by_shortlist(self, count: int) -> Rows | None:
        """Return the best with the help of a list that was made before; None if it is too short.

        Of the list, too, the most promising come first.
        """
        short, (aside, rows) = self.context.shortlist, self._aside
        if short is None or not short.holds(self._scores, self._noise, aside):
            return None
        first = goal = max(_FIRST_SHORTLIST_ITEMS, 2 * count)
        done = 0
        values = self.values(rows) if len(rows) else np.empty(0)
        while done < goal:
            new = short.some(done, goal, aside)
            rows, values = np.concatenate([rows, new]), np.append(values, self.values(new))
            done = min(goal, len(short.rows))
            limit = self._limit(values, count) if len(values) >= count else -np.inf
            goal = short.reaching(limit) if limit > short.rest else _GROWTH_FACTOR * goal
            if done == len(short.rows) and limit <= short.rest:
                return None
            if self.context.listed_only and goal > _LOOKAHEAD_ITEMS:
                return None
        if not self.context.listed_only:
            self._note_strain(done - first)
        return best_rows(rows, values, count)

    def _limit(self, values: Doubles, count: int) -> float:
        """Return the bound that an item must have to be among the best, given some values."""
        enough = float(np.partition(values, len(values) - count)[len(values) - count])
        slack = 1e-6 * (1.0 + abs(enough) + 40.0 * self._noise.width)
        wave = 0.0 if self._noise.wave is None else self._noise.wave.most  # bounds leave it out
        return enough - slack - wave - self._scores.drop_bound()

    def _note_strain(self, close: int) -> None:
        """Take note of how many items came close."""
        self.strained |= self._scores.pending and close > self._scores.count // _STRAIN_SHARE

    def _close_look(self, bounds: Floats, likely: Rows, count: int) -> Rows | None:
        """Return the best by bounds first and exact values then; None if too many come close."""
        likely = np.concatenate([likely, self._aside[1]])
        if len(likely) < count:
            if self._scores.pending:
                return None
            return self._in_full(count)
        return self._deeper(bounds, likely, count)

    def _deeper(self, bounds: Floats, rows: Rows, count: int) -> Rows | None:
        """Evaluate some items, then those whose bounds come up to the best of them.

        Where these are many, the most promising come first: they raise what the others must reach.
        """
        from seeker.kernels.noise import above

        scores, values = self._scores, self.values(rows)
        most = len(bounds) // 10 if scores.pending else len(bounds)
        straining = self._scores.count // _STRAIN_SHARE
        while True:
            bounds[rows] = -np.inf
            limit = np.float32(self._limit(values, count))
            few = max(_SECOND_CANDIDATES, straining, _GROWTH_FACTOR * len(rows))
            close = above(bounds, limit, few)
            self._note_strain(len(close))
            if len(close) == 0:
                return best_rows(rows, values, count)
            if len(close) <= few:
                values = np.concatenate([values, self.values(close)])
                return best_rows(np.concatenate([rows, close]), values, count)
            if len(rows) + few > most:
                return None
            close = above(bounds, max(limit, _bound_reached_by(bounds, few)), 2 * few)
            values = np.concatenate([values, self.values(close)])
            rows = np.concatenate([rows, close])


def _bound_reached_by(bounds: Floats, count: int) -> np.float32:
    """Return a number that about so many bounds reach, as an even sample tells."""
    sample = bounds[:: max(1, len(bounds) // _SAMPLE_ITEMS)]
    place = min(len(sample) - 1, int(len(sample) * count / len(bounds)))
    return np.float32(np.partition(sample, len(sample) - 1 - place)[len(sample) - 1 - place])
