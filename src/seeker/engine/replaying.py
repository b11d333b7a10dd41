"""Sessions from their events: short ones at once, long ones aside, where nobody waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from seeker.catalog import Catalog
from seeker.engine.cache import Entry
from seeker.errors import BadInput, Conflict, SeekerError
from seeker.session import Event, Session, Start
from seeker.session.events import parse_event
from seeker.stores import DamagedSession
from seeker.stores.base import Written

QUICK_WORK = 2e9
"""Multiplications up to which a session is rebuilt at once: about a tenth of a second."""

_LOOK_AGAIN_SECONDS = 0.001


class Rebuilder:
    """Rebuilds sessions from their events.

    aside: lends what is needed for work that takes long, and may refuse it. free: whether nobody
    else is at work. A long session is rebuilt some clicks at a time, and in between lets others go
    first for as long as it has kept them waiting.
    """

    def __init__(
        self,
        aside: Callable[[], AbstractContextManager[None]] = nullcontext,
        free: Callable[[], bool] = lambda: True,
        quick_work: float = QUICK_WORK,
    ) -> None:
        self._aside = aside
        self._free = free
        self._quick_work = quick_work
        self._lock = threading.Lock()
        self.rebuilt = 0
        """How many sessions were rebuilt."""

    def session(self, catalog: Catalog, events: Sequence[Written], id: str) -> Session:
        """Return the session that these events make up, ready to show its page."""
        read = [_read(id, sequence, event) for sequence, event in enumerate(events, 1)]
        try:
            session = catalog.replay(read)
        except SeekerError as error:
            raise Conflict(
                f"The catalog has changed so that this session cannot go on: {error.message}",
                "Start a new session.",
            ) from error
        with self._lock:
            self.rebuilt += 1
        self._computed(session)
        return session

    def extend(self, entry: Entry, events: Sequence[Written], id: str) -> bool:
        """Bring an entry up to date with events of other processes; False if only a replay will do.

        Whatever is raised, the entry holds as many events as it says.
        """
        for event in [_read(id, n, event) for n, event in enumerate(events, entry.length + 1)]:
            if isinstance(event, Start):
                return False
            entry.session.take(event)
            entry.length += 1
            entry.summary = None
        if events:
            self._computed(entry.session)
        return True

    def _computed(self, session: Session) -> None:
        """Compute what the page of a session needs; aside, if that takes long."""
        long = session.pending_work > self._quick_work
        with self._aside() if long else nullcontext():
            session.catch_up(self._giving_way())
            if long:
                session.page()

    def _giving_way(self) -> Callable[[], None]:
        """Return what is called now and then: others go first, but half of the time is ours."""
        began = time.monotonic()

        def give_way() -> None:
            nonlocal began
            now = time.monotonic()
            until = now + (now - began)
            while not self._free() and time.monotonic() < until:
                time.sleep(_LOOK_AGAIN_SECONDS)
            began = time.monotonic()

        return give_way


def _read(session: str, sequence: int, written: Written) -> Event:
    try:
        return parse_event(written)
    except BadInput as error:
        raise DamagedSession(session, sequence, error.message) from error


def nameless(event: Written) -> Written:
    """Return an event without the name of a person; their vector is part of the search."""
    return {**event, "user": None} if isinstance(event.get("user"), str) else event
