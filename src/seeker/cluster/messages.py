"""What the front asks and what shards reply, and the way between them.

Rows are always counted in the whole catalog.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from seeker.cluster.partition import RowRange
from seeker.cluster.prior import PriorPart
from seeker.display.noise import Wave
from seeker.kernels.parallel import Stop
from seeker.models.base import Evidence, Model
from seeker.models.words import KeywordMatches
from seeker.types import Doubles, Rows

Vectors: TypeAlias = tuple[Doubles, ...]
"""The vectors of one item, (d,) each, in the order of the views."""


@dataclass(frozen=True, eq=False)
class ScoringInputs:
    """All of a session that the scores and the order of items depend on, at one step.

    key: a name under which a shard keeps what it has computed. views: the names of those that are
    compared. evidence: without what matches the words of it, which is named only. rows: the items
    that the evidence speaks of. prior: the name of the log-prior, None for an even one. focus: by
    how much each view matters more than usual, (views,), None: as usual. clicks, later: as in
    `display.RankingContext`.
    """

    key: str
    views: tuple[str, ...]
    model: Model
    person: Mapping[str, Doubles] | None
    evidence: Evidence
    rows: tuple[int, ...]
    prior: str | None
    focus: tuple[float, ...] | None
    seed: int
    step: int
    clicks: Mapping[int, int] = field(default_factory=dict)
    later: tuple[Rows, ...] = ()


@dataclass(frozen=True, eq=False)
class Attachments:
    """What a shard may not have yet.

    vectors: of items that other shards hold. prior: its part of it. matches: by name, its part of
    what matches words.
    """

    vectors: Mapping[int, Vectors] = field(default_factory=dict)
    prior: PriorPart | None = None
    matches: Mapping[str, KeywordMatches] = field(default_factory=dict)


@dataclass(frozen=True)
class TopScoresQuery:
    """Ask for the first items by score + width · noise; wave: as in `RankingContext.ordered`."""

    width: float
    per_click: bool
    wave: Wave | None
    count: int


@dataclass(frozen=True)
class TopShuffledQuery:
    """Ask for the first items in an order that is nothing but noise."""

    count: int


@dataclass(frozen=True)
class TopProbabilitiesQuery:
    """Ask for the first items by probability + width · noise; log_total makes scores logs of it."""

    width: float
    per_click: bool
    log_total: float
    count: int


@dataclass(frozen=True)
class LogTotalQuery:
    """Ask for the log of the sum of e**score, going on from the sum over the shards before.

    The sum runs through all items in their order, as on one machine, so that it is the same to
    the last bit.
    """

    so_far: float | None


@dataclass(frozen=True)
class BeliefQuery:
    """Ask for the shard's part of the belief."""


@dataclass(frozen=True)
class RankQuery:
    """Ask how many items are more probable than a value, and how many exactly as probable."""

    log_total: float
    value: float


@dataclass(frozen=True)
class ScoresQuery:
    """Ask for the scores of all items."""


@dataclass(frozen=True)
class RefreshQuery:
    """Ask for bounds to be brought up to date; page: what the next click may be on."""

    page: tuple[int, ...]


Query: TypeAlias = (
    TopScoresQuery
    | TopShuffledQuery
    | TopProbabilitiesQuery
    | LogTotalQuery
    | BeliefQuery
    | RankQuery
    | ScoresQuery
    | RefreshQuery
)


@dataclass(frozen=True, eq=False)
class ShardRequest:
    """A query about a session at one step; idle: it may wait, so anything else comes first."""

    inputs: ScoringInputs
    attachments: Attachments
    query: Query
    idle: bool = False


@dataclass(frozen=True, eq=False)
class TopItemsReply:
    """The first items of a shard, best first: rows and their values, (count,) each."""

    rows: Rows
    values: Doubles


@dataclass(frozen=True)
class LogTotalReply:
    """The log of the sum of e**score over the items of this shard and of those before it."""

    log_total: float


@dataclass(frozen=True, eq=False)
class BeliefReply:
    """A shard's part of the belief, relative to its best score, top (−inf: nothing is open).

    mass: Σ e**(score − top). spread: Σ e**(score − top) · (score − top). settings: the posterior
    of θ, (thetas,), as far as these items tell.
    """

    top: float
    mass: float
    spread: float
    settings: Doubles


@dataclass(frozen=True)
class RankReply:
    """How many items are more probable than a value, and how many exactly as probable."""

    higher: int
    equal: int


@dataclass(frozen=True, eq=False)
class ScoresReply:
    """The scores of all items of a shard, (items,)."""

    scores: Doubles


@dataclass(frozen=True)
class RefreshReply:
    """The bounds are up to date."""


@dataclass(frozen=True)
class InterruptedReply:
    """Something else was asked meanwhile: what may wait is not done yet."""


@dataclass(frozen=True)
class MissingDataReply:
    """The shard cannot answer before it has more.

    part: its part of the catalog. prior: its part of the prior. rows: the items whose vectors it
    needs. matches: names of what matches words.
    """

    part: bool = False
    prior: bool = False
    rows: tuple[int, ...] = ()
    matches: tuple[str, ...] = ()


@dataclass(frozen=True)
class NoReply:
    """In place of a reply: the shard is silent; reason: why, in a few words."""

    reason: str


Answer: TypeAlias = (
    TopItemsReply
    | LogTotalReply
    | BeliefReply
    | RankReply
    | ScoresReply
    | RefreshReply
    | InterruptedReply
)
"""A reply that settles the query."""

Reply: TypeAlias = Answer | MissingDataReply | NoReply


@dataclass(frozen=True)
class ShardReport:
    """How a shard is: its process and Ray's name of its machine, and what it keeps.

    ready: it has its part of the catalog. copied: that part is a copy on its own disk.
    """

    pid: int
    node: str
    ready: bool
    copied: bool
    sessions: int
    bytes: int


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
