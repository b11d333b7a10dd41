"""A belief over all shards: what each knows of its items, put together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from seeker.cluster.context import FrontScores
from seeker.cluster.fleet import QueryRound
from seeker.cluster.messages import (
    BeliefQuery,
    BeliefReply,
    RankQuery,
    RankReply,
    ScoresQuery,
    ScoresReply,
)
from seeker.kernels.parallel import Interrupted, Stop
from seeker.session import Belief
from seeker.types import Doubles, Rows


class MergedBelief(Belief):
    """The posterior at one step of a session, from the shards' masses, counts and scores.

    Sums are added shard by shard, so figures may differ from a single machine's in the last of
    their sixteen digits; the order of the items never does.
    """

    def __init__(
        self,
        scores: FrontScores,
        views: Sequence[str],
        queries: QueryRound,
        page_and_over: Callable[[], tuple[Rows, Rows]],
        row: Callable[[str], int],
    ) -> None:
        """Hold the way to the numbers; nothing is asked of the shards yet."""
        super().__init__(views, scores.grid, page_and_over)
        self._scores = scores
        self._queries = queries
        self._row = row

    def prefetch(self, stop: Stop) -> None:
        """Ask for what the figures are made of, unless the shards have other things to do."""
        if stop():
            raise Interrupted
        if "_parts" not in self.__dict__:
            self._parts = self._ask_parts(stop)

    @cached_property
    def _parts(self) -> list[BeliefReply]:
        return self._ask_parts(None)

    def _ask_parts(self, stop: Stop | None) -> list[BeliefReply]:
        parts = self._queries.ask(BeliefQuery(), BeliefReply, stop=stop)
        if not any(part.mass > 0.0 for part in parts):
            # Whatever is possible is in shards that were silent: without them there is no belief.
            parts = self._queries.ask(BeliefQuery(), BeliefReply, whole=True, stop=stop)
        return parts

    @cached_property
    def _shares(self) -> Doubles:
        """The mass of every shard relative to the best item of all, (shards,)."""
        tops = np.array([part.top for part in self._parts])
        masses = np.array([part.mass for part in self._parts])
        return np.asarray(np.exp(tops - tops.max()) * masses)

    @property
    def partial(self) -> bool:
        """Whether some shards were silent."""
        return self._queries.partial

    @property
    def _top(self) -> float:
        return max(part.top for part in self._parts)

    @cached_property
    def _log_total(self) -> float:
        return self._top + math.log(float(self._shares.sum()))

    @cached_property
    def log_posterior(self) -> Doubles:
        """Log-probabilities, (items,) float64, in catalog order: collected from all shards."""
        replies = self._queries.ask(ScoresQuery(), ScoresReply, whole=True)
        logs = np.concatenate([reply.scores for reply in replies])
        logs -= self._log_total
        logs.setflags(write=False)
        return logs

    def rank(self, item: str) -> float:
        """Return an item's place by probability: 1 is best, ties share the middle place."""
        query = RankQuery(self._log_total, self._log_probability(item))
        replies = self._queries.ask(query, RankReply, whole=True)
        higher = sum(reply.higher for reply in replies)
        equal = sum(reply.equal for reply in replies)
        return float(higher + (equal + 1) / 2)

    def probability(self, item: str) -> float:
        """Return how probable it is that this item is the one looked for."""
        return math.exp(self._log_probability(item))

    def _log_probability(self, item: str) -> float:
        score = self._scores.at(np.array([self._row(item)]))[0]
        return float(score - self._log_total)

    @cached_property
    def entropy(self) -> float:
        """The uncertainty about the item looked for, in nats."""
        spread = sum(
            share * (part.top - self._top) + math.exp(part.top - self._top) * part.spread
            for share, part in zip(self._shares, self._parts, strict=True)
            if part.mass > 0.0
        )
        total = float(self._shares.sum())
        return max(0.0, math.log(total) - float(spread) / total)

    def _probabilities(self, rows: Rows) -> Doubles:
        return np.asarray(np.exp(self._scores.at(rows) - self._log_total))

    @cached_property
    def settings(self) -> Doubles:
        """The posterior of θ, (mixtures, noises)."""
        weights = self._shares @ np.array([part.settings for part in self._parts])
        return self._arranged(np.asarray(weights / weights.sum()))
