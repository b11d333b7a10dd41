"""The moment that a strategy ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from seeker.display.noise import KeyedNoise, noisy_probabilities, shuffle_values
from seeker.display.ranking import SortedRanking, ValueRanking
from seeker.display.topk import Shortlist, TopK
from seeker.models.scores import Scores
from seeker.types import Rows


@dataclass(frozen=True, eq=False)
class RankingContext:
    """The moment that is ranked.

    later: items to come after all others, in groups, such as those already seen and those already
    judged. clicks: how often an item was liked or disliked. blank: nothing is known yet. first:
    the row of the first item in the whole catalog, where the scores are of a part of it. shortlist:
    made by the order before, to make this one cheaper. listed_only: nothing but the beginning of
    that list may be looked at; `ShortlistExhausted` is raised where it does not suffice.
    """

    scores: Scores
    seed: int
    step: int
    page_size: int
    blank: bool
    clicks: Mapping[int, int] = field(default_factory=dict)
    later: tuple[Rows, ...] = ()
    first: int = 0
    shortlist: Shortlist | None = None
    listed_only: bool = False

    @property
    def total(self) -> int:
        """How many items are ranked: all that the prior does not rule out."""
        prior = self.scores.log_prior
        return self.scores.count if prior is None else int(np.count_nonzero(prior > -np.inf))

    def candidates(self) -> Rows:
        """Return the items that come before the later ones, by row."""
        fine = np.ones(self.scores.count, bool)
        if self.scores.log_prior is not None:
            fine = self.scores.log_prior > -np.inf
        for rows in self.later:
            fine[rows] = False
        return np.flatnonzero(fine)

    def ordered(self, width: float, per_click: bool = True) -> ValueRanking:
        """Return the items by score + width · noise; per_click: less noise for clicked items."""
        return TopK(self, width, per_click)

    def shuffled(self) -> ValueRanking:
        """Return the items in an order that is nothing but noise."""
        return SortedRanking(self, shuffle_values(self))

    def by_probability(
        self, width: float, per_click: bool = True, log_total: float | None = None
    ) -> ValueRanking:
        """Return the items by probability + width · noise.

        log_total: the log of the sum of e**score over the whole catalog, where it is known.
        """
        noise = KeyedNoise(self, width, per_click)
        return SortedRanking(self, noisy_probabilities(self.scores, noise, log_total))
