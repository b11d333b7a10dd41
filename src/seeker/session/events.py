"""The events of a session: one class for each thing that can happen in it.

A session is its events: who holds the catalog and the events has the session, at any time, on any
machine. Events name items by id. Each class owns all that is particular to its kind: its form as
JSON, its check against the session it is to happen in, what it does to the state, and how it is
told to people (`base`). How a session starts, words and examples have files of their own (`start`,
`words`, `examples`). `EVENTS` is the table of all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

from seeker.errors import BadInput, Conflict, Gone, short_repr
from seeker.session.base import SCHEMA, Event, EventContext, Readers, filter_or_none
from seeker.session.examples import Example
from seeker.session.start import Start
from seeker.session.state import REASONS, Rating, State
from seeker.session.validation import check_filter, check_focus
from seeker.session.words import Say, Unsay
from seeker.validation import check_number, check_whole

_SCHEMAS = (1, 2, 3, 4)
"""2 added all events after Undo, and its count; 3 calls exploration explore; 4 says how words are
searched for."""

Verdict = Literal["like", "dislike", "clear"]
VERDICTS = ("like", "dislike", "clear")

MAX_EXPLORATION = 100.0


def check_verdict(verdict: object) -> Verdict:
    """Return the verdict if it is one."""
    for name in VERDICTS:
        if verdict == name:
            return name  # type: ignore[return-value]
    raise BadInput(f"{verdict!r} is not a verdict.", "Use 'like', 'dislike' or 'clear'.")


def _factors(value: Any) -> Mapping[str, float]:
    return {str(view): float(factor) for view, factor in value.items()}


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
class Filter(Event):
    """From now on only items that pass this filter are shown; None: all are."""

    type = "filter"
    path = "filter"
    readers: ClassVar[Readers] = {"filter": filter_or_none}
    filter: Mapping[str, Any] | None

    def check(self, session: EventContext) -> Event:
        return Filter(check_filter(self.filter))

    def apply(self, state: State) -> State:
        return state.advance(self, filter=self.filter)

    def describe(self) -> str:
        return (
            f"only where {json.dumps(filter_or_none(self.filter))}" if self.filter else "no filter"
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
        factors = ", ".join(f"{view} {factor:g}" for view, factor in self.views.items())
        return f"what matters: {factors}" if factors else "all views matter as usual"


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
        reason = {} if self.reason is None else {"reason": self.reason}
        return {"item": self.item, **reason}

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
