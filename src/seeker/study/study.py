"""A study as it goes on: people join, look for one target after the other, and may leave.

A trial's search is a session like any other, so whatever was answered is kept. What the study
records of it follows from the session's events; if the process ends between the two, the next
request makes up for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from seeker import __version__
from seeker.catalog import Catalog
from seeker.engine import Engine, SessionSnapshot, StaleStepError
from seeker.errors import BadInput, Conflict, NotFound
from seeker.session import Click, Event, Found, Redo, Session, Undo
from seeker.stores import IdempotencyKey
from seeker.study.design import Design, cell_of, seed_of, target_of
from seeker.study.records import (
    FOUND,
    GAVE_UP,
    USED_UP,
    ActRecord,
    Outcome,
    Participant,
    Step,
    Trial,
)
from seeker.study.tables import ParticipantTable, TrialTable, digest, tables_of


@dataclass(frozen=True)
class ParticipantProgress:
    """Where a participant is: their trials so far, and how many steps of the last one are used."""

    participant: Participant
    trials: list[Trial]
    used: int

    @property
    def current(self) -> Trial | None:
        """The trial that goes on."""
        last = self.trials[-1] if self.trials else None
        return last if last is not None and last.outcome is None else None

    @property
    def done(self) -> int:
        """How many trials have ended."""
        return sum(trial.outcome is not None for trial in self.trials)


class Study:
    """The study over an engine; its tables are in the engine's store.

    What it shows of a search holds no belief: that would give away the model.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        store = tables_of(engine.store)
        self.engine = engine
        self.people = ParticipantTable(store)
        self.trials = TrialTable(store)
        self.design: Design = self.people.require_design()
        self._clock = clock

    @property
    def catalog(self) -> Catalog:
        """The catalog that is searched."""
        return self.engine.catalogs.get(self.design.catalog)[1]

    def consent(self) -> tuple[str, str]:
        """Return the consent text and its digest."""
        text = self.people.consent()
        return text, digest(text)

    def join(self, consent: str) -> tuple[str, ParticipantProgress]:
        """Let somebody take part who consented to a text (its digest); return their key."""
        key, participant = self.people.join(consent, self.design.people, self._clock())
        return key, ParticipantProgress(participant, [], 0)

    def progress(self, key: str) -> ParticipantProgress:
        """Return where the holder of a key is."""
        participant = self.people.by_key(key)
        trials = self.trials.by_person(participant.number)
        used = max(0, self.trials.last_page(trials[-1].session)) if trials else 0
        return ParticipantProgress(participant, trials, used)

    def withdraw(self, key: str) -> None:
        """Delete a participant, their searches and all that was recorded of them."""
        participant = self.people.by_key(key)
        for trial in self.trials.by_person(participant.number):
            try:
                self.engine.delete(trial.session)
            except NotFound:
                continue  # It went the first time this was asked for.
        self.people.withdraw(participant.number)

    def next(self, key: str) -> ParticipantProgress:
        """Begin a participant's next search, or go on with the one that is not over."""
        began = time.perf_counter()
        progress = self.progress(key)
        if progress.current is None:
            progress = self._begin(key, progress)
        if progress.current is not None:
            self._record(progress.current, _milliseconds_since(began))
        return progress

    def show(self, id: str) -> SessionSnapshot:
        """Open the search, for the first time or again."""
        trial = self._trial(id)
        snapshot = _without_belief(self.engine.show(id))
        self._record(trial)
        self.trials.record_opening(id, self._clock())
        return snapshot

    def act(
        self, id: str, event: Event, step: int | None = None, key: IdempotencyKey | None = None
    ) -> SessionSnapshot:
        """Let something happen in the search, which is over once the target is found."""
        trial = self._trial(id)
        repeated = key and self.engine.store.idempotency_record(key.scope, key.name)
        if not repeated:
            self._check(trial, event, step)
        began = time.perf_counter()
        with _errors_without_belief():
            snapshot = _without_belief(self.engine.act(id, event, step, key))
        self._record(trial, _milliseconds_since(began))
        return snapshot

    def stop(self, key: str, number: int) -> ParticipantProgress:
        """End the search of a participant's trial that they give up."""
        current = self.progress(key).current
        if current is None or current.number != number:
            raise Conflict("This search is over.", "Go on with the next one.")
        self._record(current)
        act = ActRecord(self.trials.last_page(current.session), "gave up")
        self.trials.record(current.session, [act], [], GAVE_UP, self._clock())
        return self.progress(key)

    def _begin(self, key: str, progress: ParticipantProgress) -> ParticipantProgress:
        """Begin the next trial of a participant whose last one is over."""
        if progress.done >= self.design.trials:
            raise Conflict("You have looked for everything.", "Thank you.")
        trial = self._new_trial(progress.participant.number, progress.done)
        if not self.trials.add(trial):
            # Another tab was faster: its trial is the one.
            self.engine.delete(trial.session)
        return self.progress(key)

    def _new_trial(self, person: int, number: int) -> Trial:
        """Start the search of a participant's trial."""
        design = self.design
        cell = cell_of(design.cells, design.seed, person, number, design.trials)
        row = target_of(design.items, design.seed, person, number, design.trials)
        seed = seed_of(design.seed, person, number)
        model, strategy, repeat = cell.start_settings(design.repeat)
        snapshot = self.engine.start(
            design.catalog,
            model=model,
            strategy=strategy,
            page_size=design.page_size,
            seed=seed,
            repeat=repeat,
        )
        return Trial(
            session=snapshot.id,
            person=person,
            number=number,
            target=self.catalog.ids[row],
            target_row=row,
            model=cell.model,
            strategy=cell.strategy,
            seed=seed,
            version=__version__,
            began=self._clock(),
        )

    def _trial(self, id: str) -> Trial:
        trial = self.trials.by_session(id)
        if trial is None:
            raise NotFound("There is no such search in this study.")
        return trial

    def _check(self, trial: Trial, event: Event, step: int | None) -> None:
        """Refuse what is over, not on the page, or not the target."""
        id = trial.session
        if trial.outcome is not None:
            snapshot = _without_belief(self.engine.show(id))
            raise StaleStepError("This search is over.", "Go on with the next one.", snapshot)

        def check_page(session: Session) -> None:
            if step is not None and step != session.step:
                return  # The engine tells where the session is.
            if not _is_on_page(event, session):
                raise BadInput("This is not on the page now.", "Look at the page as it is now.")

        self.engine.look(id, check_page)
        if isinstance(event, Found) and event.item != trial.target:
            self.trials.record_mistake(id)
            raise StaleStepError(
                "That is not the one, though it may be close.",
                "Look again, or go on.",
                _without_belief(self.engine.show(id)),
            )

    def _record(self, trial: Trial, milliseconds: float | None = None) -> None:
        """Record what the session holds and the study has not recorded yet."""
        last = self.trials.last_page(trial.session)
        if trial.outcome is not None and last >= 0:
            return
        at, steps = self._clock(), self.design.steps

        def read(session: Session) -> tuple[list[ActRecord], list[Step], Outcome | None]:
            acts: list[ActRecord] = []
            pages = [] if last >= 0 else [self._page(session, 0, trial, at, milliseconds)]
            for number, event in enumerate(session.events[1 : steps + 1]):
                act = _act_record(number, event)
                acts.append(act)
                if act.act in ("found", "like") and act.item == trial.target:
                    return acts, pages, FOUND
                if number + 1 > last:
                    pages.append(self._page(session, number + 1, trial, at, milliseconds))
            return acts, pages, USED_UP if len(acts) == steps else None

        acts, pages, outcome = self.engine.look(trial.session, read)
        self.trials.record(trial.session, acts, pages, outcome, at)

    def _page(
        self, session: Session, number: int, trial: Trial, at: float, milliseconds: float | None
    ) -> Step:
        """Return the page after so many acts; after the last one, nothing is shown."""
        if number < len(session.events) - 1:
            session = Session.replay(session.catalog, session.events[: number + 1])
        rank = session.belief.rank(trial.target)
        if number == self.design.steps:
            return Step(number, at, at, milliseconds, rank, False, None, (), ())
        ids = session.page().ids
        return Step(
            number=number,
            at=at,
            opened=at,
            milliseconds=milliseconds,
            rank=rank,
            on_page=trial.target in ids,
            claimed=session.belief.on_page,
            page=tuple(ids),
            rows=tuple(map(self.catalog.row, ids)),
        )


def _is_on_page(event: Event, session: Session) -> bool:
    """Whether an act concerns what a participant sees, or has judged before."""
    page = set(session.page().ids)
    match event:
        case Click(item):
            judged = item in page or item in session.state.ratings
            return judged and page.issuperset(event.on_screen)
        case Found(item):
            return item in page
        case _:
            return True


def _act_record(number: int, event: Event) -> ActRecord:
    """Return what was done on the page of a number."""
    match event:
        case Click(item, verdict):
            return ActRecord(number, verdict, item, tuple(event.on_screen))
        case Found(item):
            return ActRecord(number, "found", item)
        case Redo():
            return ActRecord(number, "redo")
        case Undo():
            return ActRecord(number, "undo")
        case _:
            raise BadInput(f"A search in a study cannot hold a {type(event).__name__}.")


def _milliseconds_since(began: float) -> float:
    return 1000.0 * (time.perf_counter() - began)


def _without_belief(snapshot: SessionSnapshot) -> SessionSnapshot:
    return replace(snapshot, belief=None)


@contextmanager
def _errors_without_belief() -> Iterator[None]:
    """Keep the belief out of errors that show where a session is."""
    try:
        yield
    except StaleStepError as error:
        raise StaleStepError(error.message, error.hint, _without_belief(error.snapshot)) from None
