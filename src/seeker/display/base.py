"""What a strategy gets and gives: a scene, and one stable order of the whole catalog."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

import numpy as np

from seeker.errors import BadInput
from seeker.models.scores import Scores
from seeker.types import Rows

First = Literal["cover", "ranked"]


@dataclass(frozen=True, eq=False)
class Scene:
    """The moment that is ranked.

    later: items to come after all others, in groups, such as those already seen and those already
    judged. clicks: how often an item was liked or disliked. blank: nothing is known yet. first:
    the row of the first item in the whole catalog, where the scores are of a part of it.
    """

    scores: Scores
    seed: int
    step: int
    page_size: int
    blank: bool
    clicks: Mapping[int, int] = field(default_factory=dict)
    later: tuple[Rows, ...] = ()
    first: int = 0

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

    def ordered(self, width: float, per_click: bool = True) -> Ranking:
        """Return the items by score + width · noise; per_click: less noise for clicked items."""
        from seeker.display.order import Order

        return Order(self, width, per_click)

    def shuffled(self) -> Ranking:
        """Return the items in an order that is nothing but noise."""
        from seeker.display.order import Sorted
        from seeker.display.random import shuffled

        return Sorted(self, shuffled(self))

    def by_probability(self, width: float, per_click: bool = True) -> Ranking:
        """Return the items by probability + width · noise."""
        from seeker.display.boltzmann import noisy_probabilities
        from seeker.display.order import Sorted

        return Sorted(self, noisy_probabilities(self, width, per_click))


class Ranking(Protocol):
    """One total order of all items of a scene; no more of it is sorted than is asked for."""

    @property
    def total(self) -> int:
        """How many items there are in all."""
        ...

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,) or fewer at the end of the catalog."""
        ...


class Strategy(ABC):
    """How a belief becomes a ranking (explore or exploit)."""

    name: ClassVar[str]

    @abstractmethod
    def rank(self, scene: Scene) -> Ranking:
        """Return the order of all items at this moment."""

    def bolder(self, level: float) -> Strategy:
        """Return the strategy that explores so many times as much: 0 not at all, 1 the same."""
        raise BadInput(
            f"The strategy '{self.name}' cannot be made to explore more or less.",
            "Start a session with another strategy, such as 'boltzmann'.",
        )


def check_first(first: object) -> None:
    """Refuse a kind of first page that there is not."""
    if first not in ("cover", "ranked"):
        raise BadInput(f"first is {first!r}, but it must be 'cover' or 'ranked'.")
