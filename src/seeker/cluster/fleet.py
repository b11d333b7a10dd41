"""All shards of a catalog, asked as one: sends them what they lack, and notices who is silent."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from seeker.cluster.messages import (
    Answer,
    Attachments,
    InterruptedReply,
    LogTotalQuery,
    LogTotalReply,
    MissingDataReply,
    NoReply,
    Query,
    ScoringInputs,
    ShardReport,
    ShardRequest,
    Transport,
    Vectors,
)
from seeker.cluster.partition import RowRange
from seeker.cluster.prior import Prior, PriorPart
from seeker.errors import SeekerError
from seeker.kernels.parallel import Interrupted, Stop
from seeker.models.words import KeywordMatches
from seeker.space import CatalogVectors


class ShardsSilentError(SeekerError):
    """Some shards did not answer in time; nothing was lost, and the same may be asked again."""

    exit_code = 6
    http_status = 503

    def __init__(self, silent: Mapping[int, str], total: int) -> None:
        """silent: the shards that did not answer, and why; total: how many shards there are."""
        self.shards = tuple(sorted(silent))
        numbers = ", ".join(map(str, self.shards))
        reason = next(iter(silent.values()))
        super().__init__(
            f"{len(silent)} of {total} shards did not answer in time: number {numbers} ({reason}).",
            "Nothing was lost; try again in a few seconds.",
        )


class ClusterError(SeekerError):
    """The cluster cannot be reached or started."""

    exit_code = 6
    http_status = 503


@dataclass(eq=False)
class SentAttachments:
    """What one session's front has sent to each shard; a hint only, for shards may forget."""

    vectors: dict[int, set[int]] = field(default_factory=dict)
    priors: dict[int, str] = field(default_factory=dict)
    matches: dict[int, set[str]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class RequestBuilder:
    """Makes the requests of one session at one step, with what a shard needs to answer them.

    prior: of the whole catalog, None for an even one. vectors: of all items. words: what matches
    those that were said, in the whole catalog.
    """

    inputs: ScoringInputs
    prior: Prior | None
    vectors: CatalogVectors
    words: Sequence[KeywordMatches]
    sent: SentAttachments

    def build(
        self, shard: int, rows: RowRange, query: Query, missing: MissingDataReply, idle: bool
    ) -> ShardRequest:
        """Return a request to a shard; rows: that it holds. missing: what it says it lacks."""
        attachments = Attachments(
            self._missing_vectors(shard, rows, missing),
            self._missing_prior(shard, missing),
            self._missing_matches(shard, rows, missing),
        )
        return ShardRequest(self.inputs, attachments, query, idle)

    def _missing_vectors(
        self, shard: int, rows: RowRange, missing: MissingDataReply
    ) -> dict[int, Vectors]:
        """Return the vectors that a shard probably does not have yet, and those it lacks."""
        sent = self.sent.vectors.setdefault(shard, set())
        sent.difference_update(missing.rows)
        needed = dict.fromkeys((*self.inputs.rows, *missing.rows))
        new = [row for row in needed if row not in sent and row not in rows]
        sent.update(new)
        return {row: self.vectors.item(row) for row in new}

    def _missing_prior(self, shard: int, missing: MissingDataReply) -> PriorPart | None:
        """Return a shard's part of the prior, unless it has that."""
        if self.prior is None:
            return None
        if not missing.prior and self.sent.priors.get(shard) == self.prior.name:
            return None
        self.sent.priors[shard] = self.prior.name
        return self.prior.parts[shard]

    def _missing_matches(
        self, shard: int, rows: RowRange, missing: MissingDataReply
    ) -> dict[str, KeywordMatches]:
        """Return a shard's parts of what matches words, as far as it probably lacks them."""
        sent = self.sent.matches.setdefault(shard, set())
        sent.difference_update(missing.matches)
        new = [matches for matches in self.words if matches.name not in sent]
        sent.update(matches.name for matches in new)
        return {matches.name: matches.part(rows.first, rows.last) for matches in new}


@dataclass(frozen=True)
class FleetHealth:
    """How many shards there are; silent: those that could not answer when last asked, and why."""

    shards: int
    silent: Mapping[int, str]


Kind = TypeVar("Kind")

_PARTIAL_RETRY_SECONDS, _WHOLE_RETRY_SECONDS = 0.1, 1.0
"""How long to wait for a shard that was silent a moment ago: where parts will do, and otherwise."""


class Fleet:
    """The shards of one catalog.

    seconds: how long to wait for an answer. partial_ok: answer from those shards that do answer,
    and say so, instead of not at all.
    """

    def __init__(
        self, transport: Transport, seconds: float = 10.0, partial_ok: bool = False
    ) -> None:
        self.transport = transport
        self.ranges = tuple(transport.ranges)
        self.partial_ok = partial_ok
        self._seconds = seconds
        self._silent_since: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self.ranges)

    def ask(
        self,
        builder: RequestBuilder,
        query: Query,
        kind: type[Kind],
        among: Sequence[int] | None = None,
        whole: bool = False,
        stop: Stop | None = None,
    ) -> tuple[dict[int, Kind], frozenset[int]]:
        """Return the answers by shard, and the shards that are silent.

        kind: of the answers. stop: given where the answer may wait, see `Transport.ask`;
        `Interrupted` is also raised if a shard had something more urgent to do. among: the shards
        to ask (all). Silence is an error unless partial answers will do; it is always one if the
        answer must be whole, or if all are asked and nobody answers.
        """
        shards = list(range(len(self)) if among is None else among)
        late = self._recently_silent(shards) if not whole and stop is None else []
        others = [shard for shard in shards if shard not in late]
        answers, silent = self._gather(builder, query, others, self._seconds, stop)
        self._silent_since |= dict.fromkeys(silent, time.monotonic())
        if late:
            seconds = _PARTIAL_RETRY_SECONDS if self.partial_ok else _WHOLE_RETRY_SECONDS
            late_answers, still_silent = self._gather(
                builder, query, late, min(seconds, self._seconds), None
            )
            answers, silent = answers | late_answers, silent | still_silent
        nobody = not answers and among is None
        if silent and (nobody or whole or not self.partial_ok):
            raise ShardsSilentError(silent, len(self))
        for answer in answers.values():
            if isinstance(answer, InterruptedReply):
                raise Interrupted
            if not isinstance(answer, kind):
                raise TypeError(f"A shard answered {type(answer).__name__}, not {kind.__name__}.")
        return answers, frozenset(silent)  # type: ignore[return-value]

    def _gather(
        self,
        builder: RequestBuilder,
        query: Query,
        shards: list[int],
        seconds: float,
        stop: Stop | None,
    ) -> tuple[dict[int, Answer], dict[int, str]]:
        """Ask until all have answered or time is up; return answers, and who is silent and why."""
        deadline = time.monotonic() + seconds
        missing = dict.fromkeys(shards, MissingDataReply())
        answers: dict[int, Answer] = {}
        silent: dict[int, str] = {}
        while missing:
            requests = {
                shard: builder.build(shard, self.ranges[shard], query, lack, stop is not None)
                for shard, lack in missing.items()
            }
            left = seconds if stop else max(0.0, deadline - time.monotonic())
            replies = self.transport.ask(requests, left, stop)
            missing = {}
            for shard, reply in replies.items():
                if isinstance(reply, NoReply):
                    silent[shard] = reply.reason
                elif not isinstance(reply, MissingDataReply):
                    answers[shard] = reply
                elif reply.part and (reason := self._deliver(shard, deadline)):
                    silent[shard] = reason
                elif stop or time.monotonic() < deadline:
                    missing[shard] = reply
                else:
                    silent[shard] = "it had to be told everything again"
        return answers, silent

    def _recently_silent(self, shards: list[int]) -> list[int]:
        """Return those that were silent a moment ago, for whom it is no use to wait as long again.

        One click asks several questions, and people whose clicks need no such shard wait for a
        thread meanwhile. Where parts would do but there are none, it is waited as for the first.
        """
        since = time.monotonic() - self._seconds
        late = [shard for shard in shards if self._silent_since.get(shard, since) > since]
        return [] if self.partial_ok and len(late) == len(self) else late

    def _deliver(self, shard: int, deadline: float) -> str | None:
        """Bring a shard its part of the catalog; return why it is not there in time, or None."""
        return self.transport.deliver(shard, max(0.0, deadline - time.monotonic()))

    def health(self) -> FleetHealth:
        """Return how the shards are, as far as it is known: nobody is asked, nobody waits."""
        return FleetHealth(len(self), dict(sorted(self.transport.silent.items())))

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until all shards have their part of the catalog."""
        deadline = time.monotonic() + seconds
        reports = self.transport.reports(seconds)
        silent = {shard: one.reason for shard, one in reports.items() if isinstance(one, NoReply)}
        if silent:
            raise ShardsSilentError(silent, len(self))
        for shard, report in reports.items():
            ready = isinstance(report, ShardReport) and report.ready
            reason = None if ready else self._deliver(shard, deadline)
            if reason is not None:
                raise ShardsSilentError({shard: reason}, len(self))

    def close(self) -> None:
        """Let go of the shards."""
        self.transport.close()


class QueryRound:
    """All queries to a fleet about one step of a session.

    partial: some answers are missing, so whatever was made of the others is not the whole truth.
    """

    def __init__(self, fleet: Fleet, builder: RequestBuilder) -> None:
        self._fleet = fleet
        self._builder = builder
        self.partial = False

    def ask(
        self,
        query: Query,
        kind: type[Kind],
        whole: bool = False,
        stop: Stop | None = None,
    ) -> list[Kind]:
        """Return the answers of the shards in order; whole, stop: see `Fleet.ask`."""
        answers, silent = self._fleet.ask(self._builder, query, kind, whole=whole, stop=stop)
        self.partial |= bool(silent)
        return [answers[shard] for shard in sorted(answers)]

    def log_total(self) -> float:
        """Return the log of the sum of e**score, which the shards make one after the other."""
        total: float | None = None
        for shard in range(len(self._fleet)):
            query = LogTotalQuery(total)
            answers, silent = self._fleet.ask(self._builder, query, LogTotalReply, among=[shard])
            self.partial |= bool(silent)
            total = answers[shard].log_total if shard in answers else total
        return float("-inf") if total is None else total
