"""The sessions of one process: from memory, or rebuilt from their events; one caller at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from seeker.engine.cache import BeliefCache, Entry
from seeker.engine.catalogs import Catalogs
from seeker.engine.expiry import Expiry
from seeker.engine.locks import Locks
from seeker.engine.replaying import Rebuilder
from seeker.errors import NotFound, SeekerError
from seeker.stores import Kept, Store


class Sessions:
    """Sessions by id, each with all events that are kept of it, whoever wrote them."""

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
        self._locks = Locks()

    @contextmanager
    def turn(self, id: str) -> Iterator[None]:
        """Wait until nobody else is at a session."""
        with self._locks.hold(id):
            yield

    @contextmanager
    def opened(self, id: str, trusting: bool = False) -> Iterator[Entry]:
        """Lend a session to who has the turn.

        trusting: one that is in memory is lent as it is, without looking whether somebody else has
        written since. Good for who writes next, as the store refuses what does not fit.
        """
        entry = self._renewed(id, self._cache.take(id), trusting)
        try:
            yield entry
        finally:
            # A session that holds more than was kept would tell of what never happened.
            if len(entry.session.events) == entry.length:
                self._cache.put(id, entry)

    @contextmanager
    def idle(self, id: str) -> Iterator[Entry | None]:
        """Lend a session that is in memory and that nobody is at, or None."""
        if self._locks.wanted(id):
            yield None
            return
        with self._locks.hold(id):
            entry = self._cache.take(id, counted=False)
            yield entry
            if entry is not None:
                self._cache.put(id, entry)

    def kept(self, id: str, after: int = 0) -> Kept:
        """Return what is kept of a session, with the events beyond the first `after`."""
        kept = self._store.load(id, after)
        if kept is None or self._expiry.expired(kept.active):
            raise no_session()
        return kept

    def delete(self, id: str) -> None:
        """Forget a session and all that belongs to it."""
        with self.turn(id):
            self._cache.forget(id)
            if not self._store.delete(id):
                raise no_session()

    def _current(self, entry: Entry) -> bool:
        """Whether a session in memory is neither forgotten by now nor of an old catalog."""
        if self._expiry.expired(entry.active):
            return False
        return self._catalogs.get(entry.name)[1] is entry.catalog

    def _renewed(self, id: str, entry: Entry | None, trusting: bool) -> Entry:
        """Return a session up to date; where that fails for now, what was in memory stays there."""
        try:
            if entry is not None and trusting and self._current(entry):
                return entry
            return self._up_to_date(id, entry)
        except SeekerError as error:
            if entry is not None and error.http_status == 503:
                self._cache.put(id, entry)
            raise

    def _up_to_date(self, id: str, entry: Entry | None) -> Entry:
        """Return a session with all that is kept of it; entry: as it was in memory, if it was."""
        kept = self.kept(id, 0 if entry is None else entry.length)
        name, catalog = self._catalogs.get(kept.catalog)
        if entry is not None:
            whole = kept.length == entry.length + len(kept.events)
            fits = whole and entry.catalog is catalog
            if fits and self._rebuilder.extend(entry, kept.events, id):
                entry.active = kept.active
                return entry
            kept = self.kept(id)
        session = self._rebuilder.session(catalog, kept.events, id)
        return Entry(session, name, catalog, kept.length, kept.active)


def no_session() -> NotFound:
    """Return the error that tells of a session that is not there."""
    return NotFound("There is no such session.", "Start one with POST /v1/sessions.")


def no_share() -> NotFound:
    """Return the error that tells of a token with which nothing is shared."""
    return NotFound("There is no such shared session.", "Ask for the address again.")
