"""What is answered, as the OpenAPI document shows it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from seeker.session import Redo, Start, Undo
from seeker.session.events import EVENTS

_HISTORY_TYPES = dict.fromkeys(
    kind.type for kind in EVENTS.values() if kind not in (Start, Undo, Redo)
)
"""The types of what may be in effect in a session."""


class ItemResponse(BaseModel):
    """An item."""

    id: str
    title: str
    media: str | None
    pictures: dict[int, str] = Field(
        default={},
        description="Where the picture is in several sizes, by pixels each way; else left out.",
    )
    attributes: dict[str, Any]


class ItemChangeResponse(BaseModel):
    """What became of a change, and the version of the catalog that has it."""

    id: str
    result: Literal["new", "changed", "unchanged"]
    version: int


class LineResponse(BaseModel):
    """What became of one line, counted from 1; problem: why it was refused."""

    line: int
    id: str | None
    result: Literal["new", "changed", "unchanged", "removed", "not found", "refused"]
    problem: str | None = None


class LinesResponse(BaseModel):
    """What became of every line, and the version of the catalog that has it."""

    version: int
    lines: list[LineResponse]


class PageResponse(BaseModel):
    """A slice of one ranking."""

    items: list[ItemResponse]
    offset: int
    limit: int
    total: int
    partial: bool = Field(
        False, description="There only if part of the catalog could not be asked: true."
    )


class BeliefResponse(BaseModel):
    """A belief in a few numbers."""

    entropy: float
    candidates: float
    on_page: float
    views: dict[str, float]
    noise: float | None


class HistoryEntry(BaseModel):
    """One thing in effect, and the step it led to; which keys it has depends on its type."""

    step: int
    type: Annotated[str, Field(json_schema_extra={"enum": [*_HISTORY_TYPES]})]
    item: str | None = None
    verdict: Literal["like", "dislike", "clear"] | None = None
    text: str | None = None
    filter: dict[str, Any] | None = None
    level: float | None = None
    views: dict[str, float] | None = None


class WordsResponse(BaseModel):
    """What became of words that were said."""

    text: str
    unknown: list[str] = Field(description="Those of the words that no item is called.")
    corrections: dict[str, str] = Field(description="What words were taken for, by word.")
    letters: bool = Field(description="Whether items were found by their letters.")
    meaning: bool = Field(description="Whether items were compared by what the words mean.")
    nearest: dict[str, str] = Field(
        description="By unknown word, the value of an attribute that is nearest to it in meaning."
    )


class SessionResponse(BaseModel):
    """A session: where it is, and what it shows."""

    id: str
    catalog: str
    step: int
    query: str | None = Field(description="The words it began with, as long as they count.")
    filter: dict[str, Any] | None
    said: list[str] = Field(description="The texts in effect.")
    words: list[WordsResponse] = Field(description="What became of the words in effect.")
    exploration: float
    focus: dict[str, float] = Field(
        description="By view, how much more it matters than usual; the others matter as usual."
    )
    found: str | None = Field(description="The id of the item that was sought, once marked.")
    likes: list[str]
    dislikes: list[str]
    examples: list[ItemResponse] = Field(
        description="Of the likes, those that are in no catalog; media: where the thumbnail is."
    )
    undone: int = Field(description="How many things redo can bring back.")
    history: list[HistoryEntry] = Field(description="All that is in effect, in order.")
    page: PageResponse
    belief: BeliefResponse | None


class ShareResponse(BaseModel):
    """A token with which others may look at a session, but not change it."""

    share: str


class ClickShareResponse(BaseModel):
    """What one click did for an item."""

    item: str
    verdict: Literal["like", "dislike"]
    log_likelihood: float
    pull: float
    views: dict[str, float] = Field(description="By which views it came: parts of the pull.")


class ExplanationResponse(BaseModel):
    """An item's score in its parts; null stands for −∞, of items that a filter keeps out."""

    item: str
    score: float | None
    prior: float | None
    text: float
    clicks: list[ClickShareResponse]
    text_pull: float = Field(
        description="What words say of it, compared with the mean over the catalog."
    )


class EventsResponse(BaseModel):
    """All that is kept of a session."""

    id: str
    catalog: str
    user: str | None
    network: int | None = Field(
        description="One of 4,096 groups of networks it was started from; it names nobody."
    )
    began: float
    active: float
    events: list[dict[str, Any]]
    times: list[float]


class DeletedResponse(BaseModel):
    """How many sessions were deleted."""

    deleted: int


class CatalogSummary(BaseModel):
    """A catalog in a list."""

    name: str
    items: int
    views: list[str]
    reads_text: bool = Field(description="Whether a view reads the meaning of words.")
    reads_words: bool = Field(description="Whether words mean anything here at all.")
    reads_pictures: bool


class CatalogsResponse(BaseModel):
    """The catalogs that are served; the first is the usual one."""

    catalogs: list[CatalogSummary]


class CatalogResponse(CatalogSummary):
    """A catalog, and how its attributes are spread."""

    version: int
    about: dict[str, Any]
    attributes: dict[str, dict[str, Any]] = Field(
        description="How attributes are to be shown: label, currency, unit, decimals, card, link."
    )
    facets: list[dict[str, Any]]


class ShardsResponse(BaseModel):
    """The shards of a catalog: how many there are, and the numbers of those that are silent."""

    count: int
    silent: list[int]


class LearningResponse(BaseModel):
    """How learning from past searches last went: when it ended, in seconds since 1970."""

    at: float | None
    taken: bool = Field(description="Whether something was learned that helps.")
    failures: int = Field(description="How often it has failed since the service was started.")


class HealthResponse(BaseModel):
    """Whether the service lives, and whether it is ready to serve."""

    live: bool
    ready: bool
    reasons: list[str] = Field([], description="Why it is not ready; there only if it is not.")
    shards: dict[str, ShardsResponse] = Field(
        {}, description="By catalog; there only if catalogs are searched by shards."
    )
    learning: dict[str, LearningResponse] = Field(
        {}, description="By catalog; there only if the service learns by itself."
    )


class ProblemResponse(BaseModel):
    """What was wrong, and what to do about it."""

    type: str
    title: str
    status: int
    detail: str
    hint: str
    code: str = Field(description="What it is about, by a name that stays: for other languages.")


class SessionProblemResponse(ProblemResponse):
    """A conflict, with the session as it is now where there is one."""

    session: SessionResponse | None = None
