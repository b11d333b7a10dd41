"""The records of trials and their steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from seeker.stores.sql import SqlStore, Transaction
from seeker.study.records import Act, Outcome, Step, Trial

_TRIAL = (
    "session, person, number, target, target_row, model, strategy, seed, version, "
    "began, ended, outcome"
)
_STEP = (
    "number, at, opened, milliseconds, target_rank, on_page, claimed, page, page_rows, "
    "act, item, shown, acted, mistaken"
)


class Trials:
    """Trials by their sessions."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def add(self, trial: Trial) -> bool:
        """Keep a new trial; False if this person has one of this number already."""
        with self._store.writing() as run:
            values = [getattr(trial, name.strip()) for name in _TRIAL.split(",")]
            marks = ", ".join("?" * len(values))
            made = run(
                f"INSERT INTO study_trials ({_TRIAL}) VALUES ({marks}) ON CONFLICT DO NOTHING",
                *values,
            )
            return made.rowcount == 1

    def of_session(self, session: str) -> Trial | None:
        """Return the trial that a session belongs to."""
        return next(self._find("session = ?", session), None)

    def of_person(self, person: int) -> list[Trial]:
        """Return a participant's trials in their order."""
        return list(self._find("person = ?", person))

    def all(self) -> Iterator[Trial]:
        """Yield all trials, person by person."""
        return self._find("1 = ?", 1)

    def steps(self, session: str) -> list[Step]:
        """Return the steps of a trial in their order."""
        with self._store.reading() as run:
            found = run(
                f"SELECT {_STEP} FROM study_steps WHERE session = ? ORDER BY number", session
            ).fetchall()
        return [_step(row) for row in found]

    def last(self, session: str) -> int:
        """Return the number of the last page that was recorded, −1 if there is none yet."""
        with self._store.reading() as run:
            found = run("SELECT max(number) FROM study_steps WHERE session = ?", session).fetchall()
        return -1 if found[0][0] is None else int(found[0][0])

    def record(
        self,
        session: str,
        acts: Sequence[tuple[int, Act, str | None, Sequence[str]]],
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
            for number, act, item, shown in acts:
                run(
                    "UPDATE study_steps SET act = ?, item = ?, shown = ?, acted = ? "
                    "WHERE session = ? AND number = ? AND act IS NULL",
                    act,
                    item,
                    json.dumps(list(shown)),
                    at,
                    session,
                    number,
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
            found = run(
                "SELECT model, strategy, person, outcome, count(study_steps.number), "
                "max(CASE WHEN on_page = 1 AND act IS NOT NULL "
                "AND NOT (act IN ('found', 'like') AND item = target) THEN 1 ELSE 0 END) "
                "FROM study_trials LEFT JOIN study_steps "
                "ON study_steps.session = study_trials.session "
                "GROUP BY study_trials.session, model, strategy, person, outcome"
            ).fetchall()
        return [(*row[:5], bool(row[5])) for row in found]

    def opened(self, session: str, at: float) -> None:
        """Record that the last page was opened again: what lies between is no looking."""
        with self._store.writing() as run:
            run("UPDATE study_steps SET opened = ? WHERE session = ? AND act IS NULL", at, session)

    def mistaken(self, session: str) -> None:
        """Record that another item on the last page was taken for the target."""
        with self._store.writing() as run:
            run(
                "UPDATE study_steps SET mistaken = mistaken + 1 WHERE session = ? AND act IS NULL",
                session,
            )

    def _find(self, where: str, value: object) -> Iterator[Trial]:
        with self._store.reading() as run:
            found = run(
                f"SELECT {_TRIAL} FROM study_trials WHERE {where} ORDER BY person, number", value
            ).fetchall()
        return (Trial(*row) for row in found)


def _insert(run: Transaction, session: str, page: Step) -> None:
    run(
        f"INSERT INTO study_steps (session, {_STEP}) "
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
