"""Sessions on a server: one's own, and those that others have shared."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from seeker.client.looking import Looking
from seeker.client.wire import Wire, part
from seeker.errors import BadInput, Conflict
from seeker.session import Event
from seeker.session.events import Verdict, from_json
from seeker.session.page import Item, ids_of


class RemoteSession(Looking):
    """A session on a server; it has the verbs of `Session`. Its id is the only key to it."""

    def __init__(self, wire: Wire, answer: Mapping[str, Any]) -> None:
        super().__init__(wire, f"/v1/sessions/{part(answer['id'])}", answer)

    @property
    def events(self) -> tuple[Event, ...]:
        """All that has happened, first things first."""
        kept = self._wire.call("GET", f"{self._address}/events", has="events")
        return tuple(from_json(event) for event in kept["events"])

    def like(self, item: str, shown: Sequence[str | Item] | None = None) -> None:
        """Say that an item is like the one looked for; shown: what was on screen (the page)."""
        self.click(item, "like", shown)

    def dislike(self, item: str, shown: Sequence[str | Item] | None = None) -> None:
        """Say that an item is not like the one looked for; shown: what was on screen (the page)."""
        self.click(item, "dislike", shown)

    def clear(self, item: str) -> None:
        """Take back the verdict on an item."""
        self.click(item, "clear", ())

    def click(self, item: str, verdict: Verdict, shown: Sequence[str | Item] | None = None) -> None:
        """Give a verdict on an item."""
        if shown is None and item in self._given_out:
            shown = self._given_out  # the server's own page may be one that nobody has asked for
        seen = shown if shown is None or isinstance(shown, str) else ids_of(shown)
        self._do("clicks", {"item": item, "verdict": verdict, "shown": seen})

    def say(self, text: str) -> None:
        """Give feedback in words."""
        if not isinstance(text, str):
            raise BadInput("A remote session hears words, not vectors.", "Say it in words.")
        self._do("text", {"text": text})

    def unsay(self, text: str) -> None:
        """Let words no longer count: a text, or the words that the session began with."""
        self._do("text", {"text": text, "clear": True})

    def narrow(self, filter: Mapping[str, Any] | None) -> None:
        """Show only items that pass a filter from now on, or all again; clicks go on counting."""
        self._do("filter", {"filter": filter})

    def explore(self, level: float) -> None:
        """Explore so many times as much as usual from now on: 1 is usual, 0 the best only."""
        self._do("exploration", {"level": level})

    def found(self, item: str) -> None:
        """Say that this is the item looked for."""
        self._do("found", {"item": item})

    def undo(self, count: int = 1) -> None:
        """Take back the last events that are still in effect."""
        self._do("undo", {"count": count})

    def redo(self, count: int = 1) -> None:
        """Bring back what was undone last, as long as nothing else has happened since."""
        self._do("redo", {"count": count})

    def refresh(self) -> None:
        """Do nothing: the server does this by itself, between clicks."""

    def fork(self) -> RemoteSession:
        """Start a session that goes on from here; this one stays where it is."""
        return RemoteSession(self._wire, self._post("fork", {}))

    def share(self) -> str:
        """Return the token with which others may look at this session; the same each time."""
        return str(self._wire.call("POST", f"{self._address}/share", has="share")["share"])

    def unshare(self) -> None:
        """Take the token back: nobody can look at this session with it any longer."""
        self._wire.call("DELETE", f"{self._address}/share", has=None)

    def delete(self) -> None:
        """Have the server forget this session and all that belongs to it."""
        self._wire.call("DELETE", self._address, has=None)

    def _do(self, call: str, asked: Mapping[str, Any]) -> None:
        self._answer = self._post(call, asked)

    def _post(self, call: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask for something as of the step last seen; if that has passed, look at it anew."""
        said = {**asked, "step": self.step}
        try:
            return self._wire.call("POST", f"{self._address}/{call}", said, key=uuid.uuid4().hex)
        except Conflict as error:
            self._answer = getattr(error, "session", None) or self._answer
            raise


class SharedSession(Looking):
    """A session that somebody else has shared: it can be looked at, and gone on from."""

    def __init__(self, wire: Wire, answer: Mapping[str, Any]) -> None:
        super().__init__(wire, f"/v1/shared/{part(answer['id'])}", answer)

    def look(self) -> None:
        """See where the session is now."""
        self._answer = self._wire.call("GET", self._address)

    def fork(self) -> RemoteSession:
        """Start a session of one's own that goes on from where this one is."""
        return RemoteSession(self._wire, self._wire.call("POST", f"{self._address}/fork"))
