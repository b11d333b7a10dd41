"""The plain strategies: the best only, chance only, and the best with some chance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seeker.display import noise
from seeker.display.base import RankingContext, Strategy
from seeker.display.boltzmann import PAPER_C, Boltzmann
from seeker.display.first_page import First, check_first, first_page
from seeker.display.ranking import Ranking, Shortlist
from seeker.types import Rows
from seeker.validation import check_number


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
        """Return itself: there is nothing bolder, and nothing to be less bold with."""
        return self


_MAX_PICKS = 64


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
