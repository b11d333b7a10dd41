"""The state of a session: a pure fold over its events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from seeker.errors import BadInput, Conflict
from seeker.session.events import (
    Click,
    Event,
    Explore,
    Found,
    Narrow,
    Redo,
    Say,
    Start,
    Undo,
    Unsay,
)


@dataclass(frozen=True)
class Rating:
    """A click in effect; among: what it was chosen among, itself included."""

    item: str
    liked: bool
    among: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """What the events of a session amount to.

    query: the words that the session began with, as long as they count. ratings: by item, in the
    order of the clicks. target: the item that was found. last: the event that led here. before: the
    state that an undo brings back. undone: those that a redo brings back, the next one first.
    """

    start: Start
    query: str | None = None
    filter: Mapping[str, Any] | None = None
    exploration: float = 1.0
    target: str | None = None
    ratings: Mapping[str, Rating] = field(default_factory=lambda: MappingProxyType({}))
    texts: tuple[Say, ...] = ()
    step: int = 0
    last: Event | None = field(default=None, repr=False)
    before: State | None = field(default=None, repr=False)
    undone: tuple[State, ...] = field(default=(), repr=False)

    @property
    def blank(self) -> bool:
        """Whether nothing is known yet of what is looked for."""
        given = self.start.given_prior is not None
        told = given or self.query is not None or bool(self.texts)
        return not told and not any(_shows(event) for _, event in self._backwards)

    @property
    def history(self) -> list[tuple[int, Event]]:
        """The events in effect, first things first, each with the step it led to."""
        return [*self._backwards][::-1]

    @property
    def _backwards(self) -> Iterator[tuple[int, Event]]:
        """The events in effect, last things first."""
        state: State | None = self
        while state is not None and state.last is not None:
            yield state.step, state.last
            state = state.before

    @property
    def likes(self) -> list[str]:
        """The liked items, in the order of the clicks."""
        return [rating.item for rating in self.ratings.values() if rating.liked]

    @property
    def dislikes(self) -> list[str]:
        """The disliked items, in the order of the clicks."""
        return [rating.item for rating in self.ratings.values() if not rating.liked]


def fold(events: Iterable[Event]) -> State:
    """Return the state after all the events; the first must be a start."""
    remaining = iter(events)
    start = next(remaining, None)
    if not isinstance(start, Start):
        raise BadInput("The events of a session must begin with its start.")
    query = start.prior if isinstance(start.prior, str) else None
    state = State(start, query=query, filter=start.filter)
    for event in remaining:
        state = after(state, event)
    return state


def after(state: State, event: Event) -> State:
    """Return the state after one more event."""
    match event:
        case Click(item, "clear"):
            if item not in state.ratings:
                raise Conflict(
                    f"Item '{item}' is neither liked nor disliked, so there is nothing to clear."
                )
            return _next(state, event, ratings=_without(state.ratings, item))
        case Click(item, verdict, shown):
            ratings = _without(state.ratings, item)
            among = (item, *(other for other in dict.fromkeys(shown) if other != item))
            unjudged = tuple(one for one in among if one not in ratings)
            rating = Rating(item, verdict == "like", unjudged)
            return _next(state, event, ratings=MappingProxyType({**ratings, item: rating}))
        case Say():
            return _next(state, event, texts=(*state.texts, event))
        case Unsay(text):
            return _next(state, event, **_unsaid(state, text))
        case Narrow(filter):
            return _next(state, event, filter=filter)
        case Explore(level):
            return _next(state, event, exploration=level)
        case Found(item):
            return _next(state, event, target=item)
        case Undo(count):
            return _undone(state, count)
        case Redo(count):
            return _redone(state, count)
        case Start():
            raise BadInput("A session can start only once.")


def _unsaid(state: State, text: str) -> dict[str, Any]:
    """Return what changes when words no longer count: the last text of these words goes first."""
    for place in reversed(range(len(state.texts))):
        if state.texts[place].text == text:
            return {"texts": state.texts[:place] + state.texts[place + 1 :]}
    if text == state.query:
        return {"query": None}
    raise Conflict(f"Nobody has said '{text}', so there is nothing to take back.")


def _undone(state: State, count: int) -> State:
    for _ in range(count):
        if state.before is None:
            raise Conflict("There is nothing to undo.")
        state = replace(state.before, undone=(state, *state.undone))
    return state


def _redone(state: State, count: int) -> State:
    for _ in range(count):
        if not state.undone:
            raise Conflict("There is nothing to redo.")
        following, *later = state.undone
        state = replace(following, undone=tuple(later))
    return state


def _next(state: State, event: Event, **changes: Any) -> State:
    return replace(
        state,
        step=state.step + 1,
        last=event,
        before=replace(state, undone=()) if state.undone else state,
        undone=(),
        **changes,
    )


def _shows(event: Event) -> bool:
    """Whether an event tells of an item that was looked at."""
    return isinstance(event, Click) and (event.verdict != "clear" or bool(event.shown))


def _without(ratings: Mapping[str, Rating], item: str) -> Mapping[str, Rating]:
    return MappingProxyType({key: one for key, one in ratings.items() if key != item})
