"""Pages whose answer tells most about what is looked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from seeker.display.base import RankingContext, Strategy
from seeker.display.first_page import PinnedPage
from seeker.display.ranking import Ranking
from seeker.display.strategies import Boltzmann
from seeker.errors import BadInput
from seeker.types import Rows
from seeker.validation import check_number, check_whole

PLACES_SHARE = 4
"""Of the items to choose from at most one in so many is chosen; what a page lacks comes by rank."""


@dataclass(frozen=True)
class Informative(Strategy):
    """The page is chosen from the first `pool` items of the base strategy's ranking.

    They are taken one by one, so that the page as a whole tells most: by the answer that is
    expected to it, which of its items is nearest, about which of the first `targets` items is
    looked for, I(answer; target); and so that it holds the target, which counts `hit` nats. Answers
    are expected as the model draws them, at the mean of its settings before any click. As long as
    the person has liked nothing, they may answer by dislikes alone: then the page is the base
    strategy's. The rest of the ranking stays as it was.
    """

    name = "informative"
    base: Strategy = field(default_factory=Boltzmann)
    pool: int = 96
    targets: int = 384
    hit: float = 2.0

    def __post_init__(self) -> None:
        check_whole("pool", self.pool, 1)
        check_whole("targets", self.targets, 1)
        check_number("hit", self.hit, 0.0)
        if self.targets < self.pool:
            raise BadInput(
                f"targets is {self.targets} and pool is {self.pool}, but whatever may be on the "
                "page may be looked for.",
                "Let targets be at least as large as pool.",
            )
        if not isinstance(self.base, Strategy) or isinstance(self.base, Informative):
            raise BadInput(
                "The base of an informative strategy must be a strategy that is not informative."
            )

    def rank(self, context: RankingContext) -> Ranking:
        ranking = self.base.rank(context)
        if not context.liked:
            return ranking
        return PinnedPage(ranking, lambda: self._page(context, ranking))

    def with_exploration(self, level: float) -> Strategy:
        return replace(self, base=self.base.with_exploration(level))

    def _page(self, context: RankingContext, ranking: Ranking) -> Rows:
        """Choose the first items of the page from the head of a ranking, (places,)."""
        from seeker.kernels.informative import informative_places

        early = ranking.total - sum(len(rows) for rows in context.later)
        targets = ranking.head(min(self.targets, early))
        items = targets[: self.pool]
        places = np.empty(min(context.page_size, -(-len(items) // PLACES_SHARE)), np.int64)
        if len(places):
            scores, grid = context.scores, context.scores.grid
            distances = scores.space.between(items, targets, grid.usual_mixture)
            draw = scores.model.attraction(grid)
            informative_places(
                scores.at(targets), distances, draw.sharpness, draw.floor, self.hit, places
            )
        return items[places]
