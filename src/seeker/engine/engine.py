"""The engine: a person does something, it is stored, and they are shown what follows from it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar, Unpack

from seeker import models
from seeker.catalog import Catalog
from seeker.engine.cache import BeliefCache, CachedSession
from seeker.engine.catalogs import Catalogs, warm
from seeker.engine.commands import (
    BELIEF_AT_ONCE_ITEMS,
    MAX_ATTEMPTS,
    MAX_EVENTS,
    QUICK_EVENTS,
    CommandHandler,
    PendingAct,
)
from seeker.engine.expiry import Expiry
from seeker.engine.personal import Personaliser
from seeker.engine.repository import (
    QUICK_WORK,
    Rebuilder,
    SessionRepository,
    no_session,
    no_share,
    without_name,
)
from seeker.engine.snapshot import SessionSnapshot
from seeker.engine.workers import MAX_WAITING_TASKS, BackgroundWorker
from seeker.errors import BadInput, Conflict, NotFound, SeekerError
from seeker.kernels.parallel import Interrupted
from seeker.session import Event, Explanation, Page, Session, SessionOptions
from seeker.stores import IdempotencyKey, StaleWriteError, Store, StoredSession
from seeker.stores.base import EventJson

SHARED_COLUMNS_SHARE = 8
"""One in so many bytes of the cache goes, beside it, to distances that sessions share,"""
MAX_SHARED_COLUMN_BYTES = 128_000_000
"""but no more than this: a service would take longer to get ready than people wait for it."""


class QuotaExceededError(SeekerError):
    """More than one may have."""

    http_status = 429


class SessionQuota:
    """How many sessions each API key may have; limit: 0 for any number."""

    def __init__(self, store: Store, limit: int) -> None:
        self._store = store
        self._limit = limit

    def check(self, owner: str | None, beside: int = 0) -> None:
        """Refuse if an API key has too many sessions, or would have with so many beside them."""
        if owner is not None and self._limit and self._store.count(owner) + beside > self._limit:
            raise QuotaExceededError(
                f"This API key has {self._limit:,} sessions, and may have no more.",
                "Delete some, or wait until they expire.",
            )


Result = TypeVar("Result")


class Engine:
    """Sessions of many people over some catalogs; safe for any number of threads.

    Several engines, in other processes or on other machines, may share a store: whichever is
    asked answers the same. lifetime: seconds without a click after which a session is forgotten.
    max_belief_items: up to so many items the belief comes with the answer. max_events: so many a
    session may have. free: whether there is time for work that may wait. refresh: whether there is
    to be any: bounds and beliefs of large catalogs, between clicks. aside, alone: how long sessions
    are rebuilt, and whether nobody else is at work meanwhile; quick_work: what is not long. owns:
    whether a new session may have an id, where ids tell whose a session is.
    """

    def __init__(
        self,
        catalogs: Catalogs,
        store: Store,
        cache_bytes: int = 512_000_000,
        lifetime: float = 30 * 86_400.0,
        sessions_per_key: int = 0,
        max_belief_items: int = BELIEF_AT_ONCE_ITEMS,
        max_events: int = MAX_EVENTS,
        free: Callable[[], bool] = lambda: True,
        refresh: bool = True,
        aside: Callable[[], AbstractContextManager[None]] = nullcontext,
        alone: Callable[[], bool] = lambda: True,
        quick_work: float = QUICK_WORK,
        clock: Callable[[], float] = time.time,
        owns: Callable[[str], bool] = lambda id: True,
    ) -> None:
        self._owns = owns
        self.catalogs = catalogs
        self.store = store
        self.cache = BeliefCache(cache_bytes)
        shared_bytes = min(cache_bytes // SHARED_COLUMNS_SHARE, MAX_SHARED_COLUMN_BYTES)
        catalogs.limit_shared_columns(shared_bytes)
        self.background = BackgroundWorker(free, MAX_WAITING_TASKS if refresh else 0)
        catalogs.on_renewed = self._preload_soon
        self._expiry = Expiry(store, lifetime, clock)
        self._quota = SessionQuota(store, sessions_per_key)
        self._clock = clock
        self.rebuilder = Rebuilder(aside, alone, quick_work)
        self._personal = Personaliser(store, self.rebuilder)
        self._sessions = SessionRepository(
            catalogs, store, self.cache, self.rebuilder, self._expiry
        )
        self._commands = CommandHandler(
            self._sessions,
            self.rebuilder,
            store,
            self.background,
            max_belief_items,
            max_events,
            clock,
        )

    def start(
        self,
        catalog: str | None = None,
        *,
        personalise: bool = False,
        example: Event | None = None,
        owner: str | None = None,
        network: int | None = None,
        key: IdempotencyKey | None = None,
        **options: Unpack[SessionOptions],
    ) -> SessionSnapshot:
        """Start a session; options: those of `Catalog.session`, whose seed is drawn unless given.

        personalise: begin with what a named user's past searches taught. example: what is liked to
        begin with. owner: the name of the API key used. network: as in `StoredSession`.
        """
        user = options.get("user")
        person = user if isinstance(user, str) else None

        def make() -> _NewSession:
            name, served = self.catalogs.get(catalog)
            model, views = options.get("model"), options.get("views")
            strategy = options.get("strategy")
            if model is None and views is None:
                model, views = served.usual_model()
                strategy = strategy or served.usual_strategy()
            model, vectors = models.named(model or models.DEFAULT), None
            if personalise:
                if person is None:
                    raise BadInput("There is nobody to personalise for.", "Name a user.")
                weights = getattr(options.get("model"), "weights", None)
                if not isinstance(weights, tuple):  # who gives weights wants these
                    known = self._personal.start(name, served, model, views, person, owner)
                    model, vectors = known.model, known.vectors
            seed = options.get("seed", secrets.randbits(53))
            started: SessionOptions = {
                **options,
                "model": model,
                "strategy": strategy,
                "views": views,
                "seed": seed,
            }
            if vectors is not None:
                started["user"] = vectors
            session = served.session(**started)
            if example is not None:
                session.act(example)
            events = [event.to_json() for event in session.events]
            entry = CachedSession(session, name, served, len(events), self._clock())
            return _NewSession(name, person, events, entry)

        return self._create(make, owner, network, key)

    def fork(
        self,
        id: str,
        step: int | None = None,
        owner: str | None = None,
        network: int | None = None,
        key: IdempotencyKey | None = None,
        own: bool = True,
        allow: Callable[[int], None] = lambda events: None,
    ) -> SessionSnapshot:
        """Start a session that goes on from where another is.

        own: whether the same person goes on; the name of another person is not handed on. allow:
        told how many events are about to be written; whatever it raises, nothing is.
        """

        def make() -> _NewSession:
            with self._sessions.turn(id), self._sessions.open(id) as entry:
                self._commands.check_step(id, entry, step)
                stored = self._sessions.stored(id)
                events = stored.events[: entry.length]
                allow(len(events))
                if not own:
                    events = [without_name(event) for event in events]
                # The same events give the same page: nothing is computed before somebody goes on.
                snapshot = self._commands.snapshot(id, entry)
                return _NewSession(entry.name, stored.person if own else None, events, snapshot)

        return self._create(make, owner, network, key)

    def act(
        self, id: str, event: Event, step: int | None = None, key: IdempotencyKey | None = None
    ) -> SessionSnapshot:
        """Let something happen in a session; step: the one the person saw.

        StaleStepError if that has passed.
        """
        return self._commands.act(id, event, step, key)

    def begin(
        self, id: str, event: Event, step: int | None = None, key: IdempotencyKey | None = None
    ) -> PendingAct | None:
        """Let something happen that takes no waiting and a millisecond or so; None if it may not.

        It is being stored while this returns.
        """
        return self._commands.begin(id, event, step, key)

    def brief(self, id: str) -> bool:
        """Whether whatever is done in a session surely takes milliseconds only."""
        entry = self.cache.peek(id)
        return entry is not None and entry.length <= QUICK_EVENTS and self._few(entry.catalog)

    def brief_start(self, catalog: str | None) -> bool:
        """Whether a start takes milliseconds only; told without looking at any folder."""
        try:
            return self._few(self.catalogs.peek(catalog))
        except NotFound:
            return True

    def _few(self, catalog: Catalog) -> bool:
        return len(catalog) <= self._commands.max_belief_items

    def show(self, id: str) -> SessionSnapshot:
        """Return where a session is."""
        with self._sessions.turn(id), self._sessions.open(id) as entry:
            return self._commands.snapshot(id, entry)

    def more(self, id: str, offset: int, limit: int) -> tuple[str, Page]:
        """Return the name of a session's catalog and a slice of the ranking of this step."""
        with self._sessions.turn(id), self._sessions.open(id) as entry:
            return entry.name, entry.session.more(offset, limit)

    def explain(self, id: str, item: str) -> Explanation:
        """Say which clicks brought an item to its place."""
        with self._sessions.turn(id), self._sessions.open(id) as entry:
            return entry.session.explain(item)

    def thumbnail(self, id: str, example: str) -> bytes:
        """Return the thumbnail of a picture that was given as an example, as WebP."""
        for one in self.look(id, lambda session: session.state.examples):
            if one.item == example and one.thumbnail is not None:
                return one.thumbnail
        raise NotFound("There is no such picture in this session.")

    def look(self, id: str, see: Callable[[Session], Result]) -> Result:
        """Return what somebody sees in a session, who must leave it as it is."""
        with self._sessions.turn(id), self._sessions.open(id) as entry:
            return see(entry.session)

    def stored(self, id: str) -> StoredSession:
        """Return all that is stored of a session."""
        return self._sessions.stored(id)

    def share(self, id: str) -> str:
        """Return the token with which others may look at a session; the same each time."""
        self._sessions.stored(id)
        token = self.store.share(id, secrets.token_urlsafe(16))
        if token is None:
            raise no_session()
        return token

    def unshare(self, id: str) -> None:
        """Let nobody look at a session any longer who has only its token."""
        self._sessions.stored(id)
        if not self.store.unshare(id):
            raise NotFound("This session is not shared.")

    def shared_session(self, token: str) -> str:
        """Return the id of the session that a token lets others look at."""
        id = self.store.shared_session(token)
        if id is None:
            raise no_share()
        return id

    def delete(self, id: str) -> None:
        """Forget a session and all that belongs to it."""
        self._sessions.delete(id)

    def expire(self) -> int:
        """Forget the sessions that nobody has used for their lifetime; return how many."""
        return self._expiry.run()

    def look_around(self) -> None:
        """Notice new versions of catalogs, and who has not clicked for long; once a second."""
        self.catalogs.look()
        self.cache.release_idle()

    def warm(self) -> None:
        """Do once what every first click would wait for: kernels are compiled or loaded."""
        for name in self.catalogs.names:
            catalog = self.catalogs.get(name)[1]
            warm(catalog)
            catalog.preload(first_pages=False)
            self._preload_soon(name)

    def _preload_soon(self, name: str) -> None:
        """Have what all searches in a catalog share computed when there is time."""

        def task() -> None:
            try:
                self.catalogs.get(name)[1].preload(self.background.should_stop)
            except Interrupted:
                self._preload_soon(name)

        # No session has an id with a blank in it.
        self.background.submit(f"catalog {name}", task, keep=True)

    def close(self) -> None:
        """Stop the work in the background and let go of the store."""
        self._expiry.close()
        self.background.close()
        self.store.close()

    def _create(
        self,
        make: Callable[[], _NewSession],
        owner: str | None,
        network: int | None,
        key: IdempotencyKey | None,
    ) -> SessionSnapshot:
        """Store and show a new session, which is made unless it has been."""
        for _ in range(MAX_ATTEMPTS):
            first = self._commands.first_response(key)
            if first is not None:
                return first
            self._quota.check(owner, beside=1)
            new, now, id = make(), self._clock(), _new_id(self._owns)
            length = len(new.events)
            stored = StoredSession(
                id, new.catalog, owner, new.person, now, now, length, new.events, network=network
            )
            try:
                self.store.create(stored, key)
            except StaleWriteError:
                continue
            try:
                self._quota.check(owner)
            except QuotaExceededError:
                # Others started at the same moment: rather one too few than one too many.
                self.store.delete(id)
                raise
            if isinstance(new.shows, SessionSnapshot):
                return replace(new.shows, id=id)
            with self._sessions.turn(id):
                snapshot = self._commands.snapshot(id, new.shows)
                if key is not None:
                    new.shows.remember(snapshot)
                self.cache.put(id, new.shows)
                return snapshot
        raise Conflict("The same request is being made again and again.", "Wait for an answer.")


@dataclass(frozen=True)
class _NewSession:
    """A session that is about to be stored; shows: what it shows, or the session that tells."""

    catalog: str
    person: str | None
    events: Sequence[EventJson]
    shows: SessionSnapshot | CachedSession


def _new_id(allowed: Callable[[str], bool]) -> str:
    """Return 128 random bits as text; a dash in front would make it an option to commands."""
    while (id := secrets.token_urlsafe(16)).startswith("-") or not allowed(id):
        pass
    return id
