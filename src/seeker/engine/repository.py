"""The sessions of one process: from memory, or rebuilt from their events; one caller at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from seeker.catalog import Catalog
from seeker.engine.cache import BeliefCache, CachedSession
from seeker.engine.catalogs import Catalogs
from seeker.engine.expiry import Expiry
from seeker.engine.workers import NamedLocks
from seeker.errors import BadInput, Conflict, NotFound, SeekerError
from seeker.session import Event, Session, Start
from seeker.session.events import parse_event
from seeker.stores import DamagedSession, Store, StoredSession
from seeker.stores.base import EventJson

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

    def session(self, catalog: Catalog, events: Sequence[EventJson], id: str) -> Session:
        """Return the session that these events make up, ready to show its page."""
        parsed = [_parse(id, sequence, event) for sequence, event in enumerate(events, 1)]
        try:
            session = catalog.replay(parsed)
        except SeekerError as error:
            raise Conflict(
                f"The catalog has changed so that this session cannot go on: {error.message}",
                "Start a new session.",
                code="catalog-changed",
            ) from error
        with self._lock:
            self.rebuilt += 1
        self._compute(session)
        return session

    def extend(self, entry: CachedSession, events: Sequence[EventJson], id: str) -> bool:
        """Bring an entry up to date with events of other processes; False if only a replay will do.

        Whatever is raised, the entry holds as many events as it says.
        """
        for event in [_parse(id, n, event) for n, event in enumerate(events, entry.length + 1)]:
            if isinstance(event, Start):
                return False
            try:
                entry.session.take(event)
            except NotFound:
                # It was done where an item was still there that has left the catalog here.
                return False
            entry.length += 1
            entry.summary = None
        if events:
            self._compute(entry.session)
        return True

    def _compute(self, session: Session) -> None:
        """Compute what the page of a session needs; aside, if that takes long."""
        long = session.pending_work > self._quick_work
        with self._aside() if long else nullcontext():
            session.catch_up_in_pieces(self._yielder())
            if long:
                session.page()

    def _yielder(self) -> Callable[[], None]:
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


def _parse(session: str, sequence: int, event: EventJson) -> Event:
    try:
        return parse_event(event)
    except BadInput as error:
        raise DamagedSession(session, sequence, error.message) from error


def without_name(event: EventJson) -> EventJson:
    """Return an event without the name of a person; their vector is part of the search."""
    return {**event, "user": None} if isinstance(event.get("user"), str) else event


class SessionRepository:
    """Sessions by id, each with all events that are stored of it, whoever wrote them."""

    def __init__(
        self,
        catalogs: Catalogs,
        store: Store,
        cache: BeliefCache,
        rebuilder: Rebuilder,
        expiry: Expiry,
    ) -> None:
        self._catalogs = catalogs
        self._store = store
        self._cache = cache
        self._rebuilder = rebuilder
        self._expiry = expiry
        self._locks = NamedLocks(threading.Lock)

    @contextmanager
    def turn(self, id: str) -> Iterator[None]:
        """Wait until nobody else is at a session."""
        with self._locks.lend(id) as lock, lock:
            yield

    @contextmanager
    def open(self, id: str, trusting: bool = False) -> Iterator[CachedSession]:
        """Lend a session to who has the turn.

        trusting: one that is in memory is lent as it is, without looking whether somebody else has
        written since. Good for who writes next, as the store refuses what does not fit.
        """
        entry = self._renew(id, self._cache.take(id), trusting)
        try:
            yield entry
        finally:
            # A session that holds more than was stored would tell of what never happened.
            if len(entry.session.events) == entry.length:
                self._cache.put(id, entry)

    @contextmanager
    def open_at_once(self, id: str) -> Iterator[CachedSession | None]:
        """Lend a session with its turn, or None where that takes looking or waiting for anything.

        It is one to write to next, as the store refuses what does not fit.
        """
        with self._locks.lend(id) as lock:
            if not lock.acquire(blocking=False):
                yield None
                return
            try:
                entry = self._cache.take(id, counted=False)
                try:
                    yield entry if entry is not None and self._surely_current(entry) else None
                finally:
                    if entry is not None and len(entry.session.events) == entry.length:
                        self._cache.put(id, entry)
            finally:
                lock.release()

    @contextmanager
    def open_idle(self, id: str) -> Iterator[CachedSession | None]:
        """Lend a session that is in memory and that nobody is at, or None."""
        if self._locks.users(id):
            yield None
            return
        with self.turn(id):
            entry = self._cache.take(id, counted=False)
            yield entry
            if entry is not None:
                self._cache.put(id, entry)

    def stored(self, id: str, after: int = 0) -> StoredSession:
        """Return what is stored of a session, with the events beyond the first `after`."""
        stored = self._store.load(id, after)
        if stored is None or self._expiry.expired(stored.active):
            raise no_session()
        return stored

    def delete(self, id: str) -> None:
        """Forget a session and all that belongs to it."""
        with self.turn(id):
            self._cache.forget(id)
            if not self._store.delete(id):
                raise no_session()

    def _current(self, entry: CachedSession) -> bool:
        """Whether a session in memory is neither forgotten by now nor bound to an old catalog."""
        if self._expiry.expired(entry.active):
            return False
        return entry.move_to(self._catalogs.get(entry.name)[1])

    def _surely_current(self, entry: CachedSession) -> bool:
        """Whether a session in memory is known to be current without asking the store or a disk."""
        return self._catalogs.is_current(entry.name, entry.catalog) and not (
            self._expiry.maybe_expired(entry.active)
        )

    def _renew(self, id: str, entry: CachedSession | None, trusting: bool) -> CachedSession:
        """Return a session up to date; where that fails for now, what was in memory stays there."""
        try:
            if entry is not None and trusting and self._current(entry):
                return entry
            return self._bring_up(id, entry)
        except SeekerError as error:
            if entry is not None and error.http_status == 503:
                self._cache.put(id, entry)
            raise

    def _bring_up(self, id: str, entry: CachedSession | None) -> CachedSession:
        """Return a session with all that is stored of it; entry: as it was in memory, if it was."""
        stored = self.stored(id, 0 if entry is None else entry.length)
        began_in = catalog_id(stored.events) if entry is None else entry.session.state.start.catalog
        name, catalog = self._catalogs.of_session(stored.catalog, began_in)
        if entry is not None:
            whole = stored.length == entry.length + len(stored.events)
            if (
                whole
                and entry.move_to(catalog)
                and self._rebuilder.extend(entry, stored.events, id)
            ):
                entry.active = stored.active
                return entry
            stored = self.stored(id)
        session = self._rebuilder.session(catalog, stored.events, id)
        return CachedSession(session, name, catalog, stored.length, stored.active)


def catalog_id(events: Sequence[EventJson]) -> str:
    """Return the id of the catalog in which a session with these events began; empty if unknown."""
    id = events[0].get("catalog") if events else None
    return id if isinstance(id, str) else ""


def no_session() -> NotFound:
    """Return the error that tells of a session that is not there."""
    return NotFound("There is no such session.", "Start one with POST /v1/sessions.")


def no_share() -> NotFound:
    """Return the error that tells of a token with which nothing is shared."""
    return NotFound("There is no such shared session.", "Ask for the address again.")
