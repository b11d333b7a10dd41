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
    judged. clicks: how often an item was liked or disliked. blank: nothing is known yet.
    """

    scores: Scores
    seed: int
    step: int
    page_size: int
    blank: bool
    clicks: Mapping[int, int] = field(default_factory=dict)
    later: tuple[Rows, ...] = ()

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
