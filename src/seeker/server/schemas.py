"""What may be asked and what is answered, as the OpenAPI document shows it."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr

from seeker.catalog.attributes import plain_value
from seeker.catalog.build.item_changes import ItemChange
from seeker.catalog.build.sources.table import MAX_CELL_CHARACTERS
from seeker.errors import BadInput
from seeker.server.settings import Settings
from seeker.server.validation import (
    check_filter,
    check_length,
    check_strategy,
    check_text,
    parse_model,
    parse_strategy,
)
from seeker.session import (
    Click,
    Event,
    Example,
    Explore,
    Filter,
    Focus,
    Found,
    Redo,
    Say,
    SessionOptions,
    Undo,
    Unsay,
)

MAX_TEXT_CHARACTERS = 10_000
"""Letters that no text exceeds; the setting text_limit is usually far below."""


def _readable(text: str) -> str:
    if any((ord(letter) < 32 and letter not in "\t\n\r") or ord(letter) == 127 for letter in text):
        raise ValueError("control characters cannot be read")
    return text


Text = Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS), AfterValidator(_readable)]
ItemText = Annotated[str, Field(max_length=MAX_CELL_CHARACTERS)]
ItemId = Annotated[str, Field(min_length=1, max_length=1000)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Vector = Annotated[list[Finite], Field(min_length=1, max_length=8192)]
UserName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_readable)]
ViewName = Annotated[str, Field(min_length=1, max_length=64)]
Factor = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Step = Annotated[int, Field(ge=0, le=2**31 - 1)]


class RequestBody(BaseModel):
    """A request's body: nothing unknown, nothing guessed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def fingerprint(self) -> dict[str, Any]:
        """Return what tells this request from others."""
        return self.model_dump()


class PictureRequest(RequestBody):
    """A body that may come with a picture: in a form, as its part `picture`."""

    _picture: bytes | None = PrivateAttr(None)

    def attach(self, picture: bytes | None) -> None:
        """Take in the picture that came with the body."""
        self._picture = picture

    def fingerprint(self) -> dict[str, Any]:
        digest = None if self._picture is None else hashlib.sha256(self._picture).hexdigest()
        return {**super().fingerprint(), "picture": digest}

    def _example(self, vectors: Mapping[str, Sequence[float]] | None) -> Example | None:
        """Return the example that was sent, if there is one."""
        if self._picture is not None and vectors is not None:
            raise BadInput("An example is a picture or vectors, not both.", "Send two examples.")
        if self._picture is not None:
            return Example(picture=self._picture)
        return None if vectors is None else Example(vectors=vectors)


Vectors = Annotated[dict[str, Vector], Field(min_length=1, max_length=100)]


class StartRequest(PictureRequest):
    """How a session begins; everything may be left out."""

    catalog: Annotated[str, Field(max_length=64)] | None = None
    query: Text | None = Field(None, description="Words that say where to begin.")
    filter: dict[str, Any] | None = Field(
        None, description='What attributes must be, such as {"price": {"lt": 50}}.'
    )
    model: str | dict[str, Any] | None = Field(
        None, description='A name, or settings such as {"name": "pairwise", "alpha": 1.0}.'
    )
    strategy: str | dict[str, Any] | None = Field(None, description="A name, or settings.")
    page_size: Annotated[int, Field(ge=1, le=10_000)] = 12
    seed: Annotated[int, Field(ge=0, lt=2**128)] | None = None
    user: UserName | Vector | dict[str, Vector] | None = Field(
        None, description="A person's name, or their vector c of φ(c, x), by view."
    )
    repeat: Literal["never", "unrated", "always"] = "never"
    views: Annotated[list[ViewName], Field(min_length=1, max_length=64)] | None = Field(
        None, description="By which views items are compared; else as the catalog has it."
    )
    personalise: bool = Field(
        False, description="Begin with what this user's past searches have taught."
    )
    like: Annotated[list[ItemId], Field(max_length=100)] = Field(
        [], description="Items to begin with: more like these."
    )
    vectors: Vectors | None = Field(
        None, description="By view, the vectors of something that is in no catalog: more like it."
    )

    def check_limits(self, settings: Settings) -> None:
        """Refuse what is more than this service takes."""
        check_length("page_size", self.page_size, settings.page_limit)
        check_text("query", self.query, settings)
        check_filter(self.filter)

    def options(self) -> SessionOptions:
        """Return what the session is started with."""
        strategy = parse_strategy(self.strategy)
        check_strategy(strategy, self.page_size)
        options: SessionOptions = {
            "model": None if self.model is None else parse_model(self.model),
            "strategy": strategy,
            "page_size": self.page_size,
            "query": (self.query or "").strip() or None,
            "filter": self.filter or None,
            "user": self.user,
            "repeat": self.repeat,
            "like": self.like,
            "views": self.views,
        }
        if self.seed is not None:
            options["seed"] = self.seed
        return options

    def example(self) -> Event | None:
        """Return what is liked to begin with, though it is in no catalog."""
        return self._example(self.vectors)


class ActRequest(RequestBody):
    """Something to happen in a session; step: which page the person saw."""

    step: Step | None = None

    @abstractmethod
    def event(self) -> Event:
        """Return the event that is asked for."""

    def check_limits(self, settings: Settings) -> None:
        """Refuse what is more than this service takes."""


class ClickRequest(ActRequest):
    """Give a verdict on an item; with `step`, a click on a page that has passed is a 409."""

    item: ItemId
    verdict: Literal["like", "dislike", "clear"]
    shown: Annotated[list[ItemId], Field(max_length=10_000)] | None = None

    def event(self) -> Event:
        return Click(self.item, self.verdict, self.shown)

    def check_limits(self, settings: Settings) -> None:
        check_length("The length of shown", len(self.shown or ()), settings.shown_limit)


class ExampleRequest(PictureRequest, ActRequest):
    """Say that something that is in no catalog is like the item that is sought.

    It is a picture, sent as the part `picture` of a form, or vectors by view. Of a picture nothing
    is kept but its vectors and a thumbnail, for as long as the session is.
    """

    vectors: Vectors | None = None

    def event(self) -> Event:
        example = self._example(self.vectors)
        if example is None:
            raise BadInput("There is no example.", "Send a form with a picture, or vectors.")
        return example


class SayRequest(ActRequest):
    """Give feedback in words."""

    text: Annotated[
        str, Field(min_length=1, max_length=MAX_TEXT_CHARACTERS), AfterValidator(_readable)
    ]

    def event(self) -> Event:
        return Say(self.text)

    def check_limits(self, settings: Settings) -> None:
        check_text("text", self.text, settings)


class UnsayRequest(SayRequest):
    """Let words no longer count: a text, or the words that the session began with."""

    def event(self) -> Event:
        return Unsay(self.text)


class FilterRequest(ActRequest):
    """Show only items that pass a filter from now on, null: all; likes outside it still count."""

    filter: dict[str, Any] | None

    def event(self) -> Event:
        return Filter(self.filter)

    def check_limits(self, settings: Settings) -> None:
        check_filter(self.filter)


class ExploreRequest(ActRequest):
    """Show more surprising pages from now on, or less: 1 is usual, 0 shows the best only."""

    level: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]

    def event(self) -> Event:
        return Explore(self.level)


class FocusRequest(ActRequest):
    """Say what matters from now on: by view, a factor; 1 is as usual, also if it is not named.

    A factor of 0 rules a view out, with all mixtures that it has a part in.
    """

    views: Annotated[dict[str, Factor], Field(max_length=100)]

    def event(self) -> Event:
        return Focus(self.views)


class FoundRequest(ActRequest):
    """Mark the item that was sought; reason: how the site knows, where nobody has said so."""

    item: ItemId
    reason: Literal["opened", "basket", "bought"] | None = None

    def event(self) -> Event:
        return Found(self.item, self.reason)


class UndoRequest(ActRequest):
    """Take back the last things in effect."""

    count: Annotated[int, Field(ge=1, le=100_000)] = 1

    def event(self) -> Event:
        return Undo(self.count)


class RedoRequest(UndoRequest):
    """Bring back what was undone last, as long as nothing new was done since."""

    def event(self) -> Event:
        return Redo(self.count)


ACTS: Mapping[type[Event], type[ActRequest]] = MappingProxyType(
    {
        Click: ClickRequest,
        Example: ExampleRequest,
        Say: SayRequest,
        Unsay: UnsayRequest,
        Filter: FilterRequest,
        Explore: ExploreRequest,
        Focus: FocusRequest,
        Found: FoundRequest,
        Undo: UndoRequest,
        Redo: RedoRequest,
    }
)
"""What may be asked to happen in a session, by event."""


class ForkRequest(RequestBody):
    """From where to go on; step: which page the person saw."""

    step: Step | None = None


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


AttributeValue = (
    None | bool | int | Finite | ItemText | Annotated[list[ItemText], Field(max_length=1000)]
)


class ItemRequest(PictureRequest):
    """What is said of an item; null takes an attribute's value away."""

    title: ItemText | None = None
    text: ItemText | None = None
    attributes: Annotated[dict[str, AttributeValue], Field(max_length=1000)] = {}
    vectors: Annotated[dict[ViewName, Vector], Field(max_length=64)] = {}

    def change(self, id: str, what: Literal["put", "patch", "merge"]) -> ItemChange:
        """Return the change that is asked for."""
        return ItemChange(
            id,
            what,
            self.title,
            self.text,
            {name: plain_value(value) for name, value in self.attributes.items()},
            {name: np.array(vector) for name, vector in self.vectors.items()},
            self._picture,
        )


class ItemLine(ItemRequest):
    """One line of many: an item to change or to make, or to remove."""

    id: ItemId
    remove: bool = False


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
    type: Literal[
        "click",
        "example",
        "say",
        "unsay",
        "filter",
        "explore",
        "focus",
        "found",
    ]
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
