"""A page without near-copies, composed from the head of another strategy's ranking."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from seeker.display.base import RankingContext, Strategy
from seeker.display.boltzmann import Boltzmann
from seeker.display.first_page import PinnedPage
from seeker.display.ranking import Ranking
from seeker.errors import BadInput, short_repr
from seeker.types import Doubles, Rows
from seeker.validation import check_number


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
