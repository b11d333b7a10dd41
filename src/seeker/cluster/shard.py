"""A shard: answers for the rows it holds, exactly, whatever it has in memory."""

from __future__ import annotations

import math
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from seeker.cluster.messages import (
    Answer,
    Attachments,
    BeliefQuery,
    BeliefReply,
    InterruptedReply,
    LogTotalQuery,
    LogTotalReply,
    MissingDataReply,
    NoReply,
    Query,
    RankQuery,
    RankReply,
    RefreshQuery,
    RefreshReply,
    Reply,
    ScoresQuery,
    ScoresReply,
    ScoringInputs,
    ShardReport,
    ShardRequest,
    TopItemsReply,
    TopProbabilitiesQuery,
    TopScoresQuery,
    TopShuffledQuery,
    Vectors,
)
from seeker.cluster.partition import CatalogPart, RowRange, split_rows
from seeker.display import Shortlist
from seeker.display.base import LocalContext
from seeker.display.ranking import ValueRanking
from seeker.kernels.parallel import Interrupted, Stop, inner, never
from seeker.models.scores import DEFAULT_LIMITS, Limits, Scores
from seeker.models.warmup import warm_up
from seeker.models.words import KeywordMatches
from seeker.space import CatalogVectors, View
from seeker.types import Doubles

_SESSION_BYTES = 16_384
"""About what a session takes besides its arrays."""


class PartVectors:
    """The vectors of items by their rows in the whole catalog: a term is the same in every shard.

    Only the items of the part that are measured from these are counted from its beginning.
    elsewhere: the vectors of items outside the part, by row; it may grow.
    """

    def __init__(self, part: CatalogPart, elsewhere: Mapping[int, Vectors]) -> None:
        self._part = part
        self._own = CatalogVectors(part.views)
        self._elsewhere = elsewhere

    def vectors(self, view: int, rows: Sequence[int]) -> Doubles:
        """Return the vectors of some items in one view, (rows, d)."""
        first, own = self._part.rows.first, self._part.rows
        if all(row in own for row in rows):
            return self._own.vectors(view, [row - first for row in rows])
        vectors = [
            self._own.vectors(view, [row - first])[0] if row in own else self._elsewhere[row][view]
            for row in rows
        ]
        return np.stack(vectors)


class ShardSession:
    """One session in a shard: its scores, and what was sent along of the world outside."""

    def __init__(self, part: CatalogPart, inputs: ScoringInputs, limits: Limits) -> None:
        part = part.with_views(inputs.views)
        self._part = part
        self._vectors: dict[int, Vectors] = {}
        self._matches: dict[str, KeywordMatches] = {}
        model, person = inputs.model, inputs.person
        lookup = PartVectors(part, self._vectors)
        self.scores = Scores(model, model.space(part.views, person, lookup=lookup), limits=limits)
        # Warming up asks about the first and last rows, which only a space of its own knows.
        warm_up(Scores(model, model.space(part.views, person)))
        self._prior: str | None = None
        self._focus: tuple[float, ...] | None = None
        self.ranking: ValueRanking | None = None
        """The order by scores that was asked for last."""
        self.shortlist: Shortlist | None = None
        self.strained = False
        """Whether bounds have ever left many items to be evaluated."""

    def update(
        self, inputs: ScoringInputs, attachments: Attachments, rows: tuple[int, ...]
    ) -> MissingDataReply | None:
        """Bring the scores to a step; return what is missing where that cannot be done yet.

        rows: items whose vectors are needed beside those that the inputs speak of.
        """
        self._vectors.update(attachments.vectors)
        unknown = tuple(
            row
            for row in dict.fromkeys((*inputs.rows, *rows))
            if row not in self._vectors and row not in self._part.rows
        )
        new_prior, prior = inputs.prior != self._prior, attachments.prior
        no_prior = new_prior and inputs.prior is not None and prior is None
        self._matches.update(attachments.matches)
        words = inputs.evidence.words
        no_matches = tuple(term.name for term in words if term.name not in self._matches)
        if unknown or no_prior or no_matches:
            return MissingDataReply(prior=no_prior, rows=unknown, matches=no_matches)
        if new_prior:
            self.scores.set_prior(None if prior is None else prior.unpacked())
            self._prior = inputs.prior
        known = tuple(term.with_matches(self._matches[term.name]) for term in words)
        if inputs.focus != self._focus:
            self.scores.set_focus(inputs.focus)
            self._focus = inputs.focus
        self.scores.condition_on(replace(inputs.evidence, words=known))
        return None

    @property
    def nbytes(self) -> int:
        """About how many bytes this takes."""
        vectors = sum(vector.nbytes for many in self._vectors.values() for vector in many)
        vectors += sum(matches.nbytes for matches in self._matches.values())
        shortlist = 0 if self.shortlist is None else self.shortlist.nbytes
        return _SESSION_BYTES + self.scores.nbytes + vectors + shortlist


class ShardSessionCache:
    """Sessions by key, within so many bytes; each is lent to one caller at a time."""

    def __init__(self, part: CatalogPart, max_bytes: int, limits: Limits) -> None:
        self._part = part
        self._limits = limits
        self._max_bytes = max_bytes
        self._guard = threading.Lock()
        self._entries: OrderedDict[str, tuple[threading.Lock, ShardSession, int]] = OrderedDict()
        self._bytes = 0

    @contextmanager
    def lend(self, inputs: ScoringInputs) -> Iterator[ShardSession]:
        """Lend the session of some inputs, or a new one."""
        with self._guard:
            lock, session, size = self._entries.pop(inputs.key, (None, None, 0))
            if lock is None or session is None:
                lock, session = threading.Lock(), ShardSession(self._part, inputs, self._limits)
            self._entries[inputs.key] = (lock, session, size)
        with lock:
            try:
                yield session
            finally:
                self._measure(inputs.key, lock, session)

    def _measure(self, key: str, lock: threading.Lock, session: ShardSession) -> None:
        """Count what a session takes now, and drop others where it is too much."""
        size = session.nbytes
        with self._guard:
            entry = self._entries.get(key)
            if entry is None or entry[1] is not session:
                return  # dropped while it was in use
            self._bytes += size - entry[2]
            self._entries[key] = (lock, session, size)
            while self._bytes > self._max_bytes and len(self._entries) > 1:
                _, (_, _, oldest_size) = self._entries.popitem(last=False)
                self._bytes -= oldest_size

    @property
    def bytes(self) -> int:
        """How many bytes are kept."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._entries)


class Shard:
    """Some rows of a catalog; safe for any number of threads.

    memory: bytes that may be kept of sessions. limits: of each of them.
    """

    def __init__(
        self, part: CatalogPart, memory: int = 512_000_000, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.part = part
        self.sessions = ShardSessionCache(part, memory, limits)
        self._urgent = 0
        self._guard = threading.Lock()

    def answer(self, request: ShardRequest, given_up: Stop = never) -> Answer | MissingDataReply:
        """Answer a request, or say what is missing to do so.

        given_up: whether nobody waits for the answer any longer.
        """
        inputs, query, idle = request.inputs, request.query, request.idle
        with self._counted(0 if idle else 1), self.sessions.lend(inputs) as session:
            rows = query.page if isinstance(query, RefreshQuery) else ()
            missing = session.update(inputs, request.attachments, rows)
            if missing is not None:
                return missing
            try:
                stop = (lambda: given_up() or self._busy()) if idle else given_up
                return self._answer(session, inputs, query, stop)
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
        self, session: ShardSession, inputs: ScoringInputs, query: Query, stop: Stop
    ) -> Answer:
        scores = session.scores
        match query:
            case TopScoresQuery(width, per_click, wave, count):
                session.ranking = self._context(session, inputs).ordered(width, per_click, wave)
                items = self._top_items(session.ranking, count)
                session.strained |= session.ranking.strained
                return items
            case TopShuffledQuery(count):
                return self._top_items(self._context(session, inputs).shuffled(), count)
            case TopProbabilitiesQuery(width, per_click, log_total, count):
                context = self._context(session, inputs)
                return self._top_items(context.by_probability(width, per_click, log_total), count)
            case LogTotalQuery(so_far):
                logs = scores.everywhere(stop)
                if so_far is not None:
                    logs = np.concatenate([[so_far], logs])
                return LogTotalReply(float(np.logaddexp.reduce(logs)))
            case BeliefQuery():
                return _belief_part(scores, stop)
            case RankQuery(log_total, value):
                logs = scores.everywhere(stop) - log_total
                return RankReply(
                    higher=int(np.count_nonzero(logs > value)),
                    equal=int(np.count_nonzero(logs == value)),
                )
            case ScoresQuery():
                return ScoresReply(scores.everywhere(stop))
            case RefreshQuery(page):
                scores.catch_up(stop)
                if session.ranking is not None:
                    session.shortlist = session.ranking.shortlist()
                scores.anticipate(inputs.evidence, page, session.strained, stop)
                return RefreshReply()

    def _context(self, session: ShardSession, inputs: ScoringInputs) -> LocalContext:
        """Return the context of a ranking of this shard's rows, counted from its first."""
        rows = self.part.rows
        return LocalContext(
            scores=session.scores,
            seed=inputs.seed,
            step=inputs.step,
            page_size=1,
            blank=False,
            clicks={row - rows.first: count for row, count in inputs.clicks.items() if row in rows},
            later=tuple(some for some in map(rows.local, inputs.later) if len(some)),
            first=rows.first,
            shortlist=session.shortlist,
        )

    def _top_items(self, ranking: ValueRanking, count: int) -> TopItemsReply:
        rows = ranking.early(count)
        return TopItemsReply(rows + self.part.rows.first, ranking.values(rows))


_LEAST_LOG_SHARE = -700.0
"""Items whose share of the best one's probability has a lower log add nothing to any sum."""


def _belief_part(scores: Scores, stop: Stop) -> BeliefReply:
    """Return the shard's part of the belief."""
    logs = scores.everywhere(stop)
    top = float(logs.max())
    if top == -math.inf:
        return BeliefReply(top, 0.0, 0.0, np.zeros(scores.thetas))
    logs -= top
    likely = logs[logs > _LEAST_LOG_SHARE]
    shares = np.exp(likely)
    return BeliefReply(top, float(shares.sum()), inner(shares, likely), scores.settings(top))


class InProcessShards:
    """Shards that are asked one after the other; memory, limits: as in `Shard`."""

    def __init__(
        self,
        views: Mapping[str, View],
        shards: int,
        memory: int = 512_000_000,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.ranges: tuple[RowRange, ...] = split_rows(len(next(iter(views.values()))), shards)
        self.shards = [Shard(CatalogPart.of(views, rows), memory, limits) for rows in self.ranges]

    def ask(
        self, requests: Mapping[int, ShardRequest], seconds: float, stop: Stop | None = None
    ) -> dict[int, Reply]:
        """Ask some shards, by number."""
        return {
            shard: self.shards[shard].answer(request, stop or never)
            for shard, request in requests.items()
        }

    def reports(self, seconds: float) -> dict[int, ShardReport | NoReply]:
        """Return how the shards are: always ready."""
        pid = os.getpid()
        return {
            number: ShardReport(pid, "", True, False, len(shard.sessions), shard.sessions.bytes)
            for number, shard in enumerate(self.shards)
        }

    @property
    def silent(self) -> Mapping[int, str]:
        """Nobody: shards in this process always answer."""
        return {}

    def deliver(self, shard: int, seconds: float) -> None:
        """Do nothing: every shard has its part."""

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""
