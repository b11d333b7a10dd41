"""What every strategy is: a context in, one stable order of the whole catalog out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from seeker.display.noise import KeyedNoise, Wave, noisy_probabilities, shuffle_values
from seeker.display.ranking import Ranking, Shortlist, SortedRanking, TopK, ValueRanking
from seeker.errors import BadInput
from seeker.models.scores import ItemScores, Scores
from seeker.types import Doubles, Rows


class CandidateRows(Protocol):
    """Items by row, in their order, such as an array, (items,)."""

    def __len__(self) -> int: ...

    def __getitem__(self, places: Any, /) -> Any:
        """Return the rows at some places, of the places' shape."""
        ...


class RankingContext(Protocol):
    """The moment that is ranked, as strategies see it."""

    @property
    def seed(self) -> int:
        """The seed of the session."""
        ...

    @property
    def step(self) -> int:
        """The step of the session."""
        ...

    @property
    def page_size(self) -> int:
        """How many items are on a page."""
        ...

    @property
    def blank(self) -> bool:
        """Whether nothing is known yet."""
        ...

    @property
    def liked(self) -> bool:
        """Whether the person has liked anything."""
        ...

    @property
    def later(self) -> tuple[Rows, ...]:
        """Items to come after all others, in groups, such as those seen and those judged."""
        ...

    @property
    def scores(self) -> ItemScores:
        """The scores of items."""
        ...

    def candidates(self) -> CandidateRows:
        """Return the items that come before the later ones, by row."""
        ...

    def distances(self, one: Rows, other: Rows) -> Doubles:
        """Return distances between items, the views weighing alike: (one, other)."""
        ...

    def pooled(self, number: int, choose: Callable[[], Rows]) -> Rows:
        """Return the page of a number in the pool, (page size,) or fewer, which depends on no seed.

        choose: finds it where no search has found one as long.
        """
        ...

    def ordered(self, width: float, per_click: bool = True, wave: Wave | None = None) -> Ranking:
        """Return the items by score + width · noise; per_click: less noise for clicked items.

        wave: noise beside it that is alike for items that are alike.
        """
        ...

    def shuffled(self) -> Ranking:
        """Return the items in an order that is nothing but noise."""
        ...

    def by_probability(self, width: float, per_click: bool = True) -> Ranking:
        """Return the items by probability + width · noise."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class RankingInputs:
    """What of a session a ranking depends on, beside the scores.

    liked, later: as in `RankingContext`. clicks: how often an item was liked or disliked. first:
    the row of the first item in the whole catalog, where the scores are of a part of it.
    """

    seed: int
    step: int
    page_size: int
    blank: bool
    liked: bool = False
    clicks: Mapping[int, int] = field(default_factory=dict)
    later: tuple[Rows, ...] = ()
    first: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalContext(RankingInputs):
    """The moment that is ranked, where the scores of all items are at hand.

    shortlist: made by the order before, to make this one cheaper. listed_only: nothing but the
    beginning of that list may be looked at; `ShortlistExhausted` is raised where it does not
    suffice.
    """

    scores: Scores
    shortlist: Shortlist | None = None
    listed_only: bool = False

    @classmethod
    def of(
        cls, inputs: RankingInputs, scores: Scores, shortlist: Shortlist | None = None
    ) -> LocalContext:
        """Return the moment of some inputs."""
        return cls(**vars(inputs), scores=scores, shortlist=shortlist)

    @property
    def total(self) -> int:
        """How many items are ranked: all that the prior does not rule out."""
        prior = self.scores.log_prior
        return self.scores.count if prior is None else int(np.count_nonzero(prior > -np.inf))

    def candidates(self) -> Rows:
        """Return the items that come before the later ones, by row."""
        mask = np.ones(self.scores.count, bool)
        if self.scores.log_prior is not None:
            mask = self.scores.log_prior > -np.inf
        for rows in self.later:
            mask[rows] = False
        return np.flatnonzero(mask)

    def distances(self, one: Rows, other: Rows) -> Doubles:
        """Return distances between items, the views weighing alike: (one, other)."""
        return self.scores.space.between(one, other)

    def pooled(self, number: int, choose: Callable[[], Rows]) -> Rows:
        """Return the page of a number in the pool, shared where all items may be in it."""
        shared, prior = self.scores.space.shared, self.scores.log_prior
        if shared is None or self.later or (prior is not None and np.isneginf(prior).any()):
            return choose()
        return shared.page(number, self.page_size, choose)

    def ordered(
        self, width: float, per_click: bool = True, wave: Wave | None = None
    ) -> ValueRanking:
        """Return the items by score + width · noise; as in `RankingContext`."""
        return TopK(self, width, per_click, wave)

    def shuffled(self) -> ValueRanking:
        """Return the items in an order that is nothing but noise."""
        return SortedRanking(self, shuffle_values(self, np.arange(self.scores.count)))

    def by_probability(
        self, width: float, per_click: bool = True, log_total: float | None = None
    ) -> ValueRanking:
        """Return the items by probability + width · noise.

        log_total: the log of the sum of e**score over the whole catalog, where it is known.
        """
        noise, logs = KeyedNoise(self, width, per_click), self.scores.everywhere()
        total = float(np.logaddexp.reduce(logs)) if log_total is None else log_total
        rows = np.arange(len(logs))
        return SortedRanking(self, noisy_probabilities(logs, total, noise, rows))


class Strategy(ABC):
    """How a belief becomes a ranking (explore or exploit)."""

    name: ClassVar[str]

    @abstractmethod
    def rank(self, context: RankingContext) -> Ranking:
        """Return the order of all items at this moment."""

    def with_exploration(self, level: float) -> Strategy:
        """Return the strategy that explores so many times as much: 0 not at all, 1 the same."""
        raise BadInput(
            f"The strategy '{self.name}' cannot be made to explore more or less.",
            "Start a session with another strategy, such as 'boltzmann'.",
        )
