"""All shards of a catalog, asked as one: tells them what they lack, and notices who is silent."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from seeker.cluster.messages import (
    Answer,
    InterruptedReply,
    Question,
    SessionMoment,
    ShardReport,
    SupplyMessage,
    SupplyRequest,
)
from seeker.cluster.partition import RowRange
from seeker.cluster.prior import Prior, PriorPart
from seeker.cluster.scores import FrontSpace
from seeker.cluster.transport import Call, SilentShard, Transport
from seeker.errors import SeekerError
from seeker.kernels.parallel import Interrupted, Stop
from seeker.types import Doubles, Floats


class ShardsSilentError(SeekerError):
    """Some shards did not answer in time; nothing was lost, and the same may be asked again."""

    exit_code = 6
    http_status = 503
    title = "Part of the catalog does not answer"

    def __init__(self, shards: Sequence[int], of: int, why: str = "") -> None:
        named = ", ".join(str(shard) for shard in shards)
        reason = f" ({why})" if why else ""
        super().__init__(
            f"{len(shards)} of {of} shards did not answer in time: number {named}{reason}.",
            "Nothing was lost; try again in a few seconds.",
        )
        self.shards = tuple(shards)


class ClusterError(SeekerError):
    """The cluster cannot be reached or started."""

    exit_code = 6
    http_status = 503
    title = "The cluster cannot be reached"


@dataclass(eq=False)
class SuppliedState:
    """What one session's front has told each shard so far; a hint only, for shards may forget.

    space: where vectors are read.
    """

    space: FrontSpace
    vectors: dict[int, set[int]] = field(default_factory=dict)
    priors: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ShardState:
    """A moment of a session as the front knows it, with what shards may have to be told."""

    moment: SessionMoment
    prior: Prior | None
    told: SuppliedState

    def supply(self, shard: int, rows: RowRange, lacking: SupplyRequest) -> SupplyMessage:
        """Return what a shard probably does not know yet, and what it says it lacks."""
        told = self.told.vectors.setdefault(shard, set())
        told.difference_update(lacking.rows)
        wanted = dict.fromkeys((*self.moment.rows, *lacking.rows))
        new = [row for row in wanted if row not in told and row not in rows]
        told.update(new)
        vectors = {row: self.told.space.vectors(row) for row in new}
        return SupplyMessage(vectors, self._part(shard, lacking))

    def _part(self, shard: int, lacking: SupplyRequest) -> PriorPart | None:
        """Return a shard's part of the prior, unless it knows it."""
        if self.prior is None:
            return None
        if not lacking.prior and self.told.priors.get(shard) == self.prior.name:
            return None
        self.told.priors[shard] = self.prior.name
        return self.prior.parts[shard]


def session_key(
    seed: int,
    model: object,
    person: Mapping[str, Doubles] | None,
    departed: Sequence[Mapping[str, Floats]],
) -> str:
    """Return a name for what a shard keeps of a session; other fronts find it, too."""
    digest = hashlib.sha256(repr((seed, model)).encode())
    for one in ([] if person is None else [person], departed):
        for by_view in one:
            for name in sorted(by_view):
                digest.update(repr((name, by_view[name].shape)).encode())
                digest.update(by_view[name].tobytes())
    return digest.hexdigest()[:32]


Kind = TypeVar("Kind")

_GLANCE, _LONGER_GLANCE = 0.1, 1.0
"""Seconds to wait for a shard that was silent a moment ago: where parts will do, and otherwise."""


@dataclass(frozen=True)
class FleetHealth:
    """How many shards there are; silent: those that could not answer when last asked, and why."""

    shards: int
    silent: Mapping[int, str]


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
        self._fell_silent: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self.ranges)

    def ask(
        self,
        known: ShardState,
        question: Question,
        kind: type[Kind],
        among: Sequence[int] | None = None,
        whole: bool = False,
        stop: Stop | None = None,
    ) -> tuple[dict[int, Kind], frozenset[int]]:
        """Return the answers by shard, and the shards that are silent.

        stop: given where the answer may wait, see `Transport.ask`; `Interrupted` is also raised if
        a shard had something more urgent to do. among: the shards to ask (all). Silence is an
        error unless partial answers will do; it is always one if the answer must be whole, or if
        all are asked and nobody answers.
        """
        asked = list(range(len(self)) if among is None else among)
        late = self._late(asked) if not whole and stop is None else []
        others = [shard for shard in asked if shard not in late]
        answers, silent = self._gather(known, question, others, self._seconds, stop)
        self._fell_silent |= dict.fromkeys(silent, time.monotonic())
        if late:
            glance = _GLANCE if self.partial_ok else min(_LONGER_GLANCE, self._seconds)
            found, still = self._gather(known, question, late, glance, None)
            answers, silent = answers | found, silent | still
        nobody = not answers and among is None
        if silent and (nobody or whole or not self.partial_ok):
            raise ShardsSilentError(sorted(silent), len(self), next(iter(silent.values())))
        for answer in answers.values():
            if isinstance(answer, InterruptedReply):
                raise Interrupted
            if not isinstance(answer, kind):
                raise TypeError(f"A shard answered {type(answer).__name__}, not {kind.__name__}.")
        return answers, frozenset(silent)  # type: ignore[return-value]

    def _gather(
        self,
        known: ShardState,
        question: Question,
        asked: list[int],
        seconds: float,
        stop: Stop | None,
    ) -> tuple[dict[int, Answer], dict[int, str]]:
        """Ask until all have answered or time is up."""
        until = time.monotonic() + seconds
        lacking = dict.fromkeys(asked, SupplyRequest())
        answers: dict[int, Answer] = {}
        silent: dict[int, str] = {}
        while lacking:
            calls: dict[int, Call] = {
                shard: (known.moment, known.supply(shard, self.ranges[shard], needs), question)
                for shard, needs in lacking.items()
            }
            left = seconds if stop else max(0.0, until - time.monotonic())
            replies = self.transport.ask(calls, left, stop)
            lacking = {}
            for shard, reply in replies.items():
                if isinstance(reply, SilentShard):
                    silent[shard] = reply.why
                elif not isinstance(reply, SupplyRequest):
                    answers[shard] = reply
                elif reply.part and (trouble := self._without_rows(shard, until)):
                    silent[shard] = trouble
                elif stop or time.monotonic() < until:
                    lacking[shard] = reply
                else:
                    silent[shard] = "it had to be told everything again"
        return answers, silent

    def _late(self, asked: list[int]) -> list[int]:
        """Return those that were silent a moment ago, for whom it is no use to wait as long again.

        One click asks several questions, and people whose clicks need no such shard wait for a
        thread meanwhile. Where parts would do but there are none, it is waited as for the first.
        """
        since = time.monotonic() - self._seconds
        late = [shard for shard in asked if self._fell_silent.get(shard, since) > since]
        return [] if self.partial_ok and len(late) == len(self) else late

    def _without_rows(self, shard: int, until: float) -> str | None:
        """Bring a shard its part of the catalog; return why it is not there in time, or None."""
        return self.transport.deliver(shard, max(0.0, until - time.monotonic()))

    def health(self) -> FleetHealth:
        """Return how the shards are, as far as it is known: nobody is asked, nobody waits."""
        return FleetHealth(len(self), dict(sorted(self.transport.silent.items())))

    def wait(self, seconds: float) -> None:
        """Wait until all shards have their part of the catalog."""
        until = time.monotonic() + seconds
        reports = self.transport.reports(seconds)
        silent = {shard: one.why for shard, one in reports.items() if isinstance(one, SilentShard)}
        if silent:
            raise ShardsSilentError(sorted(silent), len(self), next(iter(silent.values())))
        for shard, report in reports.items():
            there = isinstance(report, ShardReport) and report.ready
            trouble = None if there else self._without_rows(shard, until)
            if trouble is not None:
                raise ShardsSilentError([shard], len(self), trouble)

    def close(self) -> None:
        """Let go of the shards."""
        self.transport.close()


class Inquiry:
    """Asks all shards about one moment, and remembers whether any of them was silent.

    silent: some answers are missing, so whatever was made of the others is not the whole truth.
    """

    def __init__(self, fleet: Fleet, known: ShardState) -> None:
        self._fleet = fleet
        self._known = known
        self.silent = False

    def ask(
        self,
        question: Question,
        kind: type[Kind],
        whole: bool = False,
        stop: Stop | None = None,
    ) -> list[Kind]:
        """Return the answers of the shards in order; whole, stop: see `Fleet.ask`."""
        answers, silent = self._fleet.ask(self._known, question, kind, whole=whole, stop=stop)
        self.silent |= bool(silent)
        return [answers[shard] for shard in sorted(answers)]

    def chain(self, question: Callable[[float | None], Question]) -> float:
        """Return a number that the shards make one after the other, each from the one before."""
        found: float | None = None
        for shard in range(len(self._fleet)):
            answers, silent = self._fleet.ask(self._known, question(found), float, among=[shard])
            self.silent |= bool(silent)
            found = answers.get(shard, found)
        return float("-inf") if found is None else found
