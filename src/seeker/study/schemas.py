"""What the calls of a study are asked and answer. No answer tells model, strategy or belief."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from seeker.server.schemas import ItemResponse, RequestBody


class AboutResponse(BaseModel):
    """What somebody should know before they take part; open: whether more people are wanted."""

    open: bool
    consent: str
    digest: str
    trials: int
    steps: int
    page_size: int
    items: int


class JoinRequest(RequestBody):
    """Consent: the digest of the text that was read."""

    consent: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class TrialResponse(BaseModel):
    """A search for one target; used: how many of its steps are."""

    number: int
    session: str
    target: ItemResponse
    used: int


class EndedTrialResponse(BaseModel):
    """A search that has ended."""

    number: int
    outcome: str
    used: int


class ParticipantResponse(BaseModel):
    """Where a participant is: the searches done, the one that goes on, or the one that ended."""

    trials: int
    steps: int
    done: int
    current: TrialResponse | None
    last: EndedTrialResponse | None


class NewParticipantResponse(ParticipantResponse):
    """A new participant; the key is the only way back to their searches."""

    key: str


class RecordsResponse(BaseModel):
    """All that is recorded about a participant, except what must stay hidden."""

    label: str
    consent: str
    began: float
    trials: list[dict[str, Any]]


class CellResponse(BaseModel):
    """How far one combination of model and strategy has come."""

    model: str
    strategy: str
    under_way: int
    done: int
    found: int
    gave_up: int
    overlooked: int
    mean_steps: float | None


class ProgressResponse(BaseModel):
    """How far a study has come, without anybody's identity."""

    joined: int
    withdrawn: int
    finished: int
    trials: int
    wanted: int
    cells: list[CellResponse]
