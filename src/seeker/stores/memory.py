"""Sessions in memory: for tests and for trying things out; gone with the process."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace

from seeker.stores.base import (
    ClockReading,
    EventJson,
    IdempotencyKey,
    IdempotencyRecord,
    PendingWrite,
    StaleWriteError,
    StoredSession,
)


class MemoryStore:
    """The contract of stores in its plainest form."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[str, StoredSession] = {}
        self._keys: dict[tuple[str, str], IdempotencyRecord] = {}
        self._shares: dict[str, str] = {}
        self._reading: ClockReading | None = None

    def create(self, session: StoredSession, key: IdempotencyKey | None = None) -> None:
        """Keep a new session with its first events."""
        with self._lock:
            if session.id in self._sessions:
                raise StaleWriteError("There is a session with this id already.")
            self._remember(key, session.id, len(session.events))
            self._sessions[session.id] = replace(
                session,
                length=len(session.events),
                events=[_plain(one) for one in session.events],
                times=list(session.event_times),
            )

    def create_soon(
        self, session: StoredSession, key: IdempotencyKey | None = None
    ) -> PendingWrite:
        """Keep a new session at once."""
        return _done(lambda: self.create(session, key))

    def load(self, session: str, after: int = 0) -> StoredSession | None:
        """Return a session with the events beyond the first `after`."""
        with self._lock:
            stored = self._sessions.get(session)
            return stored and replace(
                stored, events=list(stored.events[after:]), times=list(stored.times[after:])
            )

    def append(
        self,
        session: str,
        expected: int,
        event: EventJson,
        at: float,
        key: IdempotencyKey | None = None,
    ) -> None:
        """Add an event to a session of `expected` events."""
        with self._lock:
            stored = self._sessions.get(session)
            if stored is None or stored.length != expected:
                raise StaleWriteError("The session has moved on.")
            self._remember(key, session, expected + 1)
            events = [*stored.events, _plain(event)]
            self._sessions[session] = replace(
                stored, active=at, length=len(events), events=events, times=[*stored.times, at]
            )

    def append_soon(
        self,
        session: str,
        expected: int,
        event: EventJson,
        at: float,
        key: IdempotencyKey | None = None,
    ) -> PendingWrite:
        """Add an event at once."""
        return _done(lambda: self.append(session, expected, event, at, key))

    def idempotency_record(self, scope: str, name: str) -> IdempotencyRecord | None:
        """Return what an idempotency key was used for."""
        with self._lock:
            return self._keys.get((scope, name))

    def share(self, session: str, token: str) -> str | None:
        """Let a token stand for a session, unless one does."""
        with self._lock:
            if session not in self._sessions:
                return None
            return self._shares.setdefault(session, token)

    def shared_session(self, token: str) -> str | None:
        """Return the session that a token stands for."""
        with self._lock:
            return next((one for one, its in self._shares.items() if its == token), None)

    def unshare(self, session: str) -> bool:
        """Let no token stand for a session any longer."""
        with self._lock:
            return self._shares.pop(session, None) is not None

    def delete(self, session: str) -> bool:
        """Forget a session and all that belongs to it."""
        with self._lock:
            return self._forget({session}) > 0

    def expire(self, before: float, most: int) -> int:
        """Forget some sessions that were last active before a time."""
        with self._lock:
            old = sorted(
                (stored.active, stored.id)
                for stored in self._sessions.values()
                if stored.active < before
            )
            return self._forget({id for _, id in old[:most]})

    def reclaim(self, most: int) -> int:
        """Memory has no file that could be smaller."""
        return 0

    def clock(self) -> tuple[float | None, ClockReading | None]:
        """Return when a session was last active, and what was noted of the clock before."""
        with self._lock:
            newest = max((stored.active for stored in self._sessions.values()), default=None)
            return newest, self._reading

    def note_clock(self, reading: ClockReading) -> None:
        """Keep what was seen of the clock."""
        self._reading = reading

    def count(self, owner: str | None = None) -> int:
        """Return how many sessions there are."""
        with self._lock:
            if owner is None:
                return len(self._sessions)
            return sum(stored.owner == owner for stored in self._sessions.values())

    def find(
        self, person: str | None = None, owner: str | None = None, newest: bool = False
    ) -> Iterator[str]:
        """Yield the ids of sessions."""
        with self._lock:
            rows = sorted(
                (stored.began, stored.id)
                for stored in self._sessions.values()
                if person is None or (stored.person, stored.owner) == (person, owner)
            )
        yield from (id for _, id in (reversed(rows) if newest else rows))

    def ping(self) -> None:
        """Memory always answers."""

    def close(self) -> None:
        """There is nothing to let go of."""

    def _remember(self, key: IdempotencyKey | None, session: str, length: int) -> None:
        if key is None:
            return
        if (key.scope, key.name) in self._keys:
            raise StaleWriteError("The idempotency key is in use.")
        self._keys[key.scope, key.name] = IdempotencyRecord(key.fingerprint, session, length)

    def _forget(self, sessions: set[str]) -> int:
        ids = sessions & self._sessions.keys()
        for session in ids:
            del self._sessions[session]
            self._shares.pop(session, None)
        self._keys = {key: one for key, one in self._keys.items() if one.session not in ids}
        return len(ids)


def _plain(event: EventJson) -> EventJson:
    """Return an event as JSON would bring it back, so that this store is no kinder than others."""
    return dict(json.loads(json.dumps(event, allow_nan=False)))


def _done(write: Callable[[], None]) -> PendingWrite:
    """Write something; what comes of it is told where it is waited for."""
    future: Future[None] = Future()
    try:
        write()
        future.set_result(None)
    except StaleWriteError as error:
        future.set_exception(error)
    return PendingWrite(future, write)
