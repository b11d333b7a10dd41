"""The moment that is ranked, where the items are in shards: strategies need not know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeAlias, cast

import numpy as np

from seeker.cluster.candidates import Candidates
from seeker.cluster.messages import Best, Found, LogTotal, Probable, Question, Shuffled
from seeker.cluster.prior import Prior
from seeker.cluster.ranking import Merged
from seeker.display import Ranking, Scene
from seeker.display.boltzmann import noisy_probabilities
from seeker.display.order import Order
from seeker.display.random import shuffled
from seeker.types import Doubles, Rows

FEW = 4096
"""Up to so many candidates are simply listed."""

Asked: TypeAlias = Callable[[Question], tuple[list[Found], bool]]
Chained: TypeAlias = Callable[[Callable[[float | None], Question]], float]


@dataclass(frozen=True, eq=False, kw_only=True)
class FrontScene(Scene):
    """A scene at the front.

    ask(question): what every shard has first, and whether all have answered. chain(question): the
    number that the shards make one after the other, each going on from the one before.
    """

    ask: Asked
    chain: Chained

    @classmethod
    def of(cls, scene: Scene, ask: Asked, chain: Chained) -> FrontScene:
        """Return a scene that asks shards."""
        same = {field.name: getattr(scene, field.name) for field in fields(scene)}
        return cls(**same, ask=ask, chain=chain)

    @property
    def prior(self) -> Prior | None:
        """The log-prior."""
        return cast("Prior | None", self.scores.log_prior)

    @property
    def total(self) -> int:
        """How many items are ranked: all that the prior does not rule out."""
        return self.scores.count if self.prior is None else int(self.prior.before[-1])

    def candidates(self) -> Rows:
        """Return the items that come before the later ones, by row; a long list is not made."""
        found = Candidates(self.scores.count, self.prior, self.later)
        return found[np.arange(len(found))] if len(found) <= FEW else cast(Rows, found)

    def ordered(self, width: float, per_click: bool = True) -> Ranking:
        """Return the items by score + width · noise."""

        def ask(count: int) -> tuple[list[Found], bool]:
            return self.ask(Best(width, per_click, count))

        return Merged(self.total, self.later, ask, Order(self, width, per_click).z)

    def shuffled(self) -> Ranking:
        """Return the items in an order that is nothing but noise."""

        def ask(count: int) -> tuple[list[Found], bool]:
            return self.ask(Shuffled(count))

        return Merged(self.total, self.later, ask, lambda rows: shuffled(self, rows))

    def by_probability(self, width: float, per_click: bool = True) -> Ranking:
        """Return the items by probability + width · noise."""
        log_total = self.chain(LogTotal)

        def ask(count: int) -> tuple[list[Found], bool]:
            return self.ask(Probable(width, per_click, log_total, count))

        def value(rows: Rows) -> Doubles:
            return noisy_probabilities(self, width, per_click, log_total, rows)

        return Merged(self.total, self.later, ask, value)
