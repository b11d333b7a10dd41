"""How questions get to shards and answers back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from seeker.cluster.messages import Answer, Lacking, Moment, Question, Report, Supply
from seeker.cluster.ranges import Range
from seeker.models.stopping import Stop

Call: TypeAlias = tuple[Moment, Supply, Question]


@dataclass(frozen=True)
class Silent:
    """In place of an answer: the shard gave none in time; why, in a few words."""

    why: str


Reply: TypeAlias = Answer | Lacking | Silent

NO_ROWS = "its part of the catalog is on the way"
"""Why a shard cannot answer that has no rows yet."""


class Transport(Protocol):
    """The way to the shards of one catalog; safe for any number of threads."""

    @property
    def ranges(self) -> Sequence[Range]:
        """The rows that each shard holds."""
        ...

    def ask(
        self, calls: Mapping[int, Call], seconds: float, stop: Stop | None = None
    ) -> dict[int, Reply]:
        """Ask some shards at once, by number, and wait for all of them, but no longer than that.

        stop: given where it may wait. Then it takes as long as it takes, for as long as the shards
        show that they live; `Interrupted` is raised as soon as it is to stop.
        """
        ...

    def reports(self, seconds: float) -> dict[int, Report | Silent]:
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
