"""What the front asks and what shards answer. Rows are always counted in the whole catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from seeker.cluster.prior import PriorPart
from seeker.models.base import Evidence, Model
from seeker.types import Doubles, Rows

Vectors: TypeAlias = tuple[Doubles, ...]
"""The vectors of one item, (d,) each, in the order of the views."""


@dataclass(frozen=True, eq=False)
class SessionMoment:
    """All of a session that the scores and the order of items depend on, at one step.

    key: a name under which a shard keeps what it has computed. rows: the items that the evidence
    speaks of. prior: the name of the log-prior, None for an even one. clicks, later: as in
    `display.RankingContext`.
    """

    key: str
    model: Model
    person: Mapping[str, Doubles] | None
    evidence: Evidence
    rows: tuple[int, ...]
    prior: str | None
    seed: int
    step: int
    clicks: Mapping[int, int] = field(default_factory=dict)
    later: tuple[Rows, ...] = ()


@dataclass(frozen=True, eq=False)
class SupplyMessage:
    """What a shard may not know yet: vectors of items that other shards hold, and the prior."""

    vectors: Mapping[int, Vectors] = field(default_factory=dict)
    prior: PriorPart | None = None


@dataclass(frozen=True)
class SupplyRequest:
    """The answer of a shard that cannot answer yet: it needs to be told more.

    part: it does not have its part of the catalog. prior: it does not know the prior. rows: the
    items whose vectors it does not know.
    """

    part: bool = False
    prior: bool = False
    rows: tuple[int, ...] = ()


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


@dataclass(frozen=True)
class InterruptedReply:
    """The answer to what may wait, if something else was asked meanwhile: it is not done yet."""


@dataclass(frozen=True)
class TopScores:
    """Ask for the first items by score + width · noise."""

    width: float
    per_click: bool
    count: int


@dataclass(frozen=True)
class TopShuffled:
    """Ask for the first items in an order that is nothing but noise."""

    count: int


@dataclass(frozen=True)
class TopProbabilities:
    """Ask for the first items by probability + width · noise; log_total makes scores logs of it."""

    width: float
    per_click: bool
    log_total: float
    count: int


@dataclass(frozen=True)
class LogTotal:
    """Ask for the log of the sum of e**score, going on from what the shards before have found.

    The sum runs through all items in their order, as on one machine, so that it is the same to
    the last bit.
    """

    so_far: float | None


@dataclass(frozen=True)
class BeliefPart:
    """Ask for the shard's part of the belief; idle: it may wait, so anything else comes first."""

    idle: bool = False


@dataclass(frozen=True)
class CountAbove:
    """Ask how many items are more probable than a value, and how many exactly as probable."""

    log_total: float
    value: float


@dataclass(frozen=True)
class AllScores:
    """Ask for the scores of all items."""


@dataclass(frozen=True)
class RefreshBounds:
    """Ask for bounds to be brought up to date, while nothing else is asked.

    page: what the next click may be on.
    """

    page: tuple[int, ...]


Question: TypeAlias = (
    TopScores
    | TopShuffled
    | TopProbabilities
    | LogTotal
    | BeliefPart
    | CountAbove
    | AllScores
    | RefreshBounds
)


@dataclass(frozen=True, eq=False)
class TopItems:
    """The first items of a shard, best first: rows and their values, (count,) each."""

    rows: Rows
    values: Doubles


@dataclass(frozen=True, eq=False)
class BeliefPartReply:
    """A shard's part of the belief, relative to its best score, top (−inf: nothing is open).

    mass: Σ e**(score − top). spread: Σ e**(score − top) · (score − top). settings: the posterior
    of θ, (thetas,), as far as these items tell.
    """

    top: float
    mass: float
    spread: float
    settings: Doubles


Answer: TypeAlias = (
    TopItems | BeliefPartReply | Doubles | float | tuple[int, int] | InterruptedReply | None
)
