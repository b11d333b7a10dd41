"""What every event store does. Events are the truth; all else can be computed from them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from seeker.errors import Conflict, SeekerError

EventJson: TypeAlias = Mapping[str, Any]
"""An event as plain JSON values."""


class StaleWriteError(Conflict):
    """Something else was written first; nothing of this was kept."""


class WriteAlone(Exception):
    """A write would have kept others waiting; whoever wants it may wait for it."""


class StoreError(SeekerError):
    """The store cannot be reached or written; what was asked for may be tried again.

    message and hint are for whoever uses the service. reason and remedy are for whoever runs it:
    they go into the log and onto the terminal, never into an answer.
    """

    exit_code = 5
    http_status = 503
    retry_after = 2

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(
            "The sessions cannot be kept or read at the moment.",
            f"Try again in {self.retry_after} seconds.",
        )
        self.reason = reason
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message.removesuffix('.')}: {self.reason}. {self.remedy}".strip()


class StoreFull(StoreError):
    """The disk of the store is full."""


class StoreLocked(StoreError):
    """Somebody else holds the lock of the store."""


class DamagedSession(SeekerError):
    """What is kept of a session is not what was written; other sessions are not concerned."""

    exit_code = 5
    http_status = 500

    def __init__(self, session: str, sequence: int, reason: str) -> None:
        super().__init__(
            f"The session '{session}' is damaged: its event {sequence} cannot be read.",
            "Start a new session. Whoever runs the service may bring the store back from a "
            "backup, or delete this session.",
        )
        self.session = session
        self.sequence = sequence
        self.reason = reason


@dataclass(frozen=True)
class Timeouts:
    """Seconds to wait for a store.

    connect: for a connection. lock: for somebody else who is writing. statement: for one reading
    or writing. start: for another process that is bringing the tables up to date.
    """

    connect: float = 5.0
    lock: float = 5.0
    statement: float = 10.0
    start: float = 60.0


@dataclass(frozen=True)
class ClockReading:
    """What was seen when the clock was last looked at, in seconds since 1970.

    at: the time it showed. since: when it was last seen to have jumped. lost: by how many seconds
    sessions from before look older than they are.
    """

    at: float
    since: float
    lost: float = 0.0


@dataclass(frozen=True)
class IdempotencyKey:
    """An idempotency key: who uses it, its name, and what the request said."""

    scope: str
    name: str
    fingerprint: str


@dataclass(frozen=True)
class IdempotencyRecord:
    """What a key was used for: a request, and the session and length it led to."""

    fingerprint: str
    session: str
    length: int


@dataclass(frozen=True)
class StoredSession:
    """A session as it is kept, with some of its events.

    owner: the name of the API key that started it. person: whom the embedding site named. began,
    active: seconds since 1970. length: how many events it has. events: those asked for. times: when
    each of these happened; of a new session that does not say so, all when it began. network: from
    which group of networks it was started, a number that many share and that names nobody.
    """

    id: str
    catalog: str
    owner: str | None
    person: str | None
    began: float
    active: float
    length: int
    events: Sequence[EventJson] = ()
    times: Sequence[float] = ()
    network: int | None = None

    @property
    def event_times(self) -> Sequence[float]:
        """When each event happened, (events,)."""
        return self.times or [self.began] * len(self.events)


def pseudonym(session: str) -> str:
    """Return a name for a session that tells it from all others, but opens none: 32 digits.

    An id has 128 random bits, so nobody finds it by trying, and no secret is needed.
    """
    return hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:32]


class PendingWrite:
    """A write that is under way.

    future: done when it is on disk, or not. It fails with `WriteAlone` where the write has to wait
    for somebody else: then `result` does it, and waits.
    """

    def __init__(self, future: Future[None], alone: Callable[[], None]) -> None:
        self.future = future
        self._alone = alone

    def result(self) -> None:
        """Return when it is on disk; whatever is raised, nothing was kept, or may have been."""
        try:
            self.future.result()
        except WriteAlone:
            self._alone()


class Store(Protocol):
    """Sessions as append-only logs; safe for many threads, and durable stores for processes.

    What `create` and `append` return from is kept: it outlives the process at any moment. With
    `create_soon` and `append_soon` something else can be done meanwhile.
    """

    def create(self, session: StoredSession, key: IdempotencyKey | None = None) -> None:
        """Keep a new session with its first events; StaleWriteError if the key is in use."""
        ...

    def create_soon(
        self, session: StoredSession, key: IdempotencyKey | None = None
    ) -> PendingWrite:
        """Begin to keep a new session."""
        ...

    def load(self, session: str, after: int = 0) -> StoredSession | None:
        """Return a session with the events beyond the first `after`, or None if there is none.

        DamagedSession if these are not the events that were written.
        """
        ...

    def append(
        self,
        session: str,
        expected: int,
        event: EventJson,
        at: float,
        key: IdempotencyKey | None = None,
    ) -> None:
        """Add an event to a session of `expected` events.

        StaleWriteError if it is gone or not so long.
        """
        ...

    def append_soon(
        self,
        session: str,
        expected: int,
        event: EventJson,
        at: float,
        key: IdempotencyKey | None = None,
    ) -> PendingWrite:
        """Begin to add an event to a session of `expected` events."""
        ...

    def idempotency_record(self, scope: str, name: str) -> IdempotencyRecord | None:
        """Return what an idempotency key was used for."""
        ...

    def share(self, session: str, token: str) -> str | None:
        """Let a token stand for a session; return the one that stands for it from the first on.

        None if there is no such session.
        """
        ...

    def shared_session(self, token: str) -> str | None:
        """Return the session that a token stands for, or None."""
        ...

    def unshare(self, session: str) -> bool:
        """Let no token stand for a session any longer; return whether one did."""
        ...

    def delete(self, session: str) -> bool:
        """Forget a session and all that belongs to it; return whether it was there."""
        ...

    def expire(self, before: float, most: int) -> int:
        """Forget some sessions that were last active before a time; return how many.

        most: how many at once; whoever wants to write waits for so many.
        """
        ...

    def reclaim(self, most: int) -> int:
        """Give space that is no longer used back to the disk, `most` bytes; return how many."""
        ...

    def clock(self) -> tuple[float | None, ClockReading | None]:
        """Return when a session was last active, and what was noted of the clock before."""
        ...

    def note_clock(self, reading: ClockReading) -> None:
        """Keep what was seen of the clock."""
        ...

    def count(self, owner: str | None = None) -> int:
        """Return how many sessions there are, or how many one key has started."""
        ...

    def find(
        self, person: str | None = None, owner: str | None = None, newest: bool = False
    ) -> Iterator[str]:
        """Yield the ids of sessions, of one person if named, the first begun (or newest) first.

        Where a person is named, the owner counts, too: people of different sites are different.
        """
        ...

    def ping(self) -> None:
        """Return if the store can be read and written; StoreError if not."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
