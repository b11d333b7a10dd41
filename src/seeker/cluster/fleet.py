"""All shards of a catalog, asked as one: tells them what they lack, and notices who is silent."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from seeker.cluster.failures import ShardsSilent
from seeker.cluster.messages import Answer, Lacking, Moment, Question, Stopped, Supply
from seeker.cluster.prior import Prior, PriorPart
from seeker.cluster.ranges import Range
from seeker.cluster.space import FrontSpace
from seeker.cluster.transport import Call, Silent, Transport
from seeker.models.scores import Interrupted

Kind = TypeVar("Kind")


@dataclass(eq=False)
class Told:
    """What one session's front has told each shard so far; a hint only, for shards may forget.

    space: where vectors are read.
    """

    space: FrontSpace
    vectors: dict[int, set[int]] = field(default_factory=dict)
    priors: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Known:
    """A moment of a session as the front knows it, with what shards may have to be told."""

    moment: Moment
    prior: Prior | None
    told: Told

    def supply(self, shard: int, rows: Range, lacking: Lacking) -> Supply:
        """Return what a shard probably does not know yet, and what it says it lacks."""
        told = self.told.vectors.setdefault(shard, set())
        told.difference_update(lacking.rows)
        wanted = dict.fromkeys((*self.moment.rows, *lacking.rows))
        new = [row for row in wanted if row not in told and row not in rows]
        told.update(new)
        vectors = {row: self.told.space.vectors(row) for row in new}
        return Supply(vectors, self._part(shard, lacking))

    def _part(self, shard: int, lacking: Lacking) -> PriorPart | None:
        """Return a shard's part of the prior, unless it knows it."""
        if self.prior is None:
            return None
        if not lacking.prior and self.told.priors.get(shard) == self.prior.name:
            return None
        self.told.priors[shard] = self.prior.name
        return self.prior.parts[shard]


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

    def __len__(self) -> int:
        return len(self.ranges)

    def ask(
        self,
        known: Known,
        question: Question,
        kind: type[Kind],
        among: Sequence[int] | None = None,
        whole: bool = False,
    ) -> tuple[dict[int, Kind], frozenset[int]]:
        """Return the answers by shard, and the shards that are silent.

        `Interrupted` is raised if a shard had something more urgent to do than what may wait.
        among: the shards to ask (all). Silence is an error unless partial answers will do; it is
        always one if the answer must be whole, or if all are asked and nobody answers.
        """
        asked = range(len(self)) if among is None else among
        answers, silent = self._gather(known, question, list(asked))
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
        self, known: Known, question: Question, asked: list[int]
    ) -> tuple[dict[int, Answer], dict[int, str]]:
        """Ask until all have answered or time is up."""
        until = time.monotonic() + self._seconds
        lacking = dict.fromkeys(asked, Lacking())
        answers: dict[int, Answer] = {}
        silent: dict[int, str] = {}
        while lacking:
            calls: dict[int, Call] = {
                shard: (known.moment, known.supply(shard, self.ranges[shard], needs), question)
                for shard, needs in lacking.items()
            }
            replies = self.transport.ask(calls, max(0.0, until - time.monotonic()))
            lacking = {}
            for shard, reply in replies.items():
                if isinstance(reply, Silent):
                    silent[shard] = reply.why
                elif not isinstance(reply, Lacking):
                    answers[shard] = reply
                elif reply.part and not self.transport.deliver(
                    shard, max(0.0, until - time.monotonic())
                ):
                    silent[shard] = "its part of the catalog is on the way"
                elif time.monotonic() < until:
                    lacking[shard] = reply
                else:
                    silent[shard] = "it had to be told everything again"
        return answers, silent

    def close(self) -> None:
        """Let go of the shards."""
        self.transport.close()
