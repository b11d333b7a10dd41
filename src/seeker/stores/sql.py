"""The contract of stores in SQL; what differs between databases is how they are spoken to."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from seeker.stores.base import Kept, Key, Remembered, Stale, Written
from seeker.stores.migrations import bring_up


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


_KEPT = "id, catalog, owner, person, began, active, length"
_RUN = 256


class SqlStore(ABC):
    """Sessions, their events, idempotency keys and shares in four tables."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that only reads."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that is durable when its block has ended."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""

    def migrate(self, only_to: int | None = None) -> None:
        """Bring the tables to the present version, step by step, all or nothing."""
        with self.writing() as run:
            bring_up(run, "The store", "seeker_schema", only_to=only_to)

    def create(self, session: Kept, key: Key | None = None) -> None:
        """Keep a new session with its first events."""
        with self.writing() as run:
            made = run(
                f"INSERT INTO sessions ({_KEPT}) VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                session.id,
                session.catalog,
                session.owner,
                session.person,
                session.began,
                session.active,
                len(session.events),
            )
            if made.rowcount != 1:
                raise Stale("There is a session with this id already.")
            for sequence, event in enumerate(session.events, 1):
                _insert(run, session.id, sequence, session.began, event)
            _remember(run, key, session.id, len(session.events))

    def load(self, session: str, after: int = 0) -> Kept | None:
        """Return a session with the events beyond the first `after`."""
        with self.reading() as run:
            found = run(
                "SELECT sessions.id, catalog, owner, person, began, active, length, body "
                "FROM sessions LEFT JOIN events ON events.session = sessions.id "
                "AND events.sequence > ? WHERE sessions.id = ? ORDER BY events.sequence",
                after,
                session,
            ).fetchall()
        if not found:
            return None
        events = [json.loads(row[-1]) for row in found if row[-1] is not None]
        id, catalog, owner, person, began, active, length, _ = found[0]
        return Kept(id, catalog, owner, person, began, active, length, events)

    def append(
        self, session: str, expected: int, event: Written, at: float, key: Key | None = None
    ) -> None:
        """Add an event to a session of `expected` events."""
        with self.writing() as run:
            # The one statement that decides who is first: a length can be left only once.
            changed = run(
                "UPDATE sessions SET length = ?, active = ? WHERE id = ? AND length = ?",
                expected + 1,
                at,
                session,
                expected,
            )
            if changed.rowcount != 1:
                raise Stale("The session has moved on.")
            _insert(run, session, expected + 1, at, event)
            _remember(run, key, session, expected + 1)

    def remembered(self, scope: str, name: str) -> Remembered | None:
        """Return what an idempotency key was used for."""
        with self.reading() as run:
            found = run(
                "SELECT fingerprint, session, length FROM idempotency WHERE scope = ? AND name = ?",
                scope,
                name,
            ).fetchall()
        return Remembered(*found[0]) if found else None

    def share(self, session: str, token: str) -> str | None:
        """Let a token stand for a session, unless one does."""
        with self.writing() as run:
            run(
                "INSERT INTO shares (session, token) SELECT id, ? FROM sessions WHERE id = ? "
                "ON CONFLICT DO NOTHING",
                token,
                session,
            )
            found = run("SELECT token FROM shares WHERE session = ?", session).fetchall()
        return str(found[0][0]) if found else None

    def shared(self, token: str) -> str | None:
        """Return the session that a token stands for."""
        with self.reading() as run:
            found = run("SELECT session FROM shares WHERE token = ?", token).fetchall()
        return str(found[0][0]) if found else None

    def unshare(self, session: str) -> bool:
        """Let no token stand for a session any longer."""
        with self.writing() as run:
            return run("DELETE FROM shares WHERE session = ?", session).rowcount == 1

    def delete(self, session: str) -> bool:
        """Forget a session and all that belongs to it."""
        with self.writing() as run:
            return run("DELETE FROM sessions WHERE id = ?", session).rowcount == 1

    def expire(self, before: float) -> int:
        """Forget the sessions that were last active before a time."""
        with self.writing() as run:
            return run("DELETE FROM sessions WHERE active < ?", before).rowcount

    def count(self, owner: str | None = None) -> int:
        """Return how many sessions there are."""
        where, values = ("", ()) if owner is None else (" WHERE owner = ?", (owner,))
        with self.reading() as run:
            return int(run(f"SELECT count(*) FROM sessions{where}", *values).fetchall()[0][0])

    def find(
        self, person: str | None = None, owner: str | None = None, newest: bool = False
    ) -> Iterator[str]:
        """Yield the ids of sessions, a few at a time, so that none is held up."""
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
                found = run(
                    f"SELECT began, id FROM sessions WHERE {' AND '.join(conditions)} "
                    f"ORDER BY began {order}, id {order} LIMIT {_RUN}",
                    *values,
                ).fetchall()
            yield from (row[1] for row in found)
            if len(found) < _RUN:
                return
            last = found[-1]

    def ping(self) -> None:
        """Return if the store answers."""
        with self.reading() as run:
            run("SELECT version FROM seeker_schema").fetchall()


def _insert(run: Transaction, session: str, sequence: int, at: float, event: Written) -> None:
    run(
        "INSERT INTO events (session, sequence, at, body) VALUES (?, ?, ?, ?)",
        session,
        sequence,
        at,
        json.dumps(event, allow_nan=False, separators=(",", ":")),
    )


def _remember(run: Transaction, key: Key | None, session: str, length: int) -> None:
    if key is None:
        return
    made = run(
        "INSERT INTO idempotency (scope, name, fingerprint, session, length) "
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        key.scope,
        key.name,
        key.fingerprint,
        session,
        length,
    )
    if made.rowcount != 1:
        raise Stale("The idempotency key is in use.")
