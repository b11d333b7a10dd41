"""The events of a session: one class for each thing that can happen in it.

A session is its events: who holds the catalog and the events has the session, at any time, on any
machine. Events name items by id. Each class owns all that is particular to its kind: its form as
JSON, its check against the session it is to happen in, what it does to the state, and how it is
told to people (`base`). `EVENTS` is the table of them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

import numpy as np

from seeker import display, models
from seeker.errors import BadInput, Conflict, Gone, short_repr
from seeker.session.base import SCHEMA, Event, EventContext, Readers
from seeker.session.examples import Example
from seeker.session.protocol import SearchableCatalog
from seeker.session.state import REASONS, Rating, State
from seeker.session.validation import check_filter, check_focus, check_say_vector
from seeker.session.words import WordSearch, understand
from seeker.types import Array, Doubles
from seeker.validation import check_number, check_whole

_SCHEMAS = (1, 2, 3, 4)
"""2 added all events after Undo, and its count; 3 calls exploration explore; 4 says how words are
searched for."""

Verdict = Literal["like", "dislike", "clear"]
VERDICTS = ("like", "dislike", "clear")
Repeat = Literal["never", "unrated", "always"]
REPEATS = ("never", "unrated", "always")

MAX_EXPLORATION = 100.0


def check_verdict(verdict: object) -> Verdict:
    """Return the verdict if it is one."""
    for name in VERDICTS:
        if verdict == name:
            return name  # type: ignore[return-value]
    raise BadInput(f"{verdict!r} is not a verdict.", "Use 'like', 'dislike' or 'clear'.")


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


def _filter_or_none(value: Any) -> Mapping[str, Any] | None:
    return None if value is None else dict(value)


def _factors(value: Any) -> Mapping[str, float]:
    return {str(view): float(factor) for view, factor in value.items()}


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(map(float, values))


@dataclass(frozen=True, eq=False)
class Start(Event):
    """How a session began; always its first event.

    prior: log-probabilities, (items,); words in sessions that began before they were in `query`.
    user: by view, a person's vector. views: by which items are compared, None for all that were
    not learned. query: the words to begin with. catalog: the id of the catalog, if it has one.
    """

    type = "start"
    path = ""
    readers: ClassVar[Readers] = {}
    model: models.Model
    strategy: display.Strategy
    page_size: int
    seed: int
    prior: Doubles | str | None = None
    filter: Mapping[str, Any] | None = None
    user: str | Mapping[str, Doubles] | None = None
    repeat: Repeat = "never"
    views: tuple[str, ...] | None = None
    query: Say | None = None
    catalog: str = ""

    @property
    def prior_array(self) -> Doubles | None:
        """The log-probabilities that the session began with, (items,), if there were any."""
        return None if isinstance(self.prior, str) else self.prior

    @property
    def person(self) -> Mapping[str, Doubles] | None:
        """The vectors of a person, by view, if there are any."""
        return None if isinstance(self.user, str) else self.user

    def fields(self) -> dict[str, Any]:
        user = self.user
        if user is not None and not isinstance(user, str):
            user = {view: np.asarray(c).tolist() for view, c in user.items()}
        return {
            "model": models.to_json(self.model),
            "strategy": display.to_json(self.strategy),
            "page_size": self.page_size,
            "seed": self.seed,
            "prior": _prior_to_json(self.prior),
            "filter": _filter_or_none(self.filter),
            "user": user,
            "repeat": self.repeat,
            **({} if self.views is None else {"views": list(self.views)}),
            **({} if self.query is None else {"query": self.query.fields()}),
            **({"catalog": self.catalog} if self.catalog else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        user, views = data["user"], data.get("views")
        if isinstance(user, Mapping):
            user = {view: np.asarray(c, np.float64) for view, c in user.items()}
        return cls(
            model=models.from_json(data["model"]),
            strategy=display.from_json(data["strategy"]),
            page_size=int(data["page_size"]),
            seed=int(data["seed"]),
            prior=_prior_from_json(data["prior"]),
            filter=data["filter"],
            user=user,
            repeat=data["repeat"],
            views=None if views is None else tuple(map(str, views)),
            query=None if data.get("query") is None else Say.from_json(data["query"]),
            catalog=str(data.get("catalog") or ""),
        )

    def apply(self, state: State) -> State:
        raise BadInput("A session can start only once.")

    def describe(self) -> str:
        query = self.prior if isinstance(self.prior, str) else self.query and self.query.text
        words = f", looking for {query!r}" if query else ""
        passing = f", where {json.dumps(_filter_or_none(self.filter))}" if self.filter else ""
        return (
            f"start with {self.model.name} and {self.strategy.name}, pages of {self.page_size}, "
            f"seed {self.seed}{words}{passing}"
        )


@dataclass(frozen=True)
class Click(Event):
    """A verdict on an item, with the items that were on screen at that moment.

    shown: None, until it is checked, for what is on display.
    """

    type = "click"
    path = "clicks"
    readers: ClassVar[Readers] = {"item": str, "verdict": check_verdict, "shown": tuple}
    item: str
    verdict: Verdict
    shown: Sequence[str] | None = None

    @property
    def on_screen(self) -> tuple[str, ...]:
        return tuple(self.shown or ())

    @property
    def judged(self) -> str | None:
        return None if self.verdict == "clear" else self.item

    def fields(self) -> dict[str, Any]:
        return {"item": self.item, "verdict": self.verdict, "shown": list(self.on_screen)}

    def request(self) -> dict[str, Any]:
        shown = self.shown if isinstance(self.shown, str | None) else list(self.shown)
        return {"item": self.item, "verdict": self.verdict, "shown": shown}

    def check(self, session: EventContext) -> Event:
        check_verdict(self.verdict)
        rated = isinstance(self.item, str) and self.item in session.state.ratings
        if self.verdict != "clear" or not rated:
            session.row(self.item)
        if self.shown is None:
            shown = () if self.verdict == "clear" else tuple(session.displayed(self.item))
        else:
            shown = self._checked_shown(session)
        return Click(str(self.item), self.verdict, shown)

    def _checked_shown(self, session: EventContext) -> tuple[str, ...]:
        if isinstance(self.shown, str) or not isinstance(self.shown, Iterable):
            raise BadInput(f"shown is {self.shown!r}, but it must be a list of item ids.")
        shown = tuple(self.shown)
        for item in shown:
            # What has left since it was shown was chosen against none the less.
            with suppress(Gone):
                session.row(item)
        return tuple(map(str, shown))

    def apply(self, state: State) -> State:
        others = {key: one for key, one in state.ratings.items() if key != self.item}
        if self.verdict == "clear":
            if self.item not in state.ratings:
                raise Conflict(
                    f"Item '{self.item}' is neither liked nor disliked, "
                    "so there is nothing to clear.",
                    code="nothing-to-clear",
                )
            return state.advance(self, ratings=MappingProxyType(others))
        among = dict.fromkeys((self.item, *self.on_screen))
        unjudged = tuple(item for item in among if item not in others)
        rating = Rating(self.item, self.verdict == "like", unjudged)
        return state.advance(self, ratings=MappingProxyType({**others, self.item: rating}))

    def summary(self) -> dict[str, Any]:
        return {"type": self.type, "item": self.item, "verdict": self.verdict}

    def describe(self) -> str:
        among = f" among {len(self.shown)} shown" if self.shown else ""
        return f"{self.verdict} {self.item!r}{among}"

    @property
    def reveals_items(self) -> bool:
        return self.verdict != "clear" or bool(self.shown)


@dataclass(frozen=True)
class Say(Event):
    """Text feedback: words, with what was understood; or a direction in a view.

    vector: of the words in a view that reads text; None in the place of the view: there is none.
    search: how the words are searched for. Without it, a vector is a direction in its view, and
    words without one are keywords of a prior, as it was before words were searched for.
    """

    type = "say"
    path = "say"
    readers: ClassVar[Readers] = {
        "text": str,
        "view": _text_or_none,
        "vector": _floats,
        "search": WordSearch.from_json,
    }
    text: str
    view: str | None = None
    vector: Sequence[float] = field(default=(), repr=False)
    search: WordSearch | None = field(default=None, repr=False)

    def fields(self) -> dict[str, Any]:
        fields = super().fields()
        del fields["search"]
        return fields if self.search is None else {**fields, "search": self.search.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return super().from_json({"search": None, **data})

    def request(self) -> dict[str, Any]:
        if len(self.vector):
            raise BadInput("A remote session hears words, not vectors.", "Say it in words.")
        return {"text": self.text}

    def check(self, session: EventContext) -> Event:
        if isinstance(self.text, str) and self.text:
            return self.understood(session.catalog, session.state.start.model)
        view, vector = check_say_vector(session.catalog, self.vector, self.view)
        return Say(self.text, view, vector)

    def understood(self, catalog: SearchableCatalog, model: models.Model) -> Say:
        """Return the words with what they are understood to say in a catalog."""
        return Say(self.text, *understand(catalog, model, self.text))

    def apply(self, state: State) -> State:
        return state.advance(self, texts=(*state.texts, self))

    def summary(self) -> dict[str, Any]:
        return {"type": self.type, "text": self.text}

    def describe(self) -> str:
        where = "as keywords" if self.view is None else f"in view '{self.view}'"
        return f"say {self.text!r}" if self.search else f"say {self.text!r}, {where}"


@dataclass(frozen=True)
class Unsay(Event):
    """Words no longer count: those of a text, or those that the session began with."""

    type = "unsay"
    path = "unsay"
    readers: ClassVar[Readers] = {"text": str}
    text: str

    def check(self, session: EventContext) -> Event:
        return Unsay(str(self.text))

    def apply(self, state: State) -> State:
        """Let the last text of these words go, or else the words that the session began with."""
        for place in reversed(range(len(state.texts))):
            if state.texts[place].text == self.text:
                texts = state.texts[:place] + state.texts[place + 1 :]
                return state.advance(self, texts=texts, query=state.query_among(texts))
        if self.text == state.query:
            return state.advance(self, query=None)
        raise Conflict(
            f"Nobody has said '{self.text}', so there is nothing to take back.",
            code="nothing-to-undo",
        )

    def describe(self) -> str:
        return f"no longer say {self.text!r}"


@dataclass(frozen=True)
class Filter(Event):
    """From now on only items that pass this filter are shown; None: all are."""

    type = "filter"
    path = "filter"
    readers: ClassVar[Readers] = {"filter": _filter_or_none}
    filter: Mapping[str, Any] | None

    def check(self, session: EventContext) -> Event:
        return Filter(check_filter(self.filter))

    def apply(self, state: State) -> State:
        return state.advance(self, filter=self.filter)

    def describe(self) -> str:
        return (
            f"only where {json.dumps(_filter_or_none(self.filter))}" if self.filter else "no filter"
        )


@dataclass(frozen=True)
class Explore(Event):
    """From now on pages explore so many times as much as the strategy by itself."""

    type = "explore"
    path = "explore"
    readers: ClassVar[Readers] = {"level": float}
    level: float

    def check(self, session: EventContext) -> Event:
        check_number("level", self.level, 0.0)
        if self.level > MAX_EXPLORATION:
            raise BadInput(f"level is {self.level!r}, but it can be at most {MAX_EXPLORATION:g}.")
        session.state.start.strategy.with_exploration(self.level)
        return Explore(float(self.level))

    def apply(self, state: State) -> State:
        return state.advance(self, exploration=self.level)

    def describe(self) -> str:
        return f"explore {self.level:g} times as much as usual"


@dataclass(frozen=True)
class Focus(Event):
    """What matters from now on: by view, a factor of its prior; 1, or no name, is as it is."""

    type = "focus"
    path = "focus"
    readers: ClassVar[Readers] = {"views": _factors}
    views: Mapping[str, float]

    def check(self, session: EventContext) -> Event:
        return Focus(check_focus(session.catalog, session.state.start.model, self.views))

    def apply(self, state: State) -> State:
        return state.advance(self, focus=self.views)

    def describe(self) -> str:
        told = ", ".join(f"{view} {factor:g}" for view, factor in self.views.items())
        return f"what matters: {told}" if told else "all views matter as usual"


@dataclass(frozen=True)
class Found(Event):
    """The item that was looked for; reason: how the site knows, where nobody has said so.

    What a site tells changes no page, and is not undone: it is no step of the search.
    """

    type = "found"
    path = "found"
    readers: ClassVar[Readers] = {"item": str}
    item: str
    reason: str | None = None

    def fields(self) -> dict[str, Any]:
        told = {} if self.reason is None else {"reason": self.reason}
        return {"item": self.item, **told}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        reason = data.get("reason")
        if reason not in (None, *REASONS):
            raise ValueError(reason)
        return cls(str(data["item"]), reason)

    def check(self, session: EventContext) -> Event:
        session.row(self.item)
        if self.reason is not None and self.reason not in REASONS:
            raise BadInput(
                f"{short_repr(self.reason)} is no reason for having found something.",
                f"Known are {', '.join(REASONS)}, or none if the person has said so.",
            )
        return Found(str(self.item), self.reason)

    def apply(self, state: State) -> State:
        if self.reason is None:
            return state.advance(self, found=self.item)
        before = -1 if state.success is None else REASONS.index(state.success[1])
        if REASONS.index(self.reason) < before:
            return state
        return replace(state, success=(self.item, self.reason))

    def describe(self) -> str:
        return f"found {self.item!r}" + (f" ({self.reason})" if self.reason else "")


@dataclass(frozen=True)
class Undo(Event):
    """The last events that are still in effect are taken back."""

    type = "undo"
    path = "undo"
    readers: ClassVar[Readers] = {"count": int}
    count: int = 1

    def check(self, session: EventContext) -> Event:
        return replace(self, count=check_whole("count", self.count, 1))

    def apply(self, state: State) -> State:
        return state.undo(self.count)

    def describe(self) -> str:
        return self.type if self.count == 1 else f"{self.type} {self.count} things"


@dataclass(frozen=True)
class Redo(Undo):
    """What was undone last is in effect again."""

    type = "redo"
    path = "redo"

    def apply(self, state: State) -> State:
        return state.redo(self.count)


EVENTS: Mapping[str, type[Event]] = MappingProxyType(
    {
        **{
            kind.type: kind
            for kind in (
                Start,
                Click,
                Example,
                Say,
                Unsay,
                Filter,
                Explore,
                Focus,
                Found,
                Undo,
                Redo,
            )
        },
        "exploration": Explore,  # its name before schema version 3
    }
)
"""Events by their type. A new kind is one more class, and one more name here."""


def fold(events: Iterable[Event]) -> State:
    """Return the state after all the events; the first must be a start."""
    remaining = iter(events)
    start = next(remaining, None)
    if not isinstance(start, Start):
        raise BadInput("The events of a session must begin with its start.")
    state = State(start, filter=start.filter)
    if isinstance(start.prior, str):
        state = replace(state, query=start.prior)
    elif start.query is not None:
        state = replace(state, query=start.query.text, texts=(start.query,))
    for event in remaining:
        state = event.apply(state)
    return state


def parse_event(data: object) -> Event:
    """Return the event that `Event.to_json` wrote."""
    if not isinstance(data, Mapping) or "type" not in data:
        raise BadInput(f"{data!r} is not an event.", "It must be an object with a 'type'.")
    schema = data.get("schema")
    if schema not in _SCHEMAS:
        raise BadInput(
            f"The event has schema version {schema!r}, but this Seeker reads versions up to "
            f"{SCHEMA}.",
            "Use the version of Seeker that wrote it, or a newer one.",
        )
    kind = EVENTS.get(data["type"]) if isinstance(data["type"], str) else None
    if kind is None:
        raise BadInput(f"{data['type']!r} is not a type of event.")
    try:
        # Version 1 knew an undo of one thing only.
        return kind.from_json({"count": 1, **data} if schema == 1 else data)
    except BadInput:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"The event {data['type']!r} is not complete: {error!r}.") from None


def exported_events(line: object) -> list[Mapping[str, Any]]:
    """Return the events that a line of an export holds, be it text or read already."""
    if isinstance(line, str | bytes):
        try:
            line = json.loads(line)
        except (ValueError, RecursionError):
            raise BadInput("The line is not JSON.", "Give one line of an export.") from None
    events = line.get("events") if isinstance(line, Mapping) else None
    if not isinstance(events, list) or not all(isinstance(one, Mapping) for one in events):
        raise BadInput(
            "The line holds no session.", "One of an export is an object with a list of 'events'."
        )
    return events


def _prior_to_json(prior: Doubles | str | None) -> object:
    if prior is None or isinstance(prior, str):
        return prior
    return {"float64": base64.b64encode(prior.astype("<f8").tobytes()).decode("ascii")}


def _prior_from_json(data: object) -> Doubles | str | None:
    if data is None or isinstance(data, str):
        return data
    if isinstance(data, Mapping) and isinstance(data.get("float64"), str):
        array: Array = np.frombuffer(base64.b64decode(data["float64"]), "<f8")
        return array.astype(np.float64)
    raise BadInput("The prior of the session is not in a form that Seeker writes.")
