"""All shards of a catalog, asked as one: tells them what they lack, and notices who is silent."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from seeker.cluster.failures import ShardsSilent
from seeker.cluster.known import Known
from seeker.cluster.messages import Answer, Lacking, Question, Report, Stopped
from seeker.cluster.transport import Call, Silent, Transport
from seeker.models.stopping import Interrupted, Stop

Kind = TypeVar("Kind")

_GLANCE, _LONGER_GLANCE = 0.1, 1.0
"""Seconds to wait for a shard that was silent a moment ago: where parts will do, and otherwise."""


@dataclass(frozen=True)
class Health:
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
        known: Known,
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
            raise ShardsSilent(sorted(silent), len(self), next(iter(silent.values())))
        for answer in answers.values():
            if isinstance(answer, Stopped):
                raise Interrupted
            if not isinstance(answer, kind):
                raise TypeError(f"A shard answered {type(answer).__name__}, not {kind.__name__}.")
        return answers, frozenset(silent)  # type: ignore[return-value]

    def _gather(
        self,
        known: Known,
        question: Question,
        asked: list[int],
        seconds: float,
        stop: Stop | None,
    ) -> tuple[dict[int, Answer], dict[int, str]]:
        """Ask until all have answered or time is up."""
        until = time.monotonic() + seconds
        lacking = dict.fromkeys(asked, Lacking())
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
                if isinstance(reply, Silent):
                    silent[shard] = reply.why
                elif not isinstance(reply, Lacking):
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

    def health(self) -> Health:
        """Return how the shards are, as far as it is known: nobody is asked, nobody waits."""
        return Health(len(self), dict(sorted(self.transport.silent.items())))

    def wait(self, seconds: float) -> None:
        """Wait until all shards have their part of the catalog."""
        until = time.monotonic() + seconds
        reports = self.transport.reports(seconds)
        silent = {shard: one.why for shard, one in reports.items() if isinstance(one, Silent)}
        if silent:
            raise ShardsSilent(sorted(silent), len(self), next(iter(silent.values())))
        for shard, report in reports.items():
            there = isinstance(report, Report) and report.ready
            trouble = None if there else self._without_rows(shard, until)
            if trouble is not None:
                raise ShardsSilent([shard], len(self), trouble)

    def close(self) -> None:
        """Let go of the shards."""
        self.transport.close()
