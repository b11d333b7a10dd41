"""Something done in a session: kept before it is shown, and done once however often it is asked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from seeker.engine.cache import CachedSession
from seeker.engine.repository import Rebuilder, SessionRepository
from seeker.engine.snapshot import SessionSnapshot
from seeker.engine.workers import BackgroundWorker
from seeker.errors import BadInput, Conflict, NotFound
from seeker.session import Event
from seeker.stores import IdempotencyKey, StaleWriteError, Store

ATTEMPTS = 16
"""How often something is tried that others keep being faster at."""

BELIEF_AT_ONCE_ITEMS = 10_000
"""Up to so many items a belief is summed up before the answer; beyond, it follows later.

Up to here all items are looked at anyway: with 512 dimensions a click takes 5.0 ms with its belief
and 4.7 ms without. With 20,000 items it would be 20 ms against 8 ms.
"""

MAX_EVENTS = 2_000
"""A thousand clicks make a session slow to open and its answers long; no person makes as many."""


class StaleStepError(Conflict):
    """The session is not where the request thought it was; shown: where it is."""

    def __init__(self, message: str, hint: str, shown: SessionSnapshot) -> None:
        super().__init__(message, hint)
        self.shown = shown


class _MaybeStale(Exception):
    """Something failed that may have been asked of a session that is behind what is kept."""


class CommandHandler:
    """Changes sessions and shows them; at_once: up to so many items the belief comes along.

    most_events: how many events a session may have. No person gets there, and a session without
    an end would be replayed without one.
    """

    def __init__(
        self,
        sessions: SessionRepository,
        rebuilder: Rebuilder,
        store: Store,
        background: BackgroundWorker,
        at_once: int,
        most_events: int,
        clock: Callable[[], float],
    ) -> None:
        self._sessions = sessions
        self._rebuilder = rebuilder
        self._store = store
        self._background = background
        self._at_once = at_once
        self._most_events = most_events
        self._clock = clock

    def act(
        self, id: str, event: Event, step: int | None, key: IdempotencyKey | None
    ) -> SessionSnapshot:
        """Let something happen in a session: at once or not at all.

        Nearly always the session is as it was left here and the key is new: then one transaction
        says so and keeps what is done. Only if that fails is it looked at what has happened.
        """
        with self._sessions.turn(id):
            try:
                return self._once(id, event, step, key, trusting=True)
            except _MaybeStale:
                pass
            for _ in range(ATTEMPTS):
                again = self.repeated(key, id)
                if again is not None:
                    return again
                try:
                    return self._once(id, event, step, key)
                except StaleWriteError:
                    continue  # Another process was first: look again at where the session is.
            raise Conflict("Too much is happening in this session at once.", "Try again.")

    def repeated(
        self, key: IdempotencyKey | None, turn: str | None = None
    ) -> SessionSnapshot | None:
        """Return the answer of the first time, if this key has been used.

        turn: the session whose turn the caller has.
        """
        found = None if key is None else self._store.remembered(key.scope, key.name)
        if key is None or found is None:
            return None
        if found.fingerprint != key.fingerprint:
            raise BadInput(
                "This Idempotency-Key was used for a different request.",
                "Use a new key for every new request.",
            )
        id = found.session
        try:
            self._sessions.kept(id, found.length)
        except NotFound:
            # It has expired: it goes with its keys, as if it were tidied away already.
            self._store.delete(id)
            return None
        with nullcontext() if id == turn else self._sessions.turn(id):
            return self._again(id, found.length)

    def _again(self, id: str, length: int) -> SessionSnapshot:
        """Return what was shown of a session when it had so many events.

        Mostly that is now, or a moment ago. Otherwise it is found out, and kept with the session,
        so that who asks again and again has it done once.
        """
        with self._sessions.opened(id) as entry:
            if entry.length == length:
                return self.shown(id, entry)
            answer = entry.answers.get(length)
            if answer is None:
                events = self._sessions.kept(id).events[:length]
                session = self._rebuilder.session(entry.catalog, events, id)
                then = CachedSession(session, entry.name, entry.catalog, length, entry.active)
                answer = self.shown(id, then, current=False)
            entry.remember(answer)
            return answer

    def check_step(self, id: str, entry: CachedSession, step: int | None) -> None:
        """Refuse what was asked of another step than the session is at."""
        if step is not None and step != entry.session.step:
            raise StaleStepError(
                f"The session is at step {entry.session.step}, but the request was made at {step}.",
                "Look at the page in this answer and choose again.",
                self.shown(id, entry),
            )

    def shown(self, id: str, entry: CachedSession, current: bool = True) -> SessionSnapshot:
        """Return what a person is shown of a session; current: whether they may go on from it."""
        if entry.summary is None or entry.provisional:
            if len(entry.catalog) <= self._at_once:
                entry.sum_up(entry.session.belief)
            elif current:
                self._background.want(id, lambda: self._settle(id))
        return SessionSnapshot.of(id, entry.name, entry.length, entry.session, entry.summary)

    def _once(
        self,
        id: str,
        event: Event,
        step: int | None,
        key: IdempotencyKey | None,
        trusting: bool = False,
    ) -> SessionSnapshot:
        with self._sessions.opened(id, trusting) as entry:
            try:
                self._do(id, entry, event, step, key)
            except (Conflict, NotFound, BadInput) as error:
                # What is in memory may be behind; nothing was kept, so it can be tried again.
                if trusting:
                    raise _MaybeStale from error
                raise
            shown = self.shown(id, entry)
            if key is not None:
                entry.remember(shown)
            return shown

    def _do(
        self,
        id: str,
        entry: CachedSession,
        event: Event,
        step: int | None,
        key: IdempotencyKey | None,
    ) -> None:
        """Do something in a session and keep it; a conflict means that nothing was kept."""
        self.check_step(id, entry, step)
        if entry.length >= self._most_events:
            raise StaleStepError(
                f"This session has {entry.length:,} events, and takes in no more.",
                "Start a new one.",
                self.shown(id, entry),
            )
        session = entry.session
        before = session.state
        try:
            session.act(event)
        except Conflict as error:
            raise StaleStepError(error.message, error.hint, self.shown(id, entry)) from None
        now = self._clock()
        try:
            self._store.append(id, entry.length, session.events[-1].to_json(), now, key)
        except BaseException:
            # The session stays in memory: whoever asks next need not wait until it is rebuilt.
            session.rollback(before)
            raise
        entry.length += 1
        entry.active = now
        entry.summary = None

    def _settle(self, id: str) -> None:
        """Bring a session's bounds and belief up to date, unless somebody is at it.

        As soon as anybody does anything, it stops, and goes on from there when it is quiet again.
        """
        with self._sessions.idle(id) as entry:
            if entry is None:
                return
            belief = entry.session.prepare(self._background.hurried)
            if belief is not None:
                entry.sum_up(belief)
                return
        self._background.want(id, lambda: self._settle(id))
