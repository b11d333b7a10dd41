"""The state of a session: a pure fold over its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from seeker.errors import BadInput, Conflict
from seeker.session.events import Click, Event, Say, Start, Undo


@dataclass(frozen=True)
class Rating:
    """A click in effect; among: what it was chosen among, itself included."""

    item: str
    liked: bool
    among: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """What the events of a session amount to.

    ratings: by item, in the order of the clicks. seen: what was on screen at any click. clicks:
    how often an item was liked or disliked. before: the state that an undo brings back.
    """

    start: Start
    ratings: Mapping[str, Rating] = field(default_factory=lambda: MappingProxyType({}))
    texts: tuple[Say, ...] = ()
    seen: frozenset[str] = frozenset()
    clicks: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    step: int = 0
    before: State | None = field(default=None, repr=False)

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
    state = State(start)
    for event in remaining:
        state = after(state, event)
    return state


def after(state: State, event: Event) -> State:
    """Return the state after one more event."""
    match event:
        case Click(item, "clear", shown):
            if item not in state.ratings:
                raise Conflict(
                    f"Item '{item}' is neither liked nor disliked, so there is nothing to clear."
                )
            return _next(state, ratings=_without(state.ratings, item), seen=state.seen | {*shown})
        case Click(item, verdict, shown):
            ratings = _without(state.ratings, item)
            among = (item, *(other for other in dict.fromkeys(shown) if other != item))
            unjudged = tuple(one for one in among if one not in ratings)
            rating = Rating(item, verdict == "like", unjudged)
            return _next(
                state,
                ratings=MappingProxyType({**ratings, item: rating}),
                seen=state.seen.union(shown, (item,)),
                clicks=MappingProxyType({**state.clicks, item: state.clicks.get(item, 0) + 1}),
            )
        case Say():
            return _next(state, texts=(*state.texts, event))
        case Undo():
            if state.before is None:
                raise Conflict("There is nothing to undo.")
            return state.before
        case Start():
            raise BadInput("A session can start only once.")


def _next(state: State, **changes: object) -> State:
    return replace(state, step=state.step + 1, before=state, **changes)  # type: ignore[arg-type]


def _without(ratings: Mapping[str, Rating], item: str) -> Mapping[str, Rating]:
    return MappingProxyType({key: one for key, one in ratings.items() if key != item})
