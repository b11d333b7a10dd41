"""The strategies: Boltzmann exploration, the plain ones, and pages without near-copies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

import numpy as np

from seeker.display import noise
from seeker.display.base import RankingContext, Strategy
from seeker.display.first_page import First, PinnedPage, check_first, first_page
from seeker.display.ranking import Ranking, Shortlist
from seeker.errors import BadInput, short_repr
from seeker.types import Doubles, Rows
from seeker.validation import check_few_numbers, check_number

PAPER_C = math.sqrt(1.0 / 8.0)

_GUMBEL_SPREAD = math.pi / math.sqrt(6.0)
"""The standard deviation of Gumbel(0, 1)."""

_TABLE_STEPS = 256
_MAX_SCHEDULE_STEPS = 10_000
_MAX_PICKS = 64

_MAX_WIDTH = 1e30
"""Beyond this factor there is nothing but noise, and soon no number for it."""


@dataclass(frozen=True)
class Boltzmann(Strategy):
    """z = g + C γ / √n, γ ~ Gumbel(0, 1), n = 1 + clicks on the item; the highest z first.

    score: g is the log-posterior ("log") or the posterior ("probability"). schedule: the inverse
    temperatures η of steps 0, 1, …, the last one staying in force; then z = g + γ / η, and c is
    not used. η = 0 is pure exploration, infinity pure exploitation. A function of the step is
    tabulated for the first 256 steps. first="pool": while nothing is known, one of a few pages that
    cover the catalog; "cover": one found for this search alone; "ranked": as any other.
    """

    name = "boltzmann"
    c: float = PAPER_C
    score: Literal["log", "probability"] = "log"
    schedule: Sequence[float] | Callable[[int], float] | None = None
    first: First = "pool"

    def __post_init__(self) -> None:
        check_number("c", self.c, 0.0, below=_MAX_WIDTH)
        check_first(self.first)
        if self.score not in ("log", "probability"):
            raise BadInput(
                f"score is {short_repr(self.score)}, but it must be 'log' or 'probability'."
            )
        if self.schedule is not None:
            object.__setattr__(self, "schedule", _schedule_table(self.schedule))

    def rank(self, context: RankingContext) -> Ranking:
        width = self._width(context.step)
        if width is None:
            return context.shuffled()
        ordered = context.ordered if self.score == "log" else context.by_probability
        return first_page(context, ordered(width, self._etas is None), self.first)

    def with_exploration(self, level: float) -> Strategy:
        if self._etas is None:
            return replace(self, c=self.c * level)
        etas = [math.inf if level == 0.0 else eta / level for eta in self._etas]
        return replace(self, schedule=etas)

    @property
    def _etas(self) -> tuple[float, ...] | None:
        """The schedule, which was tabulated at the beginning."""
        return cast("tuple[float, ...] | None", self.schedule)

    def _width(self, step: int) -> float | None:
        """Return the factor of the noise; None where there is nothing but noise."""
        if self._etas is None:
            return self.c
        eta = self._etas[min(step, len(self._etas) - 1)]
        return None if eta * _MAX_WIDTH < 1.0 else 1.0 / eta


def _schedule_table(schedule: Sequence[float] | Callable[[int], float]) -> tuple[float, ...]:
    """Return the inverse temperatures of the first steps, without repeating the last."""
    table = [schedule(step) for step in range(_TABLE_STEPS)] if callable(schedule) else schedule
    if isinstance(table, tuple | list):  # JSON has no infinity
        table = [math.inf if eta == "inf" else eta for eta in table[: _MAX_SCHEDULE_STEPS + 1]]
    etas = list(check_few_numbers("schedule", table, _MAX_SCHEDULE_STEPS))
    if not etas or any(math.isnan(eta) or eta < 0.0 for eta in etas):
        raise BadInput("schedule must hold at least one inverse temperature, and none below 0.")
    while len(etas) > 1 and etas[-1] == etas[-2]:
        etas.pop()
    return tuple(etas)


@dataclass(frozen=True)
class CorrelatedBoltzmann(Strategy):
    """z = g + C ε / √n as in `Boltzmann`, with noise ε that is alike for items that are alike.

    ε has the variance of γ ~ Gumbel(0, 1). The share `correlation` of it is a wave through the
    views, drawn for each step, the rest is γ of the item's own. Two items at a distance D, in units
    of the catalog's mean squared distance, have waves that are correlated by about exp(−D / reach).
    c, first: as in `Boltzmann`.
    """

    name = "correlated"
    c: float = PAPER_C
    correlation: float = 0.5
    reach: float = 0.25
    first: First = "pool"

    def __post_init__(self) -> None:
        check_number("c", self.c, 0.0, below=_MAX_WIDTH)
        check_number("correlation", self.correlation, 0.0, below=np.nextafter(1.0, 2.0))
        check_number("reach", self.reach, 1e-9)
        check_first(self.first)

    def rank(self, context: RankingContext) -> Ranking:
        own = self.c * math.sqrt(1.0 - self.correlation)
        spread = self.c * math.sqrt(self.correlation) * _GUMBEL_SPREAD
        wave = noise.Wave(spread, self.reach) if spread > 0.0 else None
        return first_page(context, context.ordered(own, wave=wave), self.first)

    def with_exploration(self, level: float) -> Strategy:
        return replace(self, c=self.c * level)


@dataclass(frozen=True)
class Greedy(Strategy):
    """The most probable items first.

    first="pool": while nothing is known, one of a few pages that cover the catalog; "cover": one
    found for this search alone; "ranked": as any other.
    """

    name = "greedy"
    first: First = "pool"

    def __post_init__(self) -> None:
        check_first(self.first)

    def rank(self, context: RankingContext) -> Ranking:
        return first_page(context, context.ordered(0.0), self.first)

    def with_exploration(self, level: float) -> Strategy:
        """Return Boltzmann exploration where some is asked for: greedy by itself has none."""
        return self if level <= 1.0 else Boltzmann(PAPER_C * (level - 1.0), first=self.first)


@dataclass(frozen=True)
class Random(Strategy):
    """All items in an order drawn anew at every step."""

    name = "random"

    def rank(self, context: RankingContext) -> Ranking:
        return context.shuffled()

    def with_exploration(self, level: float) -> Strategy:
        """Return itself: there is nothing that explores more or less."""
        return self


@dataclass(frozen=True)
class EpsilonGreedy(Strategy):
    """The greedy order, each place given to an item picked evenly with probability epsilon."""

    name = "epsilon"
    epsilon: float = 0.1
    first: First = "pool"

    def __post_init__(self) -> None:
        check_number("epsilon", self.epsilon, 0.0, below=np.nextafter(1.0, 2.0))
        check_first(self.first)

    def rank(self, context: RankingContext) -> Ranking:
        return _EpsilonRanking(context, Greedy(self.first).rank(context), self.epsilon)

    def with_exploration(self, level: float) -> Strategy:
        return replace(self, epsilon=min(1.0, self.epsilon * level))


class _EpsilonRanking:
    """A ranking in which some places were swapped with places picked by chance.

    A picked item and the one it replaces change places, so every item still comes exactly once.
    The picked item's own place need not be known until the walk gets there.
    """

    def __init__(self, context: RankingContext, ranking: Ranking, epsilon: float) -> None:
        self._context = context
        self._ranking = ranking
        self._epsilon = epsilon
        self.total = ranking.total
        self._candidates = context.candidates()
        self._rows: list[int] = []
        self._used: set[int] = set()
        self._swaps: dict[int, int] = {}
        self._coins = noise.stream_key(context.seed, context.step, noise.PLACE)

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,)."""
        count = min(count, self.total)
        if count > len(self._rows):
            start = len(self._rows)
            coins = noise.uniforms(self._coins, count)
            for place, row in enumerate(self._ranking.head(count)[start:].tolist(), start):
                while row in self._used:
                    row = self._swaps[row]
                if coins[place] < self._epsilon and place < len(self._candidates):
                    row = self._swap(place, row)
                self._used.add(row)
                self._rows.append(row)
        return np.array(self._rows[:count], np.int64)

    @property
    def strained(self) -> bool:
        """Whether bounds of the scores have left many items to be evaluated."""
        return self._ranking.strained

    def shortlist(self) -> Shortlist | None:
        """Return the items that can lead the order after the next click, if that can be told."""
        return self._ranking.shortlist()

    def _swap(self, place: int, row: int) -> int:
        """Return an item picked evenly among those not placed yet, and note the swap."""
        picks = noise.uniforms(
            noise.stream_key(self._context.seed, self._context.step, noise.PICK, place), _MAX_PICKS
        )
        for pick in picks:
            other = int(self._candidates[int(pick * len(self._candidates))])
            if other not in self._used:
                self._swaps[other] = row
                return other
        return row


@dataclass(frozen=True)
class Diverse(Strategy):
    """The page is chosen from the first pool · page size items of the base strategy's ranking.

    An item's weight falls with its place; two items are alike by exp(−D / reach), D in units of
    the catalog's mean squared distance. criterion="submodular" chooses items that together stand
    for as much of the weight as possible; "determinantal" chooses the set with the largest
    determinant of weighted likeness. The rest of the ranking stays as it was.
    """

    name = "diverse"
    base: Strategy = field(default_factory=Boltzmann)
    pool: int = 4
    criterion: Literal["submodular", "determinantal"] = "submodular"
    reach: float = 0.25

    def __post_init__(self) -> None:
        check_number("pool", self.pool, 1.0)
        check_number("reach", self.reach, 1e-9)
        if self.criterion not in ("submodular", "determinantal"):
            raise BadInput(
                f"criterion is {short_repr(self.criterion)}, but it must be 'submodular' or "
                "'determinantal'."
            )
        if not isinstance(self.base, Strategy) or isinstance(self.base, Diverse):
            raise BadInput("The base of a diverse strategy must be a strategy that is not diverse.")

    def rank(self, context: RankingContext) -> Ranking:
        ranking = self.base.rank(context)
        return PinnedPage(ranking, lambda: self._page(context, ranking))

    def with_exploration(self, level: float) -> Strategy:
        return replace(self, base=self.base.with_exploration(level))

    def _page(self, context: RankingContext, ranking: Ranking) -> Rows:
        """Choose the page from the head of a ranking, (page size,)."""
        size = context.page_size
        early = ranking.total - sum(len(rows) for rows in context.later)
        head = ranking.head(int(min(self.pool * size, early)))
        alike = np.exp(-context.distances(head, head) / self.reach)
        weights = size / (size + np.arange(len(head)))
        choose = submodular if self.criterion == "submodular" else determinantal
        return head[choose(alike, weights, size)]


def submodular(alike: Doubles, weights: Doubles, count: int) -> Rows:
    """Choose greedily to maximise Σ_s weights[s] · max_{j chosen} alike[s, j]: (count,) places."""
    covered = np.zeros(len(weights))
    chosen: list[int] = []
    for _ in range(min(count, len(weights))):
        gain = weights @ np.maximum(alike - covered[:, None], 0.0)
        gain[chosen] = -1.0
        pick = int(np.argmax(gain))
        covered = np.maximum(covered, alike[:, pick])
        chosen.append(pick)
    return np.array(chosen, np.int64)


def determinantal(alike: Doubles, weights: Doubles, count: int) -> Rows:
    """Choose greedily to maximise det L, L = weights ⊙ alike ⊙ weights: (count,) places.

    Each step takes the item with the largest remaining variance, by one row of a Cholesky
    factor (the fast greedy MAP inference of Chen, Zhang and Zhou, 2018).
    """
    kernel = weights[:, None] * alike * weights[None, :]
    left = np.diag(kernel).copy()
    factor = np.zeros((0, len(weights)))
    chosen: list[int] = []
    for _ in range(min(count, len(weights))):
        left[chosen] = -np.inf
        pick = int(np.argmax(left))
        if left[pick] < 1e-9:  # only copies of what was chosen are left: take them as they come
            rest = [place for place in range(len(weights)) if place not in chosen]
            chosen += rest[: count - len(chosen)]
            break
        row = (kernel[pick] - factor[:, pick] @ factor) / np.sqrt(left[pick])
        factor = np.vstack([factor, row])
        left = left - row**2
        chosen.append(pick)
    return np.array(chosen, np.int64)
