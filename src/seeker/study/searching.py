"""A trial's search: what a participant may do in it, and what is recorded of it.

A trial is a session like any other, so whatever was answered is kept. What the study records of it
follows from the session's events; if the process ends between the two, the next request makes up
for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from seeker.engine import SessionSnapshot, StaleStepError
from seeker.errors import BadInput, Conflict, NotFound
from seeker.session import Click, Event, Found, Redo, Session, Undo
from seeker.stores import IdempotencyKey
from seeker.study.conduct import ParticipantProgress, Study
from seeker.study.records import FOUND, GAVE_UP, USED_UP, Act, Outcome, Step, Trial

_GONE = ("This is not on the page now.", "Look at the page as it is now.")
_Done = tuple[int, Act, str | None, Sequence[str]]


class TrialSearch:
    """The verbs of a trial. Answers hold no belief: it would give away the model."""

    def __init__(self, conduct: Study) -> None:
        self.conduct = conduct
        self._engine = conduct.engine
        self._trials = conduct.trials

    def next(self, key: str) -> ParticipantProgress:
        """Begin a participant's next search, or go on with the one that is not over."""
        began = time.perf_counter()
        standing = self.conduct.next(key)
        if standing.current is not None:
            self._settle(standing.current, 1000.0 * (time.perf_counter() - began))
        return standing

    def show(self, id: str) -> SessionSnapshot:
        """Open the search, for the first time or again."""
        trial = self._trial(id)
        shown = _blind(self._engine.show(id))
        self._settle(trial)
        self._trials.opened(id, self.conduct.clock())
        return shown

    def act(
        self, id: str, event: Event, step: int | None = None, key: IdempotencyKey | None = None
    ) -> SessionSnapshot:
        """Let something happen in the search, which is over once the target is found."""
        trial = self._trial(id)
        again = key and self._engine.store.idempotency_record(key.scope, key.name)
        if not again:
            self._check(trial, event, step)
        began = time.perf_counter()
        with _blinded():
            shown = _blind(self._engine.act(id, event, step, key))
        self._settle(trial, 1000.0 * (time.perf_counter() - began))
        return shown

    def _check(self, trial: Trial, event: Event, step: int | None) -> None:
        """Refuse what is over, not on the page, or not the target."""
        id = trial.session
        if trial.outcome is not None:
            over = _blind(self._engine.show(id))
            raise StaleStepError("This search is over.", "Go on with the next one.", over)

        def on_page(session: Session) -> None:
            if step is not None and step != session.step:
                return  # The engine tells where the session is.
            page = set(session.page().ids)
            match event:
                case Click(item):
                    there = item in page or item in session.state.ratings
                    there = there and page.issuperset(event.on_screen)
                case Found(item):
                    there = item in page
                case _:
                    there = True
            if not there:
                raise BadInput(*_GONE)

        self._engine.look(id, on_page)
        if isinstance(event, Found) and event.item != trial.target:
            self._trials.mistaken(id)
            raise StaleStepError(
                "That is not the one, though it may be close.",
                "Look again, or go on.",
                _blind(self._engine.show(id)),
            )

    def stop(self, key: str, number: int) -> ParticipantProgress:
        """End the search of a participant's trial that they give up."""
        current = self.conduct.standing(key).current
        if current is None or current.number != number:
            raise Conflict("This search is over.", "Go on with the next one.")
        self._settle(current)
        last = self._trials.last(current.session)
        done: _Done = (last, "gave up", None, ())
        self._trials.record(current.session, [done], [], GAVE_UP, self.conduct.clock())
        return self.conduct.standing(key)

    def _trial(self, id: str) -> Trial:
        trial = self._trials.of_session(id)
        if trial is None:
            raise NotFound("There is no such search in this study.")
        return trial

    def _settle(self, trial: Trial, milliseconds: float | None = None) -> None:
        """Record what the session holds and the study has not recorded yet."""
        last = self._trials.last(trial.session)
        if trial.outcome is not None and last >= 0:
            return
        at, most = self.conduct.clock(), self.conduct.design.steps

        def see(session: Session) -> tuple[list[_Done], list[Step], Outcome | None]:
            done: list[_Done] = []
            pages = [] if last >= 0 else [self._page(session, 0, trial, at, milliseconds)]
            for number, event in enumerate(session.events[1 : most + 1]):
                act, item, shown = _act_of_event(event)
                done.append((number, act, item, shown))
                if act in ("found", "like") and item == trial.target:
                    return done, pages, FOUND
                if number + 1 > last:
                    pages.append(self._page(session, number + 1, trial, at, milliseconds))
            return done, pages, USED_UP if len(done) == most else None

        self._trials.record(trial.session, *self._engine.look(trial.session, see), at)

    def _page(
        self, session: Session, number: int, trial: Trial, at: float, milliseconds: float | None
    ) -> Step:
        """Return the page after so many things done; after the last one, nothing is shown."""
        if number < len(session.events) - 1:
            session = Session.replay(session.catalog, session.events[: number + 1])
        rank = session.belief.rank(trial.target)
        if number == self.conduct.design.steps:
            return Step(number, at, at, milliseconds, rank, False, None, (), ())
        ids = session.page().ids
        row = self.conduct.catalog.row
        return Step(
            number,
            at,
            at,
            milliseconds,
            rank,
            trial.target in ids,
            session.belief.on_page,
            tuple(ids),
            tuple(row(one) for one in ids),
        )


def _act_of_event(event: Event) -> tuple[Act, str | None, Sequence[str]]:
    match event:
        case Click(item, verdict):
            return verdict, item, event.on_screen
        case Found(item):
            return "found", item, ()
        case Redo():
            return "redo", None, ()
        case Undo():
            return "undo", None, ()
        case _:
            raise BadInput(f"A search in a study cannot hold a {type(event).__name__}.")


def _blind(shown: SessionSnapshot) -> SessionSnapshot:
    return replace(shown, belief=None)


@contextmanager
def _blinded() -> Iterator[None]:
    """Keep the belief out of errors that show where a session is."""
    try:
        yield
    except StaleStepError as error:
        raise StaleStepError(error.message, error.hint, _blind(error.snapshot)) from None
