"""Something done in a session: stored before it is shown, and once however often it is asked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, nullcontext

from seeker.engine.cache import CachedSession
from seeker.engine.repository import Rebuilder, SessionRepository
from seeker.engine.snapshot import SessionSnapshot
from seeker.engine.workers import BackgroundWorker
from seeker.errors import BadInput, Conflict, NotFound
from seeker.session import Click, Event
from seeker.stores import IdempotencyKey, StaleWriteError, Store
from seeker.stores.base import PendingWrite

MAX_ATTEMPTS = 16
"""How often something is tried that others keep being faster at."""

BELIEF_AT_ONCE_ITEMS = 10_000
"""Up to so many items a belief is summed up before the answer; beyond, it follows later.

Up to here all items are looked at anyway: with 512 dimensions a click takes 5.0 ms with its belief
and 4.7 ms without. With 20,000 items it would be 20 ms against 8 ms.
"""

MAX_EVENTS = 2_000
"""A thousand clicks make a session slow to open and its answers long; no person makes as many."""


QUICK_EVENTS = 100
"""Sessions of so many events are answered at once; what is told of each grows with them."""


class StaleStepError(Conflict):
    """The session is not where the request thought it was; snapshot: where it is."""

    def __init__(self, message: str, hint: str, snapshot: SessionSnapshot, code: str = "") -> None:
        super().__init__(message, hint, code=code)
        self.snapshot = snapshot


class _MaybeStale(Exception):
    """Something failed that may have been asked of a session that is behind what is stored."""


class PendingAct:
    """Something done in a session in memory that is being stored; nobody else is at the session.

    write: what stores it. leave: called when others may be at the session again.
    """

    def __init__(
        self, write: PendingWrite, snapshot: SessionSnapshot, undo: Callable[[], None]
    ) -> None:
        self.write = write
        self.leave: Callable[[], None] = lambda: None
        self._snapshot = snapshot
        self._undo = undo

    def finish(self) -> SessionSnapshot:
        """Wait until it is stored, and return what it leads to; what was not stored is undone."""
        write, undo = self.write, self._undo
        # What stores it knows who waits for it, and they know this: nothing of it would be freed
        # before Python looks for such circles, which takes the longer the more sessions there are.
        del self.write, self._undo
        try:
            try:
                write.result()
            except BaseException:
                undo()
                raise
            return self._snapshot
        finally:
            self.leave()


class CommandHandler:
    """Changes sessions and shows them.

    max_belief_items: up to so many items a belief comes along. max_events: how many events a
    session may have. No person gets there, and a session without an end would be replayed without
    one.
    """

    def __init__(
        self,
        sessions: SessionRepository,
        rebuilder: Rebuilder,
        store: Store,
        background: BackgroundWorker,
        max_belief_items: int,
        max_events: int,
        clock: Callable[[], float],
    ) -> None:
        self._sessions = sessions
        self._rebuilder = rebuilder
        self._store = store
        self._background = background
        self.max_belief_items = max_belief_items
        self._max_events = max_events
        self._clock = clock

    def act(
        self, id: str, event: Event, step: int | None, key: IdempotencyKey | None
    ) -> SessionSnapshot:
        """Let something happen in a session: at once or not at all.

        Nearly always the session is as it was left here and the key is new: then one transaction
        says so and stores what is done. Only if that fails is it looked at what has happened.
        """
        with self._sessions.turn(id):
            try:
                return self._attempt(id, event, step, key, trusting=True)
            except _MaybeStale:
                pass
            for _ in range(MAX_ATTEMPTS):
                first = self.first_response(key, id)
                if first is not None:
                    return first
                try:
                    return self._attempt(id, event, step, key)
                except StaleWriteError:
                    continue  # Another process was first: look again at where the session is.
            raise Conflict("Too much is happening in this session at once.", "Try again.")

    def first_response(
        self, key: IdempotencyKey | None, turn: str | None = None
    ) -> SessionSnapshot | None:
        """Return the response of the first time, if this key has been used.

        turn: the session whose turn the caller has.
        """
        if key is None:
            return None
        record = self._store.idempotency_record(key.scope, key.name)
        if record is None:
            return None
        if record.fingerprint != key.fingerprint:
            raise BadInput(
                "This Idempotency-Key was used for a different request.",
                "Use a new key for every new request.",
            )
        id = record.session
        try:
            self._sessions.stored(id, record.length)
        except NotFound:
            # It has expired: it goes with its keys, as if it were tidied away already.
            self._store.delete(id)
            return None
        with nullcontext() if id == turn else self._sessions.turn(id):
            return self._snapshot_at(id, record.length)

    def _snapshot_at(self, id: str, length: int) -> SessionSnapshot:
        """Return what was shown of a session when it had so many events.

        Mostly that is now, or a moment ago. Otherwise it is computed, and kept with the session,
        so that who asks again and again has it done once.
        """
        with self._sessions.open(id) as entry:
            if entry.length == length:
                return self.snapshot(id, entry)
            snapshot = entry.snapshots.get(length)
            if snapshot is None:
                events = self._sessions.stored(id).events[:length]
                session = self._rebuilder.session(entry.catalog, events, id)
                then = CachedSession(session, entry.name, entry.catalog, length, entry.active)
                snapshot = self.snapshot(id, then, current=False)
            entry.remember(snapshot)
            return snapshot

    def check_step(self, id: str, entry: CachedSession, step: int | None) -> None:
        """Refuse what was asked of another step than the session is at."""
        if step is not None and step != entry.session.step:
            raise StaleStepError(
                f"The session is at step {entry.session.step}, but the request was made at {step}.",
                "Look at the page in this answer and choose again.",
                self.snapshot(id, entry),
            )

    def snapshot(self, id: str, entry: CachedSession, current: bool = True) -> SessionSnapshot:
        """Return what a person is shown of a session; current: whether they may go on from it."""
        if entry.summary is None or entry.provisional:
            if len(entry.catalog) <= self.max_belief_items:
                entry.sum_up(entry.session.belief)
            elif current:
                self._background.submit(id, lambda: self._prepare(id))
        return SessionSnapshot.of(id, entry.name, entry.length, entry.session, entry.summary)

    def begin(
        self, id: str, event: Event, step: int | None, key: IdempotencyKey | None
    ) -> PendingAct | None:
        """Let a click happen where nothing has to be waited for, and have it stored soon.

        None if that may take longer than a millisecond or so, or if something is in the way:
        then `act` does it, in a thread.
        """
        if not isinstance(event, Click):
            return None
        with ExitStack() as loan:
            entry = loan.enter_context(self._sessions.open_at_once(id))
            if entry is None or entry.length > QUICK_EVENTS:
                return None
            if not (entry.session.quick and entry.catalog.in_memory):
                return None
            try:
                undo = self._do(id, entry, event, step)
            except (Conflict, NotFound, BadInput):
                return None
            try:
                write = self._store_soon(id, entry, key)
            except BaseException:
                undo()
                raise
            try:
                # Most of this needs no interpreter: meanwhile the disk has done its part.
                pending = PendingAct(write, self._remembered(id, entry, key), undo)
            except BaseException:
                entry.length = 0  # What is stored is not known here: whoever comes next reads it.
                raise
            pending.leave = loan.pop_all().close
            return pending

    def _attempt(
        self,
        id: str,
        event: Event,
        step: int | None,
        key: IdempotencyKey | None,
        trusting: bool = False,
    ) -> SessionSnapshot:
        with self._sessions.open(id, trusting) as entry:
            try:
                return self._act(id, entry, event, step, key).finish()
            except (Conflict, NotFound, BadInput) as error:
                # What is in memory may be behind; nothing was stored, so it can be tried again.
                if trusting:
                    raise _MaybeStale from error
                raise

    def _act(
        self,
        id: str,
        entry: CachedSession,
        event: Event,
        step: int | None,
        key: IdempotencyKey | None,
    ) -> PendingAct:
        """Do something in a session, find out what it leads to, and begin to store it.

        A conflict means that nothing was stored. What it leads to comes first, for shards that are
        asked for it may be silent; then nothing has happened.
        """
        undo = self._do(id, entry, event, step)
        try:
            snapshot = self._remembered(id, entry, key)
            return PendingAct(self._store_soon(id, entry, key), snapshot, undo)
        except BaseException:
            undo()
            raise

    def _do(
        self, id: str, entry: CachedSession, event: Event, step: int | None
    ) -> Callable[[], None]:
        """Do something in a session in memory; return what makes it undone."""
        self.check_step(id, entry, step)
        if entry.length >= self._max_events:
            raise StaleStepError(
                f"This session has {entry.length:,} events, and takes in no more.",
                "Start a new one.",
                self.snapshot(id, entry),
                "session-full",
            )
        session, checkpoint = entry.session, entry.session.checkpoint()
        try:
            session.act(event)
        except Conflict as error:
            snapshot = self.snapshot(id, entry)
            raise StaleStepError(error.message, error.hint, snapshot, error.code) from None
        known = entry.length, entry.active, entry.summary, entry.provisional
        entry.length, entry.active, entry.summary = entry.length + 1, self._clock(), None

        def undo() -> None:
            # The session stays in memory: whoever asks next need not wait until it is rebuilt.
            entry.length, entry.active, entry.summary, entry.provisional = known
            entry.snapshots.pop(entry.length + 1, None)
            session.rollback(checkpoint)

        return undo

    def _store_soon(
        self, id: str, entry: CachedSession, key: IdempotencyKey | None
    ) -> PendingWrite:
        """Begin to store the last event of a session."""
        written = entry.session.events[-1].to_json()
        return self._store.append_soon(id, entry.length - 1, written, entry.active, key)

    def _remembered(
        self, id: str, entry: CachedSession, key: IdempotencyKey | None
    ) -> SessionSnapshot:
        """Return what a session shows, kept for those who ask with the same key again."""
        snapshot = self.snapshot(id, entry)
        if key is not None:
            entry.remember(snapshot)
        return snapshot

    def _prepare(self, id: str) -> None:
        """Bring a session's bounds and belief up to date, unless somebody is at it.

        As soon as anybody does anything, it stops, and goes on from there when it is quiet again.
        """
        with self._sessions.open_idle(id) as entry:
            if entry is None:
                return
            belief = entry.session.prepare(self._background.should_stop)
            if belief is not None:
                entry.sum_up(belief)
                self._look_ahead_soon(id)
                return
        self._background.submit(id, lambda: self._prepare(id))

    def _look_ahead_soon(self, id: str) -> None:
        self._background.submit(f"after {id}", lambda: self._look_ahead(id), last=True)

    def _look_ahead(self, id: str) -> None:
        """Find the pages that the next click can lead to, while there is time to spare.

        That takes ten times what it saves, so in a crowd there is none.
        """
        with self._background.spare_time.spend() as spare:
            if not spare:
                return
            with self._sessions.open_idle(id) as entry:
                if entry is None or entry.session.look_ahead(self._background.should_stop):
                    return
        self._look_ahead_soon(id)
