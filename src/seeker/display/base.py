"""What every strategy is: a context in, one stable order of the whole catalog out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from seeker.display.context import RankingContext
from seeker.display.ranking import Ranking
from seeker.errors import BadInput


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
