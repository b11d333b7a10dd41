"""What may be asked: the bodies of requests, checked against limits and made into objects."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr

from seeker import display, models
from seeker.catalog.attributes import plain_value
from seeker.catalog.build.item_changes import ItemChange
from seeker.catalog.build.sources.table import MAX_CELL_CHARACTERS
from seeker.errors import BadInput
from seeker.server.settings import Settings
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

Parsed = TypeVar("Parsed")

_MAX_NUMBERS = 256
"""Numbers in one setting of a model or strategy: each σ costs memory for every item."""

_MAX_FILTER_CHARACTERS = 10_000
_MAX_COMPARED_ITEMS = 1000
"""Items that are compared in pairs for one page: the time for it grows with their square."""


def is_form(content_type: str | None) -> bool:
    """Whether a body of this type is a form, in which files may be sent."""
    return (content_type or "").partition(";")[0].strip().lower() == "multipart/form-data"


def parse_model(model: str | Mapping[str, Any] | None) -> models.Model:
    """Return the model that a request names or describes."""
    return _parse(model, models.DEFAULT, models.named, models.from_json)


def parse_strategy(strategy: str | Mapping[str, Any] | None) -> display.Strategy:
    """Return the strategy that a request names or describes."""
    return _parse(strategy, display.DEFAULT, display.named, display.from_json)


def check_length(name: str, length: float, limit: int) -> None:
    """Refuse what is more than this service's limit."""
    if length > limit:
        raise BadInput(f"{name} is {length:,}, but at most {limit:,} is served here.")


def check_text(name: str, text: str | None, settings: Settings) -> None:
    """Refuse a text that is longer than this service reads."""
    if text is not None:
        check_length(f"The length of {name}", len(text), settings.text_limit)


def check_filter(filter: Mapping[str, Any] | None) -> None:
    """Refuse a filter that is longer than what people choose: every answer tells it again."""
    check_length("The length of filter", len(json.dumps(filter)), _MAX_FILTER_CHARACTERS)


def check_strategy(strategy: display.Strategy, page_size: int) -> None:
    """Refuse a strategy that compares more items with one another than a service has time for."""
    if isinstance(strategy, display.Diverse):
        check_length("pool × page_size", strategy.pool * page_size, _MAX_COMPARED_ITEMS)
        check_strategy(strategy.base, page_size)
    if isinstance(strategy, display.Informative):
        check_length("targets", strategy.targets, _MAX_COMPARED_ITEMS)
        check_strategy(strategy.base, page_size)


def _parse(
    description: str | Mapping[str, Any] | None,
    default: str,
    by_name: Callable[[str], Parsed],
    from_json: Callable[[object], Parsed],
) -> Parsed:
    if description is None or isinstance(description, str):
        return by_name(description or default)
    for name, value in description.items():
        if isinstance(value, list) and len(value) > _MAX_NUMBERS:
            raise BadInput(f"{name} holds {len(value):,} numbers, at most {_MAX_NUMBERS} may be.")
    if isinstance(description.get("sigmas"), list) and len(description["sigmas"]) > 16:
        raise BadInput("sigmas holds more than 16 numbers, which no session needs.")
    return from_json(description)


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
        strategy = None if self.strategy is None else parse_strategy(self.strategy)
        if strategy is not None:
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
