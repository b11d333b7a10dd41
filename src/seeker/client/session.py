"""Sessions on a server: one's own, and those that others have shared."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from seeker.client.transport import Transport, path_segment
from seeker.embedders.pictures import picture_contents
from seeker.engine.snapshot import BeliefSummary
from seeker.errors import Conflict
from seeker.session import Click, ClickShare, Event, Explanation, Item, Page, UnderstoodWords
from seeker.session.events import parse_event
from seeker.session.verbs import SessionVerbs

_BELIEF_SECONDS = 30.0


class SessionReader:
    """What can be seen of a session at some address of a server."""

    def __init__(self, transport: Transport, address: str, response: Mapping[str, Any]) -> None:
        self._transport = transport
        self._address = address
        self._response = response
        self._page_ids: list[str] = []

    @property
    def id(self) -> str:
        """The key to what is looked at."""
        return str(self._response["id"])

    @property
    def step(self) -> int:
        """How many events in effect have changed the belief."""
        return int(self._response["step"])

    @property
    def likes(self) -> list[str]:
        """The ids of the liked items, in the order of the clicks."""
        return list(self._response["likes"])

    @property
    def dislikes(self) -> list[str]:
        """The ids of the disliked items, in the order of the clicks."""
        return list(self._response["dislikes"])

    @property
    def found_item(self) -> str | None:
        """The id of the item that was found, if it was."""
        found: str | None = self._response["found"]
        return found

    @property
    def words(self) -> tuple[UnderstoodWords, ...]:
        """What became of the words that count now: the query's first, then those that were said."""
        return tuple(
            UnderstoodWords(**{**one, "unknown": tuple(one["unknown"])})
            for one in self._response["words"]
        )

    @property
    def belief(self) -> BeliefSummary:
        """What is believed now, in a few numbers; waits where the server still computes it."""
        end = time.monotonic() + _BELIEF_SECONDS
        while self._response["belief"] is None:
            if time.monotonic() > end:
                raise Conflict("The server has not computed the belief in time.", "Ask again.")
            time.sleep(0.02)
            self._response = self._transport.call("GET", self._address)
        return BeliefSummary(**self._response["belief"])

    def page(self) -> Page:
        """Return the items on display."""
        page = self._page(self._response["page"])
        self._page_ids = page.ids
        return page

    def more(self, offset: int = 0, limit: int = 48) -> Page:
        """Return a slice of the ranking of this step, down to the end of the catalog."""
        query = f"offset={quote(str(offset))}&limit={quote(str(limit))}"
        return self._page(
            self._transport.call("GET", f"{self._address}/items?{query}", has="items")
        )

    def explain(self, item: str) -> Explanation:
        """Say which clicks brought an item to its place."""
        response = self._transport.call(
            "GET", f"{self._address}/explain/{path_segment(item)}", has="clicks"
        )
        lowest = float("-inf")
        return Explanation(
            item=response["item"],
            score=lowest if response["score"] is None else response["score"],
            prior=lowest if response["prior"] is None else response["prior"],
            text=response["text"],
            clicks=tuple(ClickShare(**one) for one in response["clicks"]),
            text_pull=response["text_pull"],
        )

    def _page(self, page: Mapping[str, Any]) -> Page:
        items = tuple(parse_item(self._transport, one) for one in page["items"])
        partial = page.get("partial", False)
        return Page(items, self.step, page["offset"], page["limit"], page["total"], partial, _media)


def parse_item(transport: Transport, response: Mapping[str, Any]) -> Item:
    """Return the item of a response; its media is a full address."""
    media = response["media"] and transport.address(response["media"])
    return Item(response["id"], response["title"], media, response["attributes"])


class RemoteSession(SessionReader, SessionVerbs):
    """A session on a server; it has the verbs of `Session`. Its id is the only key to it."""

    def __init__(self, transport: Transport, response: Mapping[str, Any]) -> None:
        super().__init__(transport, f"/v1/sessions/{path_segment(response['id'])}", response)

    @property
    def events(self) -> tuple[Event, ...]:
        """All that has happened, first things first."""
        stored = self._transport.call("GET", f"{self._address}/events", has="events")
        return tuple(parse_event(event) for event in stored["events"])

    def act(self, event: Event) -> None:
        """Let something happen, or leave everything as it was; see the verbs."""
        if isinstance(event, Click) and event.shown is None and event.item in self._page_ids:
            # The server's own page may be one that nobody has asked for.
            event = replace(event, shown=self._page_ids)
        body = event.request()
        picture = body.pop("picture", None)
        contents = None if picture is None else picture_contents(picture)
        self._response = self._post(event.path, body, contents)

    def refresh(self) -> None:
        """Do nothing: the server does this by itself, between clicks."""

    def fork(self) -> RemoteSession:
        """Start a session that goes on from here; this one stays where it is."""
        return RemoteSession(self._transport, self._post("fork", {}))

    def share(self) -> str:
        """Return the token with which others may look at this session; the same each time."""
        return str(self._transport.call("POST", f"{self._address}/share", has="share")["share"])

    def unshare(self) -> None:
        """Take the token back: nobody can look at this session with it any longer."""
        self._transport.call("DELETE", f"{self._address}/share", has=None)

    def delete(self) -> None:
        """Have the server forget this session and all that belongs to it."""
        self._transport.call("DELETE", self._address, has=None)

    def _post(
        self, call: str, body: Mapping[str, Any], picture: bytes | None = None
    ) -> Mapping[str, Any]:
        """Ask for something as of the step last seen; if that has passed, look at it anew."""
        body = {**body, "step": self.step}
        try:
            return self._transport.call(
                "POST", f"{self._address}/{call}", body, key=uuid.uuid4().hex, picture=picture
            )
        except Conflict as error:
            self._response = getattr(error, "session", None) or self._response
            raise


class SharedSession(SessionReader):
    """A session that somebody else has shared: it can be looked at, and gone on from."""

    def __init__(self, transport: Transport, response: Mapping[str, Any]) -> None:
        super().__init__(transport, f"/v1/shared/{path_segment(response['id'])}", response)

    def look(self) -> None:
        """See where the session is now."""
        self._response = self._transport.call("GET", self._address)

    def fork(self) -> RemoteSession:
        """Start a session of one's own that goes on from where this one is."""
        return RemoteSession(self._transport, self._transport.call("POST", f"{self._address}/fork"))


def _media(item: Item) -> str | None:
    """Return the address of an item's picture, which is on the server."""
    return item.media
