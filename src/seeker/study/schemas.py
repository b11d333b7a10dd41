"""What the calls of a study are asked and answer. No answer tells model, strategy or belief."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from seeker.server.schemas import Asked, ItemAnswer


class AboutAnswer(BaseModel):
    """What somebody should know before they take part; open: whether more people are wanted."""

    open: bool
    consent: str
    digest: str
    trials: int
    steps: int
    page_size: int
    items: int


class JoinAsked(Asked):
    """Consent: the digest of the text that was read."""

    consent: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class TrialAnswer(BaseModel):
    """A search for one target; used: how many of its steps are."""

    number: int
    session: str
    target: ItemAnswer
    used: int


class EndedAnswer(BaseModel):
    """A search that has ended."""

    number: int
    outcome: str
    used: int


class StandingAnswer(BaseModel):
    """Where a participant is."""

    trials: int
    steps: int
    done: int
    current: TrialAnswer | None
    last: EndedAnswer | None


class JoinedAnswer(StandingAnswer):
    """A new participant; the key is the only way back to their searches."""

    key: str


class RecordsAnswer(BaseModel):
    """All that is recorded about a participant, except what must stay hidden."""

    label: str
    consent: str
    began: float
    trials: list[dict[str, Any]]


class CellAnswer(BaseModel):
    """How far one combination of model and strategy has come."""

    model: str
    strategy: str
    under_way: int
    done: int
    found: int
    gave_up: int
    overlooked: int
    mean_steps: float | None


class ProgressAnswer(BaseModel):
    """How far a study has come, without anybody's identity."""

    joined: int
    withdrawn: int
    finished: int
    trials: int
    wanted: int
    cells: list[CellAnswer]
