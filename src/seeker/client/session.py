"""Sessions on a server: one's own, and those that others have shared."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from seeker.client.looking import Looking
from seeker.client.wire import Wire, part
from seeker.errors import Conflict
from seeker.session import Click, Event
from seeker.session.events import parse_event
from seeker.session.verbs import SessionVerbs


class RemoteSession(Looking, SessionVerbs):
    """A session on a server; it has the verbs of `Session`. Its id is the only key to it."""

    def __init__(self, wire: Wire, answer: Mapping[str, Any]) -> None:
        super().__init__(wire, f"/v1/sessions/{part(answer['id'])}", answer)

    @property
    def events(self) -> tuple[Event, ...]:
        """All that has happened, first things first."""
        kept = self._wire.call("GET", f"{self._address}/events", has="events")
        return tuple(parse_event(event) for event in kept["events"])

    def act(self, event: Event) -> None:
        """Let something happen, or leave everything as it was; see the verbs."""
        if isinstance(event, Click) and event.shown is None and event.item in self._given_out:
            # The server's own page may be one that nobody has asked for.
            event = replace(event, shown=self._given_out)
        self._answer = self._post(event.path, event.request())

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
