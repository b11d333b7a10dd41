"""The tables of a study, in the same database as its sessions."""

from __future__ import annotations

import hashlib
import json
import secrets
import string
from collections.abc import Iterator, Sequence
from typing import Any

from seeker.errors import BadInput, Conflict, NotFound
from seeker.stores import Store, StoreError
from seeker.stores.migrations import bring_up
from seeker.stores.sql import SqlStore, Transaction
from seeker.study.design import Design
from seeker.study.records import ActRecord, Outcome, Participant, Step, Trial

_LABEL_CHARACTERS = string.ascii_lowercase + string.digits
_PERSON_COLUMNS = "number, label, consent, began"


class StudyFullError(Conflict):
    """As many people take part as the organiser wants."""


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


def unknown_participant() -> NotFound:
    """Return the error that tells of a key that nobody holds."""
    return NotFound(
        "Nobody takes part with this key.",
        "Whoever has withdrawn is deleted; begin anew if you like.",
    )


class ParticipantTable:
    """The study itself and who takes part in it."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def begin(self, design: Design, consent: str, at: float) -> Design:
        """Begin the study, or go on with it if it is the same; return its design.

        How many may take part and the consent text may change while a study goes on; whoever took
        part before has consented to what they saw.
        """
        stored = self.design()
        differences = [] if stored is None else stored.differences(design)
        if differences:
            raise Conflict(
                f"The store holds a study of another design: {'; '.join(differences)}.",
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
        if not self._exists():
            return None
        migrate(self._store)
        with self._store.reading() as run:
            rows = run("SELECT design FROM study").fetchall()
        return Design.from_json(rows[0][0]) if rows else None

    def require_design(self) -> Design:
        """Return the design of the study that is in this store."""
        design = self.design()
        if design is None:
            raise NotFound("There is no study in this store.", "Begin one: seeker study CATALOG.")
        return design

    def consent(self) -> str:
        """Return the text that participants consent to now."""
        with self._store.reading() as run:
            rows = run(
                "SELECT text FROM study_consents "
                "JOIN study ON study.consent = study_consents.digest"
            ).fetchall()
        return str(rows[0][0])

    def counts(self) -> tuple[int, int]:
        """Return how many people ever joined, and how many of them have withdrawn."""
        with self._store.reading() as run:
            joined, withdrawn = run("SELECT joined, withdrawn FROM study").fetchall()[0]
        return int(joined), int(withdrawn)

    def join(self, consent: str, max_people: int, at: float) -> tuple[str, Participant]:
        """Add a participant, who gets the next number; return their key, which is not kept."""
        key = secrets.token_urlsafe(16)
        label = "".join(secrets.choice(_LABEL_CHARACTERS) for _ in range(10))
        with self._store.writing() as run:
            # The update comes first: it keeps others out until this number is taken.
            run("UPDATE study SET joined = joined + 1")
            joined, withdrawn, current_consent = run(
                "SELECT joined, withdrawn, consent FROM study"
            ).fetchall()[0]
            if consent != current_consent:
                raise Conflict(
                    "The consent text has changed since you read it.", "Read it again, please."
                )
            if joined - withdrawn > max_people:
                raise StudyFullError(
                    "As many people take part as are needed.", "Thank you for coming."
                )
            run(
                f"INSERT INTO study_people (digest, {_PERSON_COLUMNS}) VALUES (?, ?, ?, ?, ?)",
                digest(key),
                joined - 1,
                label,
                consent,
                at,
            )
        return key, Participant(joined - 1, label, consent, at)

    def by_key(self, key: str) -> Participant:
        """Return who holds a key."""
        with self._store.reading() as run:
            rows = run(
                f"SELECT {_PERSON_COLUMNS} FROM study_people WHERE digest = ?", digest(key)
            ).fetchall()
        if not rows:
            raise unknown_participant()
        return Participant(*rows[0])

    def all(self) -> list[Participant]:
        """Return everybody who takes part, in the order of their coming."""
        with self._store.reading() as run:
            rows = run(f"SELECT {_PERSON_COLUMNS} FROM study_people ORDER BY number").fetchall()
        return [Participant(*row) for row in rows]

    def _exists(self) -> bool:
        """Return whether there are tables of a study; looking for one must not make one."""
        try:
            with self._store.reading() as run:
                run("SELECT version FROM study_schema").fetchall()
        except StoreError:
            self._store.ping()  # If the store itself fails, that is what is said.
            return False
        return True

    def withdraw(self, number: int) -> None:
        """Delete a participant and all that was recorded of them."""
        with self._store.writing() as run:
            if run("DELETE FROM study_people WHERE number = ?", number).rowcount == 1:
                run("UPDATE study SET withdrawn = withdrawn + 1")


_TRIAL_COLUMNS = (
    "session, person, number, target, target_row, model, strategy, seed, version, "
    "began, ended, outcome"
)
_STEP_COLUMNS = (
    "number, at, opened, milliseconds, target_rank, on_page, claimed, page, page_rows, "
    "act, item, shown, acted, mistaken"
)


class TrialTable:
    """Trials by their sessions."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def add(self, trial: Trial) -> bool:
        """Keep a new trial; False if this person has one of this number already."""
        with self._store.writing() as run:
            values = [getattr(trial, name.strip()) for name in _TRIAL_COLUMNS.split(",")]
            marks = ", ".join("?" * len(values))
            inserted = run(
                f"INSERT INTO study_trials ({_TRIAL_COLUMNS}) VALUES ({marks}) "
                "ON CONFLICT DO NOTHING",
                *values,
            )
            return inserted.rowcount == 1

    def by_session(self, session: str) -> Trial | None:
        """Return the trial that a session belongs to."""
        return next(self._find("session = ?", session), None)

    def by_person(self, person: int) -> list[Trial]:
        """Return a participant's trials in their order."""
        return list(self._find("person = ?", person))

    def all(self) -> Iterator[Trial]:
        """Yield all trials, person by person."""
        return self._find("1 = ?", 1)

    def steps(self, session: str) -> list[Step]:
        """Return the steps of a trial in their order."""
        with self._store.reading() as run:
            rows = run(
                f"SELECT {_STEP_COLUMNS} FROM study_steps WHERE session = ? ORDER BY number",
                session,
            ).fetchall()
        return [_step(row) for row in rows]

    def last_page(self, session: str) -> int:
        """Return the number of the last page that was recorded, −1 if there is none yet."""
        with self._store.reading() as run:
            rows = run("SELECT max(number) FROM study_steps WHERE session = ?", session).fetchall()
        return -1 if rows[0][0] is None else int(rows[0][0])

    def record(
        self,
        session: str,
        acts: Sequence[ActRecord],
        pages: Sequence[Step],
        outcome: Outcome | None,
        at: float,
    ) -> None:
        """Record what was done on which page, the pages that came of it, and how it ended.

        Whatever is recorded already stays as it is, so that this may be repeated.
        """
        with self._store.writing() as run:
            for page in pages:
                _insert(run, session, page)
            for act in acts:
                run(
                    "UPDATE study_steps SET act = ?, item = ?, shown = ?, acted = ? "
                    "WHERE session = ? AND number = ? AND act IS NULL",
                    act.act,
                    act.item,
                    json.dumps(list(act.shown)),
                    at,
                    session,
                    act.number,
                )
            if outcome is not None:
                run(
                    "UPDATE study_trials SET ended = ?, outcome = ? "
                    "WHERE session = ? AND outcome IS NULL",
                    at,
                    outcome,
                    session,
                )

    def counts(self) -> list[tuple[str, str, int, Outcome | None, int, bool]]:
        """Return of every trial: model, strategy, person, outcome, pages, and if overlooked.

        A target was overlooked if it was on a page on which something else was done than picking
        it, as `Step.overlooked` has it.
        """
        with self._store.reading() as run:
            rows = run(
                "SELECT model, strategy, person, outcome, count(study_steps.number), "
                "max(CASE WHEN on_page = 1 AND act IS NOT NULL "
                "AND NOT (act IN ('found', 'like') AND item = target) THEN 1 ELSE 0 END) "
                "FROM study_trials LEFT JOIN study_steps "
                "ON study_steps.session = study_trials.session "
                "GROUP BY study_trials.session, model, strategy, person, outcome"
            ).fetchall()
        return [(*row[:5], bool(row[5])) for row in rows]

    def record_opening(self, session: str, at: float) -> None:
        """Record that the last page was opened again: what lies between is no looking."""
        with self._store.writing() as run:
            run("UPDATE study_steps SET opened = ? WHERE session = ? AND act IS NULL", at, session)

    def record_mistake(self, session: str) -> None:
        """Record that another item on the last page was taken for the target."""
        with self._store.writing() as run:
            run(
                "UPDATE study_steps SET mistaken = mistaken + 1 WHERE session = ? AND act IS NULL",
                session,
            )

    def _find(self, where: str, value: object) -> Iterator[Trial]:
        with self._store.reading() as run:
            rows = run(
                f"SELECT {_TRIAL_COLUMNS} FROM study_trials WHERE {where} ORDER BY person, number",
                value,
            ).fetchall()
        return (Trial(*row) for row in rows)


def _insert(run: Transaction, session: str, page: Step) -> None:
    run(
        f"INSERT INTO study_steps (session, {_STEP_COLUMNS}) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL, NULL, 0) ON CONFLICT DO NOTHING",
        session,
        page.number,
        page.at,
        page.opened,
        page.milliseconds,
        page.rank,
        int(page.on_page),
        page.claimed,
        json.dumps(list(page.page)),
        json.dumps(list(page.rows)),
    )


def _step(row: Sequence[Any]) -> Step:
    number, at, opened, milliseconds, rank, on_page, claimed = row[:7]
    page, rows, act, item, shown, acted, mistaken = row[7:]
    return Step(
        number,
        at,
        opened,
        milliseconds,
        rank,
        bool(on_page),
        claimed,
        tuple(json.loads(page)),
        tuple(json.loads(rows)),
        act,
        item,
        tuple(json.loads(shown)) if shown else (),
        acted,
        mistaken,
    )
