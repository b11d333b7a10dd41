"""The ranking context where the items are in shards: strategies need not know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias, cast

import numpy as np

from seeker.cluster.fleet import Inquiry
from seeker.cluster.messages import (
    LogTotal,
    Question,
    TopItems,
    TopProbabilities,
    TopScores,
    TopShuffled,
)
from seeker.cluster.prior import Prior
from seeker.display import RankingContext
from seeker.display.noise import KeyedNoise, noisy_probabilities, noisy_scores, shuffle_values
from seeker.display.ranking import ValueRanking, best_rows
from seeker.types import Doubles, Rows


class Candidates:
    """The rows that a prior leaves open and that need not come later, in their order."""

    def __init__(self, count: int, prior: Prior | None, later: Sequence[Rows]) -> None:
        self._prior = prior
        aside = np.sort(np.concatenate([np.empty(0, np.int64), *later]))
        ranks = aside if prior is None else prior.rank(aside)
        # Where those set aside stand among the others: what lies behind moves up by one for each.
        self._gaps = ranks - np.arange(len(ranks))
        self._count = (count if prior is None else int(prior.before[-1])) - len(aside)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, places: int | Rows) -> Rows:
        """Return the rows at some places, of the places' shape."""
        asked = np.asarray(places, np.int64)
        flat = asked.reshape(-1)
        if len(flat) and not 0 <= flat.min() <= flat.max() < self._count:
            raise IndexError(f"There are {self._count} candidates.")
        among = flat + np.searchsorted(self._gaps, flat, "right")
        rows = among if self._prior is None else self._prior.select(among)
        return rows.reshape(asked.shape)


Ask: TypeAlias = Callable[[int], list[TopItems]]
"""ask(count): what every shard that answers has first, (count,) items each."""


class MergedRanking(ValueRanking):
    """All items of a context by values that the shards compute.

    value(rows): the values of some items, (rows,), computed at the front.
    """

    def __init__(
        self, total: int, later: tuple[Rows, ...], ask: Ask, value: Callable[[Rows], Doubles]
    ) -> None:
        super().__init__(total, later)
        self._ask = ask
        self._value = value

    def values(self, rows: Rows) -> Doubles:
        """Return the values of some items, (rows,)."""
        return self._value(rows)

    def _best(self, count: int) -> Rows:
        found = self._ask(count)
        rows = np.concatenate([one.rows for one in found])
        return best_rows(rows, np.concatenate([one.values for one in found]), count)


FEW_ITEMS = 4096
"""Up to so many candidates are simply listed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FrontContext(RankingContext):
    """A context at the front; whatever concerns all items is asked of the shards."""

    inquiry: Inquiry

    @classmethod
    def of(cls, context: RankingContext, inquiry: Inquiry) -> FrontContext:
        """Return a context that asks shards."""
        same = {field.name: getattr(context, field.name) for field in fields(context)}
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
        return found[np.arange(len(found))] if len(found) <= FEW_ITEMS else cast(Rows, found)

    def ordered(self, width: float, per_click: bool = True) -> ValueRanking:
        """Return the items by score + width · noise."""
        noise = KeyedNoise(self, width, per_click)
        return self._merged(
            lambda count: TopScores(width, per_click, count),
            lambda rows: noisy_scores(self.scores, noise, rows),
        )

    def shuffled(self) -> ValueRanking:
        """Return the items in an order that is nothing but noise."""
        return self._merged(TopShuffled, lambda rows: shuffle_values(self, rows))

    def by_probability(
        self, width: float, per_click: bool = True, log_total: float | None = None
    ) -> ValueRanking:
        """Return the items by probability + width · noise."""
        noise = KeyedNoise(self, width, per_click)
        total = self.inquiry.chain(LogTotal) if log_total is None else log_total
        return self._merged(
            lambda count: TopProbabilities(width, per_click, total, count),
            lambda rows: noisy_probabilities(self.scores, noise, total, rows),
        )

    def _merged(
        self, question: Callable[[int], Question], value: Callable[[Rows], Doubles]
    ) -> ValueRanking:
        """Return a ranking; question(count): what shards are asked, value(rows): its values."""

        def ask(count: int) -> list[TopItems]:
            return self.inquiry.ask(question(count), TopItems)

        return MergedRanking(self.total, self.later, ask, value)
