"""A search by one person: clicks in, pages out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from seeker.errors import BadInput
from seeker.kernels.parallel import Interrupted, never
from seeker.session.base import Event
from seeker.session.belief import Belief
from seeker.session.events import Click, exported_events, fold, parse_event
from seeker.session.explanation import Explanation
from seeker.session.page import Page, facts_html
from seeker.session.protocol import SearchableCatalog
from seeker.session.rows import RowIndex
from seeker.session.state import State
from seeker.session.verbs import SessionVerbs
from seeker.session.words import UnderstoodWords
from seeker.validation import check_whole


class Checkpoint(NamedTuple):
    """A state of a session, and which page was given out last: of which state, and its ids."""

    state: State
    displayed: tuple[State, list[str]] | None


class Session(SessionVerbs):
    """One search by one person: an append-only log of events, and what follows from it."""

    def __init__(self, catalog: SearchableCatalog, events: Iterable[Event]) -> None:
        """Open the session that these events make up; `Catalog.session` starts a new one."""
        self._events = list(events)
        self._state = fold(self._events)
        self.catalog = catalog.with_views(self._state.start.views)
        self._rows = RowIndex(self.catalog, self._events)
        self._finder = self.catalog.finder(self._state.start, self._rows)
        self._finder.follow(self._state)
        self._displayed: tuple[State, list[str]] | None = None

    def __repr__(self) -> str:
        verdicts = f"{len(self.likes)} liked, {len(self.dislikes)} disliked"
        return f"<Session at step {self.step}: {verdicts}; {self.catalog!r}>"

    @classmethod
    def replay(
        cls, catalog: SearchableCatalog, events: Iterable[Event | Mapping[str, Any]]
    ) -> Session:
        """Return the session that these events, or their JSON, make up: the same to the bit."""
        return cls(
            catalog,
            [parse_event(event) if isinstance(event, Mapping) else event for event in events],
        )

    def to_json(self) -> str:
        """Return the session as one line of an export: who looked for what, and all its events."""
        user = self._state.start.user
        line = {
            **dict.fromkeys(
                ("id", "catalog", "owner", "user", "network", "began", "active", "times")
            ),
            "user": user if isinstance(user, str) else None,
            "events": [event.to_json() for event in self._events],
        }
        return json.dumps(line)

    @classmethod
    def from_json(
        cls, catalog: SearchableCatalog, line: str | bytes | Mapping[str, Any]
    ) -> Session:
        """Return the session that a line of an export, or `to_json`, tells of."""
        return cls.replay(catalog, exported_events(line))

    @property
    def events(self) -> tuple[Event, ...]:
        """All that has happened, first things first."""
        return tuple(self._events)

    @property
    def state(self) -> State:
        """What the events amount to."""
        return self._state

    @property
    def step(self) -> int:
        """How many events in effect have changed the belief."""
        return self._state.step

    @property
    def likes(self) -> list[str]:
        """The ids of the liked items, in the order of the clicks."""
        return self._state.likes

    @property
    def dislikes(self) -> list[str]:
        """The ids of the disliked items, in the order of the clicks."""
        return self._state.dislikes

    @property
    def nbytes(self) -> int:
        """How many bytes this session keeps; they can be dropped and rebuilt by a replay."""
        return self._finder.nbytes

    @property
    def spare_bytes(self) -> int:
        """How many of these bytes take so little to compute again that they need not be kept."""
        return self._finder.spare_bytes

    @property
    def ranking_bytes(self) -> int:
        """About how many bytes a ranking takes while it is computed: they are not in nbytes."""
        return self._finder.ranking_bytes

    @property
    def pending_work(self) -> float:
        """About how many multiplications the next page may take; many after a long replay."""
        return self._finder.pending_work

    def catch_up_in_pieces(self, between: Callable[[], None] = lambda: None) -> None:
        """Compute what the page of a long replay needs, some clicks at a time; no result changes.

        between: called after each time, so that others may have their turn.
        """
        self._finder.catch_up_in_pieces(between)

    def page(self) -> Page:
        """Return the items on display."""
        page = self.more(0, self._state.start.page_size)
        self._displayed = None if page.partial else (self._state, page.ids)
        return page

    def more(self, offset: int = 0, limit: int = 48) -> Page:
        """Return a slice of the ranking of this step, down to the end of the catalog."""
        offset, limit = check_whole("offset", offset, 0), check_whole("limit", limit, 1)
        head = self._finder.head(offset + limit)
        rows = head.rows[offset:].tolist()
        items = tuple(self.catalog.items(rows))
        self._rows.learn((item.id for item in items), rows)
        return Page(
            items, self.step, offset, limit, head.total, head.partial, self.catalog.picture_url
        )

    @property
    def found_item(self) -> str | None:
        """The id of the item that was found, if it was."""
        return self._state.found

    @property
    def words(self) -> tuple[UnderstoodWords, ...]:
        """What became of the words that count now: the query's first, then those that were said."""
        texts = self._state.texts
        return tuple(UnderstoodWords.of(one.text, one.search) for one in texts if one.search)

    def row(self, item: str) -> int:
        """Return the row of an item; NotFound if there is none with this id, or it has left."""
        return self._rows.of_present(item)

    def act(self, event: Event) -> None:
        """Let something happen, or leave everything as it was; see the verbs."""
        self._append(event.check(self))

    def take(self, event: Event) -> None:
        """Take in an event that another copy of this session has had."""
        if isinstance(event, Click):
            event = event.check(self)
        self._append(event)

    def move_to(self, catalog: SearchableCatalog) -> bool:
        """Go on in another version of the catalog, if all that was computed holds there, too.

        So it does where items have the same rows and vectors, whatever else is said of them; pages
        are then those of a replay there, to the bit. Return whether it was so; if not, nothing has
        changed.
        """
        try:
            seen = catalog.with_views(self._state.start.views)
            if not _same_vectors(self.catalog, seen) or not self._finder.move_to(seen):
                return False
        except BadInput:
            return False  # a replay tells what is in the way
        self.catalog = seen
        self._rows.move_to(seen)
        return True

    def checkpoint(self) -> Checkpoint:
        """Return where the session is, for `rollback`."""
        return Checkpoint(self._state, self._displayed)

    def rollback(self, before: Checkpoint) -> None:
        """Be where it was before the last event, as if there had been none: it was not kept."""
        self._finder.follow(before.state)
        self._state, self._displayed = before
        self._events.pop()

    @property
    def quick(self) -> bool:
        """Whether the page of the next click takes a millisecond or so, whatever is clicked."""
        return self._finder.quick

    def refresh(self, stop: Callable[[], bool] = never) -> None:
        """Bring all bounds up to date, between clicks: the next page is cheaper, not different.

        stop: asked every so often; once it says so, `Interrupted` is raised, and nothing is lost.
        """
        self._finder.refresh(stop)
        self._finder.look_ahead(stop)

    def prepare(self, stop: Callable[[], bool] = never) -> Belief | None:
        """Do in advance what the next page and a look at the belief need; None if it was stopped.

        The belief that is returned is `self.belief`, kept for as long as somebody holds it.
        """
        try:
            return self._finder.prepare(stop)
        except Interrupted:
            return None

    def look_ahead(self, stop: Callable[[], bool] = never) -> bool:
        """After `prepare`, find the pages that the next click can lead to; whether that was all.

        All of them take longer than the one that is asked for then, but nobody waits for them.
        """
        try:
            self._finder.look_ahead(stop)
        except Interrupted:
            return False
        return True

    @property
    def belief(self) -> Belief:
        """What is believed now."""
        return self._finder.believe()

    def _repr_html_(self) -> str:
        page = self.more(0, self.state.start.page_size)
        facts = {
            "liked": ", ".join(self.likes),
            "disliked": ", ".join(self.dislikes),
            "said": ", ".join(self.state.said),
            "found": self.found_item or "",
            "candidates": f"about {self.belief.candidates:,.0f} of {len(self.catalog):,} items",
        }
        return facts_html(f"Session at step {self.step}", facts, page._repr_html_())

    def release_caches(self, columns: bool = False, sums: bool = False) -> None:
        """Let go of this step's belief; no result changes.

        columns: also of those kept for later clicks. sums: also of what `spare_bytes` counts.
        """
        self._finder.release_caches(columns)
        if sums and self.spare_bytes:
            self._finder.release_sums()

    def explain(self, item: str) -> Explanation:
        """Say which clicks brought an item to its place."""
        return self._finder.explain(item)

    def _append(self, event: Event) -> None:
        """Take an event into the log, or leave everything as it was."""
        self._rows.add(event)
        state = event.apply(self._state)
        try:
            self._finder.follow(state)
        except BaseException:
            self._finder.follow(self._state)
            raise
        self._state = state
        self._events.append(event)

    def displayed(self, item: str) -> list[str]:
        """Return the ids of the page given out last if it holds the item, else of this step's page.

        Who clicks on several items of a page before asking for the next one still looks at it.
        """
        if self._displayed is not None:
            state, ids = self._displayed
            if item in ids or state is self._state:
                return ids
        return self.more(0, self._state.start.page_size).ids


def _same_vectors(one: SearchableCatalog, other: SearchableCatalog) -> bool:
    """Return whether two versions of a catalog share their views, which a change makes anew."""
    for mine, theirs in ((one.views, other.views), (one.raw_views, other.raw_views)):
        if [*mine] != [*theirs] or any(mine[name] is not theirs[name] for name in mine):
            return False
    return True
