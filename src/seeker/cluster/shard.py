"""A shard: answers for the rows it holds, exactly, whatever it has in memory."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from seeker.cluster.messages import (
    AllScores,
    Answer,
    BeliefPart,
    BeliefPartReply,
    CountAbove,
    InterruptedReply,
    LogTotal,
    Question,
    RefreshBounds,
    SessionMoment,
    SupplyMessage,
    SupplyRequest,
    TopItems,
    TopProbabilities,
    TopScores,
    TopShuffled,
    Vectors,
)
from seeker.cluster.partition import CatalogPart
from seeker.cluster.scores import PartSpace
from seeker.display import RankingContext, Shortlist
from seeker.display.ranking import ValueRanking
from seeker.kernels.parallel import Interrupted, Stop, never
from seeker.models.scores import Scores
from seeker.models.warmup import warm_up

_BESIDES = 16_384


class ShardSession:
    """One session in a shard: its scores, and what it was told of the world outside."""

    def __init__(self, part: CatalogPart, moment: SessionMoment) -> None:
        self._part = part
        self.vectors: dict[int, Vectors] = {}
        space = PartSpace(part, moment.model, moment.person, self.vectors)
        self.scores = Scores(moment.model, space)
        # Warming up asks about the first and last rows, which only a space of its own knows.
        warm_up(Scores(moment.model, moment.model.space(part.views, moment.person)))
        self._prior: str | None = None
        self.order: ValueRanking | None = None
        """The order that was asked for last."""
        self.shortlist: Shortlist | None = None

    def learn(
        self, moment: SessionMoment, supply: SupplyMessage, rows: tuple[int, ...]
    ) -> SupplyRequest | None:
        """Bring the scores to a moment; say what is lacking where that cannot be done yet.

        rows: items whose vectors are needed beside those that the moment speaks of.
        """
        self.vectors.update(supply.vectors)
        unknown = tuple(
            row
            for row in dict.fromkeys((*moment.rows, *rows))
            if row not in self.vectors and row not in self._part.rows
        )
        if moment.prior != self._prior and moment.prior is not None and supply.prior is None:
            return SupplyRequest(prior=True, rows=unknown)
        if unknown:
            return SupplyRequest(rows=unknown)
        if moment.prior != self._prior:
            self.scores.set_prior(None if supply.prior is None else supply.prior.unpacked())
            self._prior = moment.prior
        self.scores.condition_on(moment.evidence)
        return None

    @property
    def nbytes(self) -> int:
        """About how many bytes this takes."""
        vectors = sum(one.nbytes for many in self.vectors.values() for one in many)
        short = 0 if self.shortlist is None else self.shortlist.nbytes
        return _BESIDES + self.scores.nbytes + vectors + short


class ShardSessionCache:
    """Sessions by key; each is lent to one caller at a time."""

    def __init__(self, part: CatalogPart, limit: int) -> None:
        self._part = part
        self._limit = limit
        self._guard = threading.Lock()
        self._held: OrderedDict[str, tuple[threading.Lock, ShardSession, int]] = OrderedDict()
        self._bytes = 0

    @contextmanager
    def lend(self, moment: SessionMoment) -> Iterator[ShardSession]:
        """Lend what is kept of a session, or a new beginning."""
        with self._guard:
            lock, held, counted = self._held.pop(moment.key, (None, None, 0))
            if lock is None or held is None:
                lock, held = threading.Lock(), ShardSession(self._part, moment)
            self._held[moment.key] = (lock, held, counted)
        with lock:
            try:
                yield held
            finally:
                self._measure(moment.key, lock, held)

    def _measure(self, key: str, lock: threading.Lock, held: ShardSession) -> None:
        """Count what a session takes now, and drop others where it is too much."""
        bytes = held.nbytes
        with self._guard:
            known = self._held.get(key)
            if known is None or known[1] is not held:
                return  # dropped while it was in use
            self._bytes += bytes - known[2]
            self._held[key] = (lock, held, bytes)
            while self._bytes > self._limit and len(self._held) > 1:
                _, (_, _, gone) = self._held.popitem(last=False)
                self._bytes -= gone

    @property
    def bytes(self) -> int:
        """How many bytes are kept."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._held)


class Shard:
    """Some rows of a catalog; safe for any number of threads.

    memory: bytes that may be kept of sessions.
    """

    def __init__(self, part: CatalogPart, memory: int = 512_000_000) -> None:
        self.part = part
        self.shelf = ShardSessionCache(part, memory)
        self._urgent = 0
        self._guard = threading.Lock()

    def answer(
        self,
        moment: SessionMoment,
        supply: SupplyMessage,
        question: Question,
        given_up: Stop = never,
    ) -> Answer | SupplyRequest:
        """Answer a question about a session at a moment, or say what is lacking to do so.

        given_up: whether nobody waits for the answer any longer.
        """
        idle = isinstance(question, RefreshBounds) or question == BeliefPart(idle=True)
        with self._counted(0 if idle else 1), self.shelf.lend(moment) as held:
            rows = question.page if isinstance(question, RefreshBounds) else ()
            lacking = held.learn(moment, supply, rows)
            if lacking is not None:
                return lacking
            try:
                stop = (lambda: given_up() or self._busy()) if idle else given_up
                return self._answer(held, moment, question, stop)
            except Interrupted:
                return InterruptedReply()

    @contextmanager
    def _counted(self, urgent: int) -> Iterator[None]:
        """Count what somebody waits for."""
        with self._guard:
            self._urgent += urgent
        try:
            yield
        finally:
            with self._guard:
                self._urgent -= urgent

    def _busy(self) -> bool:
        return self._urgent > 0

    def _answer(
        self, held: ShardSession, moment: SessionMoment, question: Question, stop: Stop
    ) -> Answer:
        scores = held.scores
        match question:
            case TopScores(width, per_click, count):
                held.order = self._context(held, moment).ordered(width, per_click)
                return self._first(held.order, count)
            case TopShuffled(count):
                return self._first(self._context(held, moment).shuffled(), count)
            case TopProbabilities(width, per_click, log_total, count):
                context = self._context(held, moment)
                return self._first(context.by_probability(width, per_click, log_total), count)
            case LogTotal(so_far):
                found = scores.everywhere(stop)
                if so_far is not None:
                    found = np.concatenate([[so_far], found])
                return float(np.logaddexp.reduce(found))
            case BeliefPart():
                return _weighed(held, stop)
            case CountAbove(log_total, value):
                logs = scores.everywhere(stop) - log_total
                return int(np.count_nonzero(logs > value)), int(np.count_nonzero(logs == value))
            case AllScores():
                return scores.everywhere(stop)
            case RefreshBounds(page):
                scores.catch_up(stop)
                if held.order is not None:
                    held.shortlist = held.order.shortlist()
                scores.anticipate(moment.evidence, page, stop)
                return None

    def _context(self, held: ShardSession, moment: SessionMoment) -> RankingContext:
        rows = self.part.rows
        return RankingContext(
            scores=held.scores,
            seed=moment.seed,
            step=moment.step,
            page_size=1,
            blank=False,
            clicks={row - rows.first: count for row, count in moment.clicks.items() if row in rows},
            later=tuple(some for some in map(rows.local, moment.later) if len(some)),
            first=rows.first,
            shortlist=held.shortlist,
        )

    def _first(self, order: ValueRanking, count: int) -> TopItems:
        rows = order.early(count)
        return TopItems(rows + self.part.rows.first, order.values(rows))


def _weighed(held: ShardSession, stop: Stop) -> BeliefPartReply:
    """Return the shard's part of the belief."""
    scores = held.scores
    logs = scores.everywhere(stop)
    top = float(logs.max())
    if top == -math.inf:
        return BeliefPartReply(top, 0.0, 0.0, np.zeros(scores.thetas))
    logs -= top
    likely = logs[logs > -700.0]
    shares = np.exp(likely)
    return BeliefPartReply(top, float(shares.sum()), float(shares @ likely), scores.settings(top))
