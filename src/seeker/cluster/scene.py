"""The moment that is ranked, where the items are in shards: strategies need not know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import cast

import numpy as np

from seeker.cluster.candidates import Candidates
from seeker.cluster.inquiry import Inquiry
from seeker.cluster.messages import Best, Found, LogTotal, Probable, Question, Shuffled
from seeker.cluster.prior import Prior
from seeker.cluster.ranking import Merged
from seeker.display import Scene
from seeker.display.ranking import ByValue
from seeker.display.values import Noise, noisy_probabilities, noisy_scores, shuffled
from seeker.types import Doubles, Rows

FEW = 4096
"""Up to so many candidates are simply listed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FrontScene(Scene):
    """A scene at the front; whatever concerns all items is asked of the shards."""

    inquiry: Inquiry

    @classmethod
    def of(cls, scene: Scene, inquiry: Inquiry) -> FrontScene:
        """Return a scene that asks shards."""
        same = {field.name: getattr(scene, field.name) for field in fields(scene)}
        return cls(**same, inquiry=inquiry)

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

    def ordered(self, width: float, per_click: bool = True) -> ByValue:
        """Return the items by score + width · noise."""
        noise = Noise(self, width, per_click)
        return self._merged(
            lambda count: Best(width, per_click, count),
            lambda rows: noisy_scores(self.scores, noise, rows),
        )

    def shuffled(self) -> ByValue:
        """Return the items in an order that is nothing but noise."""
        return self._merged(Shuffled, lambda rows: shuffled(self, rows))

    def by_probability(
        self, width: float, per_click: bool = True, log_total: float | None = None
    ) -> ByValue:
        """Return the items by probability + width · noise."""
        noise = Noise(self, width, per_click)
        total = self.inquiry.chain(LogTotal) if log_total is None else log_total
        return self._merged(
            lambda count: Probable(width, per_click, total, count),
            lambda rows: noisy_probabilities(self.scores, noise, total, rows),
        )

    def _merged(
        self, question: Callable[[int], Question], value: Callable[[Rows], Doubles]
    ) -> ByValue:
        """Return a ranking; question(count): what shards are asked, value(rows): see `Merged`."""

        def ask(count: int) -> list[Found]:
            return self.inquiry.ask(question(count), Found)

        return Merged(self.total, self.later, ask, value)
