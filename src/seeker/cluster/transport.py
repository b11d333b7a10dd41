"""How requests get to shards and replies back; and shards in this very process."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Protocol

from seeker.cluster.messages import NoReply, Reply, ShardReport, ShardRequest
from seeker.cluster.partition import CatalogPart, RowRange, split_rows
from seeker.cluster.shard import Shard
from seeker.kernels.parallel import Stop, never
from seeker.models.limits import DEFAULT_LIMITS, Limits
from seeker.space import View

NO_ROWS = "its part of the catalog is on the way"
"""Why a shard is silent that has no rows yet."""


class Transport(Protocol):
    """The way to the shards of one catalog; safe for any number of threads."""

    @property
    def ranges(self) -> Sequence[RowRange]:
        """The rows that each shard holds."""
        ...

    def ask(
        self, requests: Mapping[int, ShardRequest], seconds: float, stop: Stop | None = None
    ) -> dict[int, Reply]:
        """Ask some shards at once, by number, and wait for all of them, but no longer than that.

        stop: given where it may wait. Then it takes as long as it takes, for as long as the shards
        show that they live; `Interrupted` is raised as soon as it is to stop.
        """
        ...

    def reports(self, seconds: float) -> dict[int, ShardReport | NoReply]:
        """Ask all shards how they are, by number, and wait no longer than that."""
        ...

    @property
    def silent(self) -> Mapping[int, str]:
        """The shards that could not answer when they were last asked, and why."""
        ...

    def deliver(self, shard: int, seconds: float) -> str | None:
        """Bring a shard its part of the catalog; return why it is not there in time, or None."""
        ...

    def close(self) -> None:
        """Let go of the shards; others may still use them."""
        ...


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
