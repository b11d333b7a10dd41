"""The tables of a study, in the same SQLite file or PostgreSQL database as its sessions."""

from __future__ import annotations

import hashlib
import secrets
import string

from seeker.errors import BadInput, Conflict, NotFound
from seeker.stores import Store, StoreFailed
from seeker.stores.migrations import bring_up
from seeker.stores.sql import SqlStore
from seeker.study.design import Design
from seeker.study.records import Participant

_LABEL = string.ascii_lowercase + string.digits
_PERSON = "number, label, consent, began"


class Full(Conflict):
    """As many people take part as the organiser wants."""

    title = "The study is full"


def tables_of(store: Store) -> SqlStore:
    """Return a store that keeps tables; a study in memory would be lost with the process."""
    if not isinstance(store, SqlStore):
        raise BadInput("A study cannot be kept in memory.", "Name a file with --store.")
    return store


def migrate(store: SqlStore) -> None:
    """Bring the study's tables to the present version, step by step, all or nothing."""
    with store.writing() as run:
        bring_up(run, "The study", "study_schema", "seeker.study.migrations")


def digest(text: str) -> str:
    """Return a hash: of a consent text, or of a key, of which nothing else is kept."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def nobody() -> NotFound:
    """Return the error that tells of a key that nobody holds."""
    return NotFound(
        "Nobody takes part with this key.",
        "Whoever has withdrawn is deleted; begin anew if you like.",
    )


class People:
    """The study itself and who takes part in it."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def begin(self, design: Design, consent: str, at: float) -> Design:
        """Begin the study, or go on with it if it is the same; return its design.

        How many may take part and the consent text may change while a study goes on; whoever took
        part before has consented to what they saw.
        """
        there = self.design()
        different = [] if there is None else there.differences(design)
        if different:
            raise Conflict(
                f"The store holds a study of another design: {'; '.join(different)}.",
                "Give the same settings to go on with it, or another --store for a new study.",
            )
        migrate(self._store)
        with self._store.writing() as run:
            run(
                "INSERT INTO study_consents (digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING",
                digest(consent),
                consent,
            )
            run(
                "INSERT INTO study (one, design, consent, began, joined, withdrawn) "
                "VALUES (1, ?, ?, ?, 0, 0) ON CONFLICT (one) DO UPDATE "
                "SET design = excluded.design, consent = excluded.consent",
                design.to_json(),
                digest(consent),
                at,
            )
        return design

    def design(self) -> Design | None:
        """Return the design of the study in this store, or None if there is none."""
        if not self._there():
            return None
        migrate(self._store)
        with self._store.reading() as run:
            found = run("SELECT design FROM study").fetchall()
        return Design.from_json(found[0][0]) if found else None

    def begun(self) -> Design:
        """Return the design of the study that is in this store."""
        design = self.design()
        if design is None:
            raise NotFound("There is no study in this store.", "Begin one: seeker study CATALOG.")
        return design

    def consent(self) -> str:
        """Return the text that participants consent to now."""
        with self._store.reading() as run:
            found = run(
                "SELECT text FROM study_consents "
                "JOIN study ON study.consent = study_consents.digest"
            ).fetchall()
        return str(found[0][0])

    def counts(self) -> tuple[int, int]:
        """Return how many people ever joined, and how many of them have withdrawn."""
        with self._store.reading() as run:
            joined, withdrawn = run("SELECT joined, withdrawn FROM study").fetchall()[0]
        return int(joined), int(withdrawn)

    def join(self, consented: str, most: int, at: float) -> tuple[str, Participant]:
        """Add a participant, who gets the next number; return their key, which is not kept."""
        key = secrets.token_urlsafe(16)
        label = "".join(secrets.choice(_LABEL) for _ in range(10))
        with self._store.writing() as run:
            # The update comes first: it keeps others out until this number is taken.
            run("UPDATE study SET joined = joined + 1")
            joined, withdrawn, consent = run(
                "SELECT joined, withdrawn, consent FROM study"
            ).fetchall()[0]
            if consented != consent:
                raise Conflict(
                    "The consent text has changed since you read it.", "Read it again, please."
                )
            if joined - withdrawn > most:
                raise Full("As many people take part as are needed.", "Thank you for coming.")
            run(
                f"INSERT INTO study_people (digest, {_PERSON}) VALUES (?, ?, ?, ?, ?)",
                digest(key),
                joined - 1,
                label,
                consented,
                at,
            )
        return key, Participant(joined - 1, label, consented, at)

    def of(self, key: str) -> Participant:
        """Return who holds a key."""
        with self._store.reading() as run:
            found = run(
                f"SELECT {_PERSON} FROM study_people WHERE digest = ?", digest(key)
            ).fetchall()
        if not found:
            raise nobody()
        return Participant(*found[0])

    def all(self) -> list[Participant]:
        """Return everybody who takes part, in the order of their coming."""
        with self._store.reading() as run:
            found = run(f"SELECT {_PERSON} FROM study_people ORDER BY number").fetchall()
        return [Participant(*one) for one in found]

    def _there(self) -> bool:
        """Return whether there are tables of a study; looking for one must not make one."""
        try:
            with self._store.reading() as run:
                run("SELECT version FROM study_schema").fetchall()
        except StoreFailed:
            self._store.ping()  # If the store itself fails, that is what is said.
            return False
        return True

    def withdraw(self, number: int) -> None:
        """Delete a participant and all that was recorded of them."""
        with self._store.writing() as run:
            if run("DELETE FROM study_people WHERE number = ?", number).rowcount == 1:
                run("UPDATE study SET withdrawn = withdrawn + 1")
