"""What is recorded of a study, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal["found", "steps used up", "gave up"]
FOUND: Outcome = "found"
USED_UP: Outcome = "steps used up"
GAVE_UP: Outcome = "gave up"

Act: TypeAlias = Literal["like", "dislike", "clear", "undo", "redo", "found", "gave up"]


@dataclass(frozen=True)
class Participant:
    """Somebody who takes part. label: random letters, all that is ever published of them."""

    number: int
    label: str
    consent: str
    began: float


@dataclass(frozen=True)
class Trial:
    """One target for one participant, searched for in one session.

    version: of Seeker. began, ended: seconds since 1970. outcome: how it ended, None while it goes
    on.
    """

    session: str
    person: int
    number: int
    target: str
    target_row: int
    model: str
    strategy: str
    seed: int
    version: str
    began: float
    ended: float | None = None
    outcome: Outcome | None = None


@dataclass(frozen=True)
class ActRecord:
    """What was done on the page of a number, to which item, and what was on screen."""

    number: int
    act: Act
    item: str | None = None
    shown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One page of a trial, and what was done on it.

    number: how many acts came before. at: when it was made, opened: when it was last
    opened, acted: when something was done on it (seconds since 1970). milliseconds: how long the
    service took to make it. rank: the target's place by belief, 1 is best, ties share the middle
    place. claimed: how probable it was held that the target is on the page. page, rows: the items
    by id and by place in the catalog. act, item, shown: what was done, to which item, and what was
    on screen. mistaken: how often another item was taken for the target.
    """

    number: int
    at: float
    opened: float
    milliseconds: float | None
    rank: float
    on_page: bool
    claimed: float | None
    page: tuple[str, ...]
    rows: tuple[int, ...]
    act: Act | None = None
    item: str | None = None
    shown: tuple[str, ...] = ()
    acted: float | None = None
    mistaken: int = 0

    def picked(self, target: str) -> bool:
        """Whether the person picked the target here: said that this is it, or liked it."""
        return self.act in ("found", "like") and self.item == target

    def overlooked(self, target: str) -> bool:
        """Whether the target was on the page and the person went on without it."""
        return self.on_page and self.act is not None and not self.picked(target)

    @property
    def seconds(self) -> float | None:
        """How long the page was looked at, since it was last opened."""
        return None if self.acted is None else max(0.0, self.acted - self.opened)
