"""Sessions from their events."""

from __future__ import annotations

from collections.abc import Sequence

from seeker.catalog import Catalog
from seeker.engine.cache import Entry
from seeker.errors import BadInput, Conflict, SeekerError
from seeker.session import Event, Session, Start
from seeker.session.events import from_json
from seeker.stores import DamagedSession
from seeker.stores.base import Written


def replayed(catalog: Catalog, events: Sequence[Written], session: str) -> Session:
    """Return the session that these events make up."""
    read = [_read(session, number, event) for number, event in enumerate(events, 1)]
    try:
        return catalog.replay(read)
    except SeekerError as error:
        raise Conflict(
            f"The catalog has changed so that this session cannot go on: {error.message}",
            "Start a new session.",
        ) from error


def caught_up(entry: Entry, events: Sequence[Written], session: str) -> bool:
    """Bring an entry up to date with events of other processes; False if only a replay will do."""
    for event in [_read(session, n, event) for n, event in enumerate(events, entry.length + 1)]:
        if isinstance(event, Start):
            return False
        entry.session.take(event)
        entry.length += 1
        entry.summary = None
    return True


def _read(session: str, sequence: int, written: Written) -> Event:
    try:
        return from_json(written)
    except BadInput as error:
        raise DamagedSession(session, sequence, error.message) from error


def nameless(event: Written) -> Written:
    """Return an event without the name of a person; their vector is part of the search."""
    return {**event, "user": None} if isinstance(event.get("user"), str) else event
