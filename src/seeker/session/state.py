"""The state of a session: a pure fold over its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from seeker.errors import Conflict
from seeker.session.base import Event

if TYPE_CHECKING:
    from seeker.session.examples import Example
    from seeker.session.start import Start
    from seeker.session.words import Say


REASONS = ("opened", "basket", "bought")
"""How a search can end well outside of it, the less certain first."""


@dataclass(frozen=True)
class SampleComparison:
    """How an example is compared with a sample of the catalog.

    distance: the items of the sample are drawn towards the example until this part of the way is
    left. times: how often it counts. doubt: how probable it is, where words are said as well, that
    what is looked for is merely like the example, which then counts once, as any like.
    """

    distance: float
    times: int
    doubt: float = 0.0


@dataclass(frozen=True)
class Rating:
    """A like or dislike in effect; among: what it was chosen among, itself included.

    example: how it was compared with a sample, where none of it was on screen.
    """

    item: str
    liked: bool
    among: tuple[str, ...]
    example: SampleComparison | None = None


@dataclass(frozen=True)
class State:
    """What the events of a session amount to.

    focus: by view, how much more it matters than usual.
    query: the words that the session began with, as long as they count. ratings: by item, in the
    order of the clicks. found: the item that was found. success: an item with which the search has
    ended well outside, and how, as the site has told; no undo takes that back. last: the event that
    led here. before: the state that an undo brings back. undone: those that a redo brings back, the
    next one first.
    """

    start: Start
    query: str | None = None
    filter: Mapping[str, Any] | None = None
    exploration: float = 1.0
    focus: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    found: str | None = None
    success: tuple[str, str] | None = None
    ratings: Mapping[str, Rating] = field(default_factory=lambda: MappingProxyType({}))
    texts: tuple[Say, ...] = ()
    step: int = 0
    last: Event | None = field(default=None, repr=False)
    before: State | None = field(default=None, repr=False)
    undone: tuple[State, ...] = field(default=(), repr=False)

    @property
    def blank(self) -> bool:
        """Whether nothing is known yet of what is looked for."""
        prior = self.start.prior_array is not None
        informed = prior or self.query is not None or bool(self.texts)
        return not informed and not any(event.reveals_items for _, event in self._backwards)

    @property
    def target(self) -> str | None:
        """What was looked for, as far as it is known: what was bought or found, else a success."""
        if self.success is not None and (self.found is None or self.success[1] == REASONS[-1]):
            return self.success[0]
        return self.found

    @property
    def said(self) -> list[str]:
        """The words that were said since the session began, as far as they count."""
        return [one.text for one in self.texts if one.text and one is not self.start.query]

    def query_among(self, texts: tuple[Say, ...]) -> str | None:
        """Return the words that the session began with, if they count beside these texts."""
        begun = self.start.query
        return self.query if begun is None or any(one is begun for one in texts) else None

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

    @property
    def examples(self) -> list[Example]:
        """The likes in effect of what is in no catalog, in their order."""
        outside = {event.judged: event for _, event in self._backwards if event.outside}
        return [outside[item] for item in self.ratings if item in outside]  # type: ignore[misc]

    def advance(self, event: Event, **changes: Any) -> State:
        """Return the state after an event that changes some of it."""
        return replace(
            self,
            step=self.step + 1,
            last=event,
            before=replace(self, undone=()) if self.undone else self,
            undone=(),
            **changes,
        )

    def undo(self, count: int) -> State:
        """Return the state before the last events that are in effect."""
        state = self
        for _ in range(count):
            if state.before is None:
                raise Conflict("There is nothing to undo.", code="nothing-to-undo")
            state = replace(state.before, undone=(state, *state.undone))
        return replace(state, success=self.success)

    def redo(self, count: int) -> State:
        """Return the state in which the events undone last are in effect again."""
        state = self
        for _ in range(count):
            if not state.undone:
                raise Conflict("There is nothing to redo.", code="nothing-to-redo")
            following, *later = state.undone
            state = replace(following, undone=tuple(later))
        return replace(state, success=self.success)
