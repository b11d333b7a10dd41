"""The contract of stores in SQL; what differs between databases is how they are spoken to."""

from __future__ import annotations

import json
import logging
import threading
import time
import weakref
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from seeker.stores.base import (
    ClockReading,
    DamagedSession,
    EventJson,
    IdempotencyKey,
    IdempotencyRecord,
    PendingWrite,
    StaleWriteError,
    StoredSession,
    StoreLocked,
    Timeouts,
)
from seeker.stores.migrations import bring_up, newest
from seeker.stores.write_queue import Statement, Write, WriteQueue


class Closable(Protocol):
    """What can be closed."""

    def close(self) -> None:
        """Let go of it."""
        ...


Connection = TypeVar("Connection", bound=Closable)


class _ThreadConnection(Generic[Connection]):
    """A connection that is closed when its thread ends: servers' threads come and go."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


class Connections(Generic[Connection]):
    """Connections by thread; usable: whether one that was opened earlier still is one."""

    def __init__(
        self, open: Callable[[], Connection], usable: Callable[[Connection], bool] = lambda _: True
    ) -> None:
        self._open = open
        self._usable = usable
        self._lock = threading.Lock()
        self._local = threading.local()
        self._all: weakref.WeakSet[_ThreadConnection[Connection]] = weakref.WeakSet()

    def get(self) -> Connection:
        """Return this thread's connection."""
        own: _ThreadConnection[Connection] | None = getattr(self._local, "own", None)
        if own is None or not self._usable(own.connection):
            own = self._local.own = _ThreadConnection(self._open())
            with self._lock:
                self._all.add(own)
        return own.connection

    def close(self) -> None:
        """Close all connections, whoever has them."""
        with self._lock:
            for own in list(self._all):
                own.connection.close()
            self._all.clear()
            self._local = threading.local()


class Cursor(Protocol):
    """What an executed statement gives back."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all rows."""
        ...


class Transaction(Protocol):
    """Statements that take effect together or not at all; values stand as question marks."""

    def __call__(self, sql: str, *values: object) -> Cursor:
        """Run a statement."""
        ...


_SESSION_COLUMNS = "id, catalog, owner, person, began, active, length, network"
_PAGE_ROWS = 256
_LOCK_POLL_SECONDS = 0.1
_LOGGER = logging.getLogger("seeker")


class SqlStore(ABC):
    """Sessions, their events, idempotency keys and shares in four tables."""

    write_seconds: float
    """How long a click may wait until it is its turn to be written."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that only reads."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that is durable when its block has ended."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""

    @abstractmethod
    def reclaim(self, most: int) -> int:
        """Give space that is no longer used back to the disk, `most` bytes; return how many."""

    @abstractmethod
    def upgrading(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that no other process has meanwhile; StoreLocked if one has."""

    @abstractmethod
    def version(self, run: Transaction) -> int:
        """Return the version of the tables that are there, 0 if there are none."""

    def migrate(self, timeouts: Timeouts) -> None:
        """Bring the tables to the present version, step by step, all or nothing.

        Only who has to change something waits for others, says so, and not for ever.
        """
        until = time.monotonic() + timeouts.start
        warned = False
        while True:
            try:
                with self.reading() as run:
                    if self.version(run) == newest():
                        return
                with self.upgrading() as run:
                    bring_up(run, "The store", "seeker_schema")
                return
            except StoreLocked:
                if time.monotonic() >= until:
                    raise
            if not warned:
                _LOGGER.warning(
                    "store locked",
                    extra={"fields": {"wait_seconds": timeouts.start}},
                )
                warned = True
            time.sleep(_LOCK_POLL_SECONDS)

    @cached_property
    def _writes(self) -> WriteQueue:
        return WriteQueue(self.commit, self.commit_alone, self.write_seconds)

    def commit(self, writes: Sequence[Write]) -> None:
        """Keep some writes, all in one transaction; see `WriteQueue`."""
        with self.writing() as run:
            for sql, values, stale in (one for write in writes for one in write.statements):
                if run(sql, *values).rowcount != 1:
                    raise StaleWriteError(stale)

    def commit_alone(self, write: Write) -> None:
        """Keep one write, and wait for it."""
        SqlStore.commit(self, [write])

    def create(self, session: StoredSession, key: IdempotencyKey | None = None) -> None:
        """Keep a new session with its first events."""
        self.create_soon(session, key).result()

    def create_soon(
        self, session: StoredSession, key: IdempotencyKey | None = None
    ) -> PendingWrite:
        """Begin to keep a new session."""
        length = len(session.events)
        columns = (session.id, session.catalog, session.owner, session.person)
        statements = [
            Statement(
                f"INSERT INTO sessions ({_SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                (*columns, session.began, session.active, length, session.network),
                "There is a session with this id already.",
            )
        ]
        happened = zip(session.events, session.event_times, strict=True)
        for sequence, (event, at) in enumerate(happened, 1):
            statements.append(_insert(session.id, sequence, at, event))
        statements += _remember(key, session.id, length)
        return self._writes.submit(Write(session.id, statements))

    def load(self, session: str, after: int = 0) -> StoredSession | None:
        """Return a session with the events beyond the first `after`."""
        with self.reading() as run:
            rows = run(
                "SELECT sessions.id, catalog, owner, person, began, active, length, "
                "network, sequence, at, body, checksum "
                "FROM sessions LEFT JOIN events ON events.session = sessions.id "
                "AND events.sequence > ? WHERE sessions.id = ? ORDER BY events.sequence",
                after,
                session,
            ).fetchall()
        if not rows:
            return None
        id, catalog, owner, person, began, active, length, network, *_ = rows[0]
        events: list[EventJson] = []
        times: list[float] = []
        for *_, sequence, at, body, checksum in rows:
            if sequence is not None:
                if sequence != after + len(events) + 1:
                    break
                events.append(_event(id, sequence, body, checksum))
                times.append(at)
        if after + len(events) < length:
            raise DamagedSession(id, after + len(events) + 1, "it is missing")
        return StoredSession(
            id, catalog, owner, person, began, active, length, events, times, network
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
        self.append_soon(session, expected, event, at, key).result()

    def append_soon(
        self,
        session: str,
        expected: int,
        event: EventJson,
        at: float,
        key: IdempotencyKey | None = None,
    ) -> PendingWrite:
        """Begin to add an event to a session of `expected` events."""
        # The one statement that decides who is first: a length can be left only once.
        advance = Statement(
            "UPDATE sessions SET length = ?, active = ? WHERE id = ? AND length = ?",
            (expected + 1, at, session, expected),
            "The session has moved on.",
        )
        insert = _insert(session, expected + 1, at, event)
        statements = [advance, insert, *_remember(key, session, expected + 1)]
        return self._writes.submit(Write(session, statements))

    def idempotency_record(self, scope: str, name: str) -> IdempotencyRecord | None:
        """Return what an idempotency key was used for."""
        with self.reading() as run:
            rows = run(
                "SELECT fingerprint, session, length FROM idempotency WHERE scope = ? AND name = ?",
                scope,
                name,
            ).fetchall()
        return IdempotencyRecord(*rows[0]) if rows else None

    def share(self, session: str, token: str) -> str | None:
        """Let a token stand for a session, unless one does."""
        with self.writing() as run:
            run(
                "INSERT INTO shares (session, token) SELECT id, ? FROM sessions WHERE id = ? "
                "ON CONFLICT DO NOTHING",
                token,
                session,
            )
            rows = run("SELECT token FROM shares WHERE session = ?", session).fetchall()
        return str(rows[0][0]) if rows else None

    def shared_session(self, token: str) -> str | None:
        """Return the session that a token stands for."""
        with self.reading() as run:
            rows = run("SELECT session FROM shares WHERE token = ?", token).fetchall()
        return str(rows[0][0]) if rows else None

    def unshare(self, session: str) -> bool:
        """Let no token stand for a session any longer."""
        with self.writing() as run:
            return run("DELETE FROM shares WHERE session = ?", session).rowcount == 1

    def delete(self, session: str) -> bool:
        """Forget a session and all that belongs to it."""
        with self.writing() as run:
            return run("DELETE FROM sessions WHERE id = ?", session).rowcount == 1

    def expire(self, before: float, most: int) -> int:
        """Forget some sessions that were last active before a time."""
        with self.writing() as run:
            # The time is compared twice: somebody may click between looking and deleting.
            return run(
                "DELETE FROM sessions WHERE active < ? AND id IN "
                "(SELECT id FROM sessions WHERE active < ? ORDER BY active LIMIT ?)",
                before,
                before,
                most,
            ).rowcount

    def clock(self) -> tuple[float | None, ClockReading | None]:
        """Return when a session was last active, and what was noted of the clock before."""
        with self.reading() as run:
            newest_activity = run("SELECT max(active) FROM sessions").fetchall()[0][0]
            noted = run("SELECT at, since, lost FROM clock_reading").fetchall()
        return newest_activity, ClockReading(*noted[0]) if noted else None

    def note_clock(self, reading: ClockReading) -> None:
        """Keep what was seen of the clock."""
        with self.writing() as run:
            run(
                "INSERT INTO clock_reading (one, at, since, lost) VALUES (1, ?, ?, ?) "
                "ON CONFLICT (one) DO UPDATE "
                "SET at = excluded.at, since = excluded.since, lost = excluded.lost",
                reading.at,
                reading.since,
                reading.lost,
            )

    def count(self, owner: str | None = None) -> int:
        """Return how many sessions there are."""
        where, values = ("", ()) if owner is None else (" WHERE owner = ?", (owner,))
        with self.reading() as run:
            return int(run(f"SELECT count(*) FROM sessions{where}", *values).fetchall()[0][0])

    def find(
        self, person: str | None = None, owner: str | None = None, newest: bool = False
    ) -> Iterator[str]:
        """Yield the ids of sessions, a few at a time, so that nobody is held up."""
        order, sign = ("DESC", "<") if newest else ("ASC", ">")
        last: Sequence[Any] | None = None
        while True:
            conditions, values = ["1 = 1"], list[Any]()
            if person is not None:
                # An empty name is no owner's: API keys always have one.
                conditions.append("person = ? AND coalesce(owner, '') = ?")
                values += [person, owner or ""]
            if last is not None:
                conditions.append(f"(began, id) {sign} (?, ?)")
                values += last
            with self.reading() as run:
                rows = run(
                    f"SELECT began, id FROM sessions WHERE {' AND '.join(conditions)} "
                    f"ORDER BY began {order}, id {order} LIMIT {_PAGE_ROWS}",
                    *values,
                ).fetchall()
            yield from (row[1] for row in rows)
            if len(rows) < _PAGE_ROWS:
                return
            last = rows[-1]

    def ping(self) -> None:
        """Return if the store can be read and written: only a write finds a full disk."""
        with self.writing() as run:
            run("UPDATE store_probe SET number = number + 1")


_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def _insert(session: str, sequence: int, at: float, event: EventJson) -> Statement:
    body = _ENCODER.encode(event)
    return Statement(
        "INSERT INTO events (session, sequence, at, body, checksum) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (session, sequence, at, body, _checksum(body)),
        "This event is there already.",
    )


def _checksum(body: str) -> int:
    return zlib.crc32(body.encode("utf-8", "surrogatepass"))


def _event(session: str, sequence: int, body: str | bytes, checksum: int | None) -> EventJson:
    """Return an event as it was written; checksum: None of events from before there were any."""
    if not isinstance(body, str):
        raise DamagedSession(session, sequence, "it is not text")
    if checksum is not None and checksum != _checksum(body):
        raise DamagedSession(session, sequence, "its checksum is another")
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        raise DamagedSession(session, sequence, "it is not JSON") from None
    if not isinstance(event, dict):
        raise DamagedSession(session, sequence, "it is no event")
    return event


def _remember(key: IdempotencyKey | None, session: str, length: int) -> list[Statement]:
    if key is None:
        return []
    return [
        Statement(
            "INSERT INTO idempotency (scope, name, fingerprint, session, length) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (key.scope, key.name, key.fingerprint, session, length),
            "The idempotency key is in use.",
        )
    ]
