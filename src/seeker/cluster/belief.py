"""A belief over all shards: what each knows of its items, put together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from seeker.cluster.fleet import Inquiry
from seeker.cluster.messages import AllScores, BeliefPart, BeliefPartReply, CountAbove
from seeker.cluster.scores import FrontScores
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
        inquiry: Inquiry,
        page: Callable[[], Rows],
        row: Callable[[str], int],
    ) -> None:
        """Hold the way to the numbers; nothing is asked of the shards yet."""
        super().__init__(views, scores.grid)
        self._scores = scores
        self._inquiry = inquiry
        self._page = page
        self._row = row

    def weigh(self, stop: Stop) -> None:
        """Ask for what the figures are made of, unless the shards have other things to do."""
        if stop():
            raise Interrupted
        if "_weighed" not in self.__dict__:
            self._weighed = self._parts(stop)

    @cached_property
    def _weighed(self) -> list[BeliefPartReply]:
        return self._parts(None)

    def _parts(self, stop: Stop | None) -> list[BeliefPartReply]:
        weigh = BeliefPart(idle=stop is not None)
        parts = self._inquiry.ask(weigh, BeliefPartReply, stop=stop)
        if not any(one.mass > 0.0 for one in parts):
            # Whatever is possible is in shards that were silent: without them there is no belief.
            parts = self._inquiry.ask(weigh, BeliefPartReply, whole=True, stop=stop)
        return parts

    @cached_property
    def _shares(self) -> Doubles:
        """The mass of every shard relative to the best item of all, (shards,)."""
        tops = np.array([one.top for one in self._weighed])
        masses = np.array([one.mass for one in self._weighed])
        return np.asarray(np.exp(tops - tops.max()) * masses)

    @property
    def partial(self) -> bool:
        """Whether some shards were silent."""
        return self._inquiry.silent

    @property
    def _top(self) -> float:
        return max(one.top for one in self._weighed)

    @cached_property
    def _log_total(self) -> float:
        return self._top + math.log(float(self._shares.sum()))

    @cached_property
    def log_posterior(self) -> Doubles:
        """Log-probabilities, (items,) float64, in catalog order: collected from all shards."""
        logs = np.concatenate(self._inquiry.ask(AllScores(), np.ndarray, whole=True))
        logs -= self._log_total
        logs.setflags(write=False)
        return logs

    def rank(self, item: str) -> float:
        """Return an item's place by probability: 1 is best, ties share the middle place."""
        value = self._log_probability(item)
        counts = np.array(self._inquiry.ask(CountAbove(self._log_total, value), tuple, whole=True))
        higher, equal = counts.sum(axis=0)
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
            share * (one.top - self._top) + math.exp(one.top - self._top) * one.spread
            for share, one in zip(self._shares, self._weighed, strict=True)
            if one.mass > 0.0
        )
        total = float(self._shares.sum())
        return max(0.0, math.log(total) - float(spread) / total)

    @cached_property
    def on_page(self) -> float:
        """How probable it is that the item looked for is on the page of this step."""
        logs = self._scores.at(self._page()) - self._log_total
        return min(1.0, float(np.exp(logs).sum()))

    @cached_property
    def settings(self) -> Doubles:
        """The posterior of θ, (mixtures, noises)."""
        weights = self._shares @ np.array([one.settings for one in self._weighed])
        return self._arranged(np.asarray(weights / weights.sum()))
