"""Shards in this very process: for trying things out, and to test the merging by itself."""

from __future__ import annotations

import os
from collections.abc import Mapping

from seeker.cluster.messages import Report
from seeker.cluster.part import Part
from seeker.cluster.ranges import Range, split
from seeker.cluster.shard import Shard
from seeker.cluster.transport import Call, Reply, Silent
from seeker.models.stopping import Stop, never
from seeker.space import View


class InProcess:
    """Shards that are asked one after the other; memory: bytes each may keep of sessions."""

    def __init__(self, views: Mapping[str, View], shards: int, memory: int = 512_000_000) -> None:
        self.ranges: tuple[Range, ...] = split(len(next(iter(views.values()))), shards)
        self.shards = [Shard(Part.of(views, one), memory) for one in self.ranges]

    def ask(
        self, calls: Mapping[int, Call], seconds: float, stop: Stop | None = None
    ) -> dict[int, Reply]:
        """Ask some shards, by number."""
        given_up = stop or never
        return {
            number: self.shards[number].answer(*call, given_up) for number, call in calls.items()
        }

    def reports(self, seconds: float) -> dict[int, Report | Silent]:
        """Return how the shards are: always ready."""
        return {
            number: Report(os.getpid(), "", True, False, len(shard.shelf), shard.shelf.bytes)
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
