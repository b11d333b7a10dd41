"""The wiring: a person does something, it is kept, and they are shown what follows from it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from seeker import display, models
from seeker.engine.background import Background
from seeker.engine.cache import BeliefCache, Entry
from seeker.engine.catalogs import Catalogs
from seeker.engine.locks import Locks
from seeker.engine.personal import learned
from seeker.engine.replaying import caught_up, replayed
from seeker.engine.shown import Shown, Summary
from seeker.errors import BadInput, Conflict, NotFound, SeekerError
from seeker.session import Explanation, Page, Session
from seeker.session.events import Repeat, Verdict, to_json
from seeker.stores import Kept, Key, Stale, Store

AT_ONCE = 20_000
"""Up to so many items a belief is summed up before the answer; beyond, it follows later."""

_ATTEMPTS = 16


class Moved(Conflict):
    """The session is not where the request thought it was; shown: where it is."""

    def __init__(self, message: str, hint: str, shown: Shown) -> None:
        super().__init__(message, hint)
        self.shown = shown


class TooMany(SeekerError):
    """More than one may have."""

    http_status = 429
    title = "That is too much"


class Engine:
    """Sessions of many people over some catalogs; safe for any number of threads.

    Several engines, in other processes or on other machines, may share a store: whichever is
    asked answers the same. lifetime: seconds without a click after which a session is forgotten.
    at_once: up to so many items the belief comes with the answer. free: whether there is time for
    work that may wait.
    """

    def __init__(
        self,
        catalogs: Catalogs,
        store: Store,
        cache_bytes: int = 512_000_000,
        lifetime: float = 30 * 86_400.0,
        sessions_per_key: int = 0,
        at_once: int = AT_ONCE,
        free: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.catalogs = catalogs
        self.store = store
        self.cache = BeliefCache(cache_bytes)
        self.background = Background(free)
        self._lifetime = lifetime
        self._sessions_per_key = sessions_per_key
        self._at_once = at_once
        self._clock = clock
        self._locks = Locks()

    def start(
        self,
        catalog: str | None = None,
        *,
        query: str | None = None,
        filter: Mapping[str, Any] | None = None,
        model: str | models.Model = models.DEFAULT,
        strategy: str | display.Strategy = display.DEFAULT,
        page_size: int = 12,
        seed: int | None = None,
        user: object = None,
        repeat: Repeat = "never",
        personalise: bool = False,
        owner: str | None = None,
        key: Key | None = None,
    ) -> Shown:
        """Start a session; see `Catalog.session`. query: words that say where to begin.

        The seed is drawn here unless given. personalise: begin with what a named user's last
        session taught. owner: the name of the API key used.
        """
        for _ in range(_ATTEMPTS):
            again = self._repeated(key)
            if again is not None:
                return again
            self._check_room(owner)
            name, opened = self.catalogs.get(catalog)
            chosen = models.named(model)
            if personalise:
                if not isinstance(user, str):
                    raise BadInput("There is nobody to personalise for.", "Name a user.")
                chosen = learned(self.store, name, opened, chosen, user, owner)
            session = opened.session(
                model=chosen,
                strategy=strategy,
                page_size=page_size,
                seed=secrets.randbits(53) if seed is None else seed,
                prior=query or None,
                filter=filter or None,
                user=user,
                repeat=repeat,
            )
            now, id = self._clock(), secrets.token_urlsafe(16)
            events = [to_json(event) for event in session.events]
            person = user if isinstance(user, str) else None
            try:
                self.store.create(Kept(id, name, owner, person, now, now, 1, events), key)
            except Stale:
                continue
            with self._locks.hold(id):
                entry = Entry(session, opened, 1)
                shown = self._shown(id, name, entry)
                self.cache.put(id, entry)
                return shown
        raise Conflict("The same request is being made again and again.", "Wait for an answer.")

    def click(
        self,
        id: str,
        item: str,
        verdict: Verdict,
        shown: Sequence[str] | None = None,
        step: int | None = None,
        key: Key | None = None,
    ) -> Shown:
        """Give a verdict on an item; step: what the person saw, Moved if that has passed."""
        if verdict == "clear" and shown is None:
            shown = ()
        return self._change(id, lambda session: session.click(item, verdict, shown), step, key)

    def undo(self, id: str, step: int | None = None, key: Key | None = None) -> Shown:
        """Take back the last thing done."""
        return self._change(id, lambda session: session.undo(), step, key)

    def say(self, id: str, text: str, step: int | None = None, key: Key | None = None) -> Shown:
        """Give feedback in words."""
        return self._change(id, lambda session: session.say(text), step, key)

    def show(self, id: str) -> Shown:
        """Return where a session is."""
        with self._locks.hold(id), self._opened(id) as (name, entry):
            return self._shown(id, name, entry)

    def more(self, id: str, offset: int, limit: int) -> tuple[str, Page]:
        """Return the name of a session's catalog and a slice of the ranking of this step."""
        with self._locks.hold(id), self._opened(id) as (name, entry):
            return name, entry.session.more(offset, limit)

    def explain(self, id: str, item: str) -> Explanation:
        """Say which clicks brought an item to its place."""
        with self._locks.hold(id), self._opened(id) as (_, entry):
            return entry.session.explain(item)

    def kept(self, id: str) -> Kept:
        """Return all that is kept of a session."""
        return self._kept(id, 0)

    def delete(self, id: str) -> None:
        """Forget a session and all that belongs to it."""
        with self._locks.hold(id):
            self.cache.forget(id)
            if not self.store.delete(id):
                raise _no_session()

    def expire(self) -> int:
        """Forget the sessions that nobody has used for their lifetime; return how many."""
        return self.store.expire(self._clock() - self._lifetime)

    def warm(self) -> None:
        """Do once what every first click would wait for: kernels are compiled or loaded."""
        for name in self.catalogs.names:
            session = self.catalogs.get(name)[1].session()
            session.like(session.page().ids[0])
            session.page()
            Summary.of(session.belief)

    def close(self) -> None:
        """Stop the work in the background and let go of the store."""
        self.background.close()
        self.store.close()

    def _change(
        self, id: str, act: Callable[[Session], None], step: int | None, key: Key | None
    ) -> Shown:
        """Do something in a session: at once or not at all, and once however often it is asked."""
        with self._locks.hold(id):
            for _ in range(_ATTEMPTS):
                again = self._repeated(key)
                if again is not None:
                    return again
                try:
                    return self._once(id, act, step, key)
                except Stale:
                    continue  # Another process was first: look again at where the session is.
            raise Conflict("Too much is happening in this session at once.", "Try again.")

    def _once(
        self, id: str, act: Callable[[Session], None], step: int | None, key: Key | None
    ) -> Shown:
        with self._opened(id) as (name, entry):
            session = entry.session
            if step is not None and step != session.step:
                raise Moved(
                    f"The session is at step {session.step}, but the request was made at {step}.",
                    "Look at the page in this answer and choose again.",
                    self._shown(id, name, entry),
                )
            try:
                act(session)
            except Conflict as error:
                shown = self._shown(id, name, entry)
                raise Moved(error.message, error.hint, shown) from None
            written = to_json(session.events[-1])
            self.store.append(id, entry.length, written, self._clock(), key)
            entry.length += 1
            entry.summary = None
            return self._shown(id, name, entry)

    def _repeated(self, key: Key | None) -> Shown | None:
        """Return the answer of the first time, if this key has been used."""
        found = None if key is None else self.store.remembered(key.scope, key.name)
        if key is None or found is None:
            return None
        if found.fingerprint != key.fingerprint:
            raise BadInput(
                "This Idempotency-Key was used for a different request.",
                "Use a new key for every new request.",
            )
        kept = self._kept(found.session, 0)
        name, catalog = self.catalogs.get(kept.catalog)
        session = replayed(catalog, kept.events[: found.length])
        return self._shown(found.session, name, Entry(session, catalog, found.length), False)

    @contextmanager
    def _opened(self, id: str) -> Iterator[tuple[str, Entry]]:
        """Lend a session that holds all events kept so far; the caller holds its lock."""
        name, entry = self._entry(id)
        try:
            yield name, entry
        finally:
            # A session that holds more than was kept would tell of what never happened.
            if len(entry.session.events) == entry.length:
                self.cache.put(id, entry)

    def _entry(self, id: str) -> tuple[str, Entry]:
        entry = self.cache.take(id)
        kept = self._kept(id, 0 if entry is None else entry.length)
        name, catalog = self.catalogs.get(kept.catalog)
        if entry is not None:
            whole = kept.length == entry.length + len(kept.events)
            if whole and entry.catalog is catalog and caught_up(entry, kept.events):
                return name, entry
            kept = self._kept(id, 0)
        return name, Entry(replayed(catalog, kept.events), catalog, kept.length)

    def _kept(self, id: str, after: int) -> Kept:
        kept = self.store.load(id, after)
        if kept is None or kept.active < self._clock() - self._lifetime:
            raise _no_session()
        return kept

    def _shown(self, id: str, name: str, entry: Entry, current: bool = True) -> Shown:
        session = entry.session
        if entry.summary is None:
            if len(entry.catalog) <= self._at_once:
                entry.summary = Summary.of(session.belief)
            elif current:
                self.background.want(id, lambda: self._settle(id))
        return Shown(
            id=id,
            catalog=name,
            step=session.step,
            length=entry.length,
            likes=session.likes,
            dislikes=session.dislikes,
            page=session.page(),
            belief=entry.summary,
        )

    def _settle(self, id: str) -> None:
        """Bring a session's bounds and belief up to date, unless somebody is at it."""
        if self._locks.wanted(id):
            return
        with self._locks.hold(id):
            entry = self.cache.take(id, counted=False)
            if entry is not None:
                entry.session.refresh()
                entry.summary = Summary.of(entry.session.belief)
                self.cache.put(id, entry)

    def _check_room(self, owner: str | None) -> None:
        limit = self._sessions_per_key
        if owner is not None and limit and self.store.count(owner) >= limit:
            raise TooMany(
                f"This API key has {limit:,} sessions, and may have no more.",
                "Delete some, or wait until they expire.",
            )


def _no_session() -> NotFound:
    return NotFound("There is no such session.", "Start one with POST /v1/sessions.")
