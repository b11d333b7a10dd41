"""The score of every item: exact, and computed no sooner and no oftener than needed.

Something is kept of all items as of some moment (`accumulators`). Clicks made since then are
pending: their terms are added on the fly for the items that are asked about (`evaluator`). Because
terms are never positive, a score of then is an upper bound of the present one for as long as
nothing has been taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from seeker.kernels.parallel import Stop, never
from seeker.models.accumulators import Accumulator, ExactSums, UpperBounds
from seeker.models.base import Evidence, Grid, Model, Term, focus_grid
from seeker.models.evaluator import ColumnStore, ScoreEvaluator
from seeker.models.score_drop import ScoreDropBound, find_drop_bound
from seeker.space import Space
from seeker.space.columns import DistanceProbe
from seeker.types import Doubles, Floats, Rows


class LogPrior(Protocol):
    """Log-probabilities of all items, such as an array, (items,); −inf keeps an item out."""

    def __getitem__(self, rows: Any, /) -> Any:
        """Return the log-probabilities at some rows, of the rows' shape."""
        ...

    @property
    def nbytes(self) -> int:
        """How many bytes this takes."""
        ...


class ItemScores(Protocol):
    """Scores of the items that are asked about, given evidence and a log-prior."""

    @property
    def model(self) -> Model:
        """The model."""
        ...

    @property
    def space(self) -> Space:
        """The space that the model measures distances in."""
        ...

    @property
    def grid(self) -> Grid:
        """The settings of the person that are averaged over."""
        ...

    @property
    def count(self) -> int:
        """How many items there are."""
        ...

    @property
    def log_prior(self) -> LogPrior | None:
        """The log-prior, or None for an even one."""
        ...

    @property
    def nbytes(self) -> int:
        """How many bytes are kept, the log-prior's with them."""
        ...

    @property
    def pending_work(self) -> float:
        """About how many multiplications it takes to bring what is kept of all items up to date."""
        ...

    def set_prior(self, log_prior: Doubles | None) -> None:
        """Put another log-prior, (items,), in the place of the one there is."""
        ...

    def set_focus(self, factors: Sequence[float] | None) -> None:
        """Let views matter by other factors, (views,), than before; None: as the model has it."""
        ...

    def condition_on(self, evidence: Evidence) -> None:
        """Make the scores those given this evidence."""
        ...

    def at(self, rows: Rows) -> Doubles:
        """Return the scores of some items, (rows,)."""
        ...

    def values(self, terms: Sequence[Term], rows: Rows) -> Doubles:
        """Return the sum of some terms and of θ's log-prior, in nats: (thetas, rows)."""
        ...


@dataclass(frozen=True)
class Limits:
    """How much a search keeps, and from how many items on it goes about things in another way.

    No result depends on them. session_bytes: what one session may keep; large catalogs need more,
    but then only for bounds. part_items: items worked through before work over all of them may be
    stopped, a few dozen blocks of work. sorted_items: up to so many items are simply sorted.
    prefetch_items: from so many items on, the pages that the next click can lead to are found
    before it; in smaller catalogs a page takes less than finding all of them is worth.
    cached_belief_items: up to so many items a belief is kept until the next click; beyond, for as
    long as somebody holds it.
    """

    session_bytes: int = 64_000_000
    part_items: int = 256_000
    sorted_items: int = 4096
    prefetch_items: int = 50_000
    cached_belief_items: int = 1_000_000


DEFAULT_LIMITS = Limits()

_OTHER_BYTES = 300_000
"""Bytes of a session for what it keeps beside sums and columns, such as the shortlist."""

_COLUMNS_IN_A_PIECE = 64
"""Columns that are computed in one go while catching up: the caches hold so many of a block."""


class Scores:
    """Scores of all items of a space under a model, given evidence and a log-prior.

    log_prior: (items,) or None for an even one; −inf keeps an item out.
    """

    def __init__(
        self,
        model: Model,
        space: Space,
        log_prior: Doubles | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.limits = limits
        grid = model.grid([view.name for view in space.views])
        thetas = len(grid.log_weights)
        width = 8 if thetas == 1 else 4  # one sum may need 64 bits, several seldom do
        sum_bytes = space.count * (width * thetas + 4)
        store = ColumnStore(space, limits.session_bytes - _OTHER_BYTES - sum_bytes)
        self.evaluator = ScoreEvaluator(model, space, grid, store)
        self.evaluator.log_prior = log_prior
        large = thetas > 1 and sum_bytes > limits.session_bytes
        kind = UpperBounds if large else ExactSums
        self._accumulator: Accumulator = kind(self.evaluator, limits.part_items)
        self._drop_bound: ScoreDropBound | None = None
        self._all: Doubles | None = None

    def fork(self) -> Scores:
        """Return the same scores, to ask about some items given other evidence.

        What is kept of all items is shared, so nothing that concerns all of them may be asked.
        """
        fork = copy(self)
        fork.evaluator = self.evaluator.fork()
        fork._accumulator = self._accumulator.fork(fork.evaluator)
        fork._all = None
        return fork

    @property
    def model(self) -> Model:
        """The model."""
        return self.evaluator.model

    @property
    def space(self) -> Space:
        """The space that the model measures distances in."""
        return self.evaluator.space

    @property
    def grid(self) -> Grid:
        """The settings of the person that are averaged over."""
        return self.evaluator.grid

    @property
    def thetas(self) -> int:
        """How many settings of the person are averaged over."""
        return self.evaluator.thetas

    @property
    def count(self) -> int:
        """How many items there are."""
        return self.evaluator.count

    @property
    def few(self) -> bool:
        """Whether the items are so few that they are simply sorted."""
        return self.count <= self.limits.sorted_items

    @property
    def log_prior(self) -> Doubles | None:
        """The log-prior, (items,), or None for an even one."""
        return self.evaluator.log_prior

    @property
    def nbytes(self) -> int:
        """How many bytes this object keeps, the log-prior's with them."""
        prior = 0 if self.log_prior is None else self.log_prior.nbytes
        return self.evaluator.store.nbytes + self._accumulator.nbytes + prior

    def condition_on(self, evidence: Evidence) -> None:
        """Make the scores those given this evidence; costs nothing until they are asked for."""
        self._all = None
        self.evaluator.condition_on(evidence)
        if not self.space.fast and self.pending:
            self.catch_up()

    def set_prior(self, log_prior: Doubles | None) -> None:
        """Put another log-prior, (items,), in the place of the one there is."""
        self._all = None
        self.evaluator.log_prior = log_prior
        self._accumulator.forget_prior()

    def set_focus(self, factors: Sequence[float] | None) -> None:
        """Let views matter by other factors, (views,), than before; None: as the model has it."""
        grid = self.model.grid([view.name for view in self.space.views])
        self.evaluator.set_grid(grid if factors is None else focus_grid(grid, factors))
        self._accumulator.forget_weights()

    @property
    def pending(self) -> bool:
        """Whether clicks were made that what is kept does not hold yet."""
        return self._accumulator.pending

    @property
    def stage(self) -> frozenset[Term] | None:
        """The terms that what is kept holds, or None where it is not the same for all items."""
        return self._accumulator.stage

    def includes(self, stage: frozenset[Term]) -> bool:
        """Whether all terms of a stage still count, so that bounds of then are bounds now."""
        return stage <= self.evaluator.terms

    def at(self, rows: Rows) -> Doubles:
        """Return the scores of some items, (rows,)."""
        return self._accumulator.at(rows) if self._all is None else self._all[rows]

    def everywhere(self, stop: Stop = never) -> Doubles:
        """Return the scores of all items, (items,), in an array of the caller's own.

        Of few items they are kept until something changes: whoever sums up what is believed looks
        at the ranking next.
        """
        if self._all is not None:
            return self._all.copy()
        scores = self._accumulator.everywhere(stop)
        if self.few:
            self._all = scores.copy()
        return scores

    def bounds(self) -> Floats:
        """Return upper bounds of the present scores, (items,)."""
        return self._accumulator.bounds()

    def values(self, terms: Sequence[Term], rows: Rows) -> Doubles:
        """Return the sum of some terms and of θ's log-prior, in nats: (thetas, rows)."""
        return self.evaluator.values(terms, rows)

    def settings(self, log_total: float) -> Doubles:
        """Return the posterior of θ, (thetas,); log_total: the log of the sum of e**score."""
        return np.ones(1) if self.thetas == 1 else self._accumulator.settings(log_total)

    def catch_up(self, stop: Stop = never) -> None:
        """Bring what is kept of all items up to date; what was done before a stop stays done."""
        self._accumulator.catch_up(stop)

    def catch_up_in_pieces(self, between: Callable[[], None]) -> None:
        """Catch up where many clicks are pending, some at a time; between: called after each time.

        After a replay all clicks are. Their columns are more than caches hold, and in one go
        everybody else who wants the cores would wait until the last of them is computed.
        """
        terms = self.evaluator.terms
        common = terms.intersection(*self._accumulator.stages)
        pieces = self._pieces(terms - common)
        if len(pieces) < 2:
            return
        try:
            for piece in pieces:
                common |= frozenset(piece)
                self.evaluator.set_terms(common)
                self.catch_up()
                between()
        finally:
            self.evaluator.set_terms(terms)

    def _pieces(self, terms: frozenset[Term]) -> list[list[Term]]:
        """Split terms so that each piece needs few columns that the pieces before it do not."""
        probes = {term: tuple(self.model.probe(term)) for term in terms}
        places: dict[DistanceProbe, int] = {}
        for of_term in probes.values():
            for probe in of_term:
                places.setdefault(probe, len(places))
        pieces: dict[int, list[Term]] = {}
        for term, of_term in probes.items():
            last = max((places[probe] for probe in of_term), default=0)
            pieces.setdefault(last // _COLUMNS_IN_A_PIECE, []).append(term)
        return [pieces[number] for number in sorted(pieces)]

    @property
    def pending_work(self) -> float:
        """About how many multiplications it takes to bring what is kept of all items up to date."""
        changed = (stage ^ self.evaluator.terms for stage in self._accumulator.stages)
        return self.evaluator.work(frozenset[Term]().union(*changed))

    def anticipate(
        self, evidence: Evidence, rows: Sequence[int], strained: bool, stop: Stop = never
    ) -> None:
        """Do in advance what the next click needs, which will be on one of some items.

        strained: bounds have left many items to be evaluated, so that closer ones are worth the
        price of one reading of the vectors.
        """
        self.space.expect(sorted(rows))
        if strained and not self.pending:
            parts = self._accumulator.parts
            self._drop_bound = find_drop_bound(self.evaluator, evidence, rows, parts, stop)

    def drop_bound(self) -> float:
        """Return the most that pending terms add to any score: 0, or less where it was found."""
        if self._drop_bound is None or self.stage is None:
            return 0.0
        return self._drop_bound.between(self.stage, self.evaluator.terms)

    def release_scores(self) -> None:
        """Let go of the scores of all items, which are quickly there again."""
        self._all = None

    @property
    def missing_terms(self) -> int:
        """How many terms what is kept of all items lacks, or has too many, at most in any part."""
        stages = set(self._accumulator.stages)
        return max((len(self.evaluator.terms ^ stage) for stage in stages), default=0)

    @property
    def spare_bytes(self) -> int:
        """Bytes of sums that few items with all their columns at hand soon have again."""
        quickly = self.few and self.space.all_columns is not None
        return self._accumulator.nbytes if quickly else 0

    def release_sums(self) -> None:
        """Let go of what is kept of all items."""
        self._all = None
        self._accumulator.forget()
        self.evaluator.forget_batches()

    def release_columns(self) -> None:
        """Let go of columns kept for later clicks."""
        self.evaluator.forget()
