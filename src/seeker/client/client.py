"""The same verbs as a catalog and its sessions, over HTTP."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from seeker import display, models
from seeker.client.wire import Wire
from seeker.engine.shown import Summary
from seeker.errors import BadInput, Conflict
from seeker.session import Event, Explanation, Item, Page, Share
from seeker.session.events import Repeat, Verdict, from_json

_BELIEF_WITHIN = 30.0


class Client:
    """A catalog on a server: `seeker.Client(url).session(…)` is like `catalog.session(…)`.

    catalog: its name; the server's first unless given. key: an API key, where the server asks for
    one. timeout: seconds to wait for an answer. Calls that fail on the way are tried again; the
    server sees to it that nothing is done twice.
    """

    def __init__(
        self, url: str, catalog: str | None = None, key: str | None = None, timeout: float = 30.0
    ) -> None:
        self._wire = Wire(url, key, timeout)
        self._catalog = catalog

    def session(
        self,
        model: str | models.Model | None = None,
        strategy: str | display.Strategy | None = None,
        page_size: int = 12,
        seed: int | None = None,
        prior: str | None = None,
        filter: Mapping[str, Any] | None = None,
        user: object = None,
        repeat: Repeat = "never",
        personalise: bool = False,
    ) -> RemoteSession:
        """Start a search; see `Catalog.session`. The server draws a seed unless one is given.

        prior: words to search for. personalise: begin with what a named user's last session
        taught.
        """
        if prior is not None and not isinstance(prior, str):
            raise BadInput(
                "A remote session begins with words, not with an array of probabilities.",
                "Give words, or use a catalog in this process.",
            )
        asked = {
            "catalog": self._catalog,
            "query": prior,
            "filter": filter,
            "model": models.to_json(model) if isinstance(model, models.Model) else model,
            "strategy": display.to_json(strategy)
            if isinstance(strategy, display.Strategy)
            else strategy,
            "page_size": page_size,
            "seed": seed,
            "user": user,
            "repeat": repeat,
            "personalise": personalise,
        }
        said = {name: value for name, value in asked.items() if value is not None}
        return RemoteSession(self._wire, self._wire.call("POST", "/v1/sessions", said))

    def open(self, id: str) -> RemoteSession:
        """Go on with a session that was started before, here or elsewhere."""
        return RemoteSession(self._wire, self._wire.call("GET", f"/v1/sessions/{quote(id)}"))

    def item(self, item: str) -> Item:
        """Return an item by its id."""
        name = quote(self._name(), safe="")
        return _item(self._wire, self._wire.call("GET", f"/v1/items/{name}/{quote(item, safe='')}"))

    def catalogs(self) -> list[str]:
        """Return the names of the server's catalogs."""
        listed = self._wire.call("GET", "/v1/catalogs")["catalogs"]
        return [str(one["name"]) for one in listed]

    def __len__(self) -> int:
        name = quote(self._name(), safe="")
        return int(self._wire.call("GET", f"/v1/catalogs/{name}")["items"])

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _name(self) -> str:
        return self._catalog or self.catalogs()[0]


class RemoteSession:
    """A session on a server; it has the verbs of `Session`."""

    def __init__(self, wire: Wire, answer: Mapping[str, Any]) -> None:
        self._wire = wire
        self._answer = answer
        self._address = f"/v1/sessions/{quote(str(answer['id']))}"

    @property
    def id(self) -> str:
        """The session's id, the only key to it."""
        return str(self._answer["id"])

    @property
    def step(self) -> int:
        """How many events in effect have changed the belief."""
        return int(self._answer["step"])

    @property
    def likes(self) -> list[str]:
        """The ids of the liked items, in the order of the clicks."""
        return list(self._answer["likes"])

    @property
    def dislikes(self) -> list[str]:
        """The ids of the disliked items, in the order of the clicks."""
        return list(self._answer["dislikes"])

    @property
    def events(self) -> tuple[Event, ...]:
        """All that has happened, first things first."""
        kept = self._wire.call("GET", f"{self._address}/events")
        return tuple(from_json(event) for event in kept["events"])

    @property
    def belief(self) -> Summary:
        """What is believed now, in a few numbers; waits where the server still computes it."""
        end = time.monotonic() + _BELIEF_WITHIN
        while self._answer["belief"] is None:
            if time.monotonic() > end:
                raise Conflict("The server has not computed the belief in time.", "Ask again.")
            time.sleep(0.02)
            self._answer = self._wire.call("GET", self._address)
        return Summary(**self._answer["belief"])

    def page(self) -> Page:
        """Return the items on display."""
        return self._page(self._answer["page"])

    def more(self, offset: int = 0, limit: int = 48) -> Page:
        """Return a slice of the ranking of this step, down to the end of the catalog."""
        query = f"offset={quote(str(offset))}&limit={quote(str(limit))}"
        return self._page(self._wire.call("GET", f"{self._address}/items?{query}"))

    def like(self, item: str, shown: Sequence[str] | None = None) -> None:
        """Say that an item is like the one looked for; shown: what was on screen (the page)."""
        self.click(item, "like", shown)

    def dislike(self, item: str, shown: Sequence[str] | None = None) -> None:
        """Say that an item is not like the one looked for; shown: what was on screen (the page)."""
        self.click(item, "dislike", shown)

    def clear(self, item: str) -> None:
        """Take back the verdict on an item."""
        self.click(item, "clear", ())

    def click(self, item: str, verdict: Verdict, shown: Sequence[str] | None = None) -> None:
        """Give a verdict on an item."""
        seen = shown if shown is None or isinstance(shown, str) else list(shown)
        self._do("clicks", {"item": item, "verdict": verdict, "shown": seen})

    def say(self, text: str) -> None:
        """Give feedback in words."""
        if not isinstance(text, str):
            raise BadInput("A remote session hears words, not vectors.", "Say it in words.")
        self._do("text", {"text": text})

    def undo(self) -> None:
        """Take back the last event that is still in effect."""
        self._do("undo", {})

    def refresh(self) -> None:
        """Do nothing: the server does this by itself, between clicks."""

    def explain(self, item: str) -> Explanation:
        """Say which clicks brought an item to its place."""
        answer = self._wire.call("GET", f"{self._address}/explain/{quote(item, safe='')}")
        lowest = float("-inf")
        return Explanation(
            item=answer["item"],
            score=lowest if answer["score"] is None else answer["score"],
            prior=lowest if answer["prior"] is None else answer["prior"],
            text=answer["text"],
            clicks=tuple(Share(**one) for one in answer["clicks"]),
        )

    def delete(self) -> None:
        """Have the server forget this session and all that belongs to it."""
        self._wire.call("DELETE", self._address)

    def _do(self, call: str, asked: Mapping[str, Any]) -> None:
        """Do something as of the step last seen; if the session is elsewhere, look at it anew."""
        said = {**asked, "step": self.step}
        try:
            self._answer = self._wire.call(
                "POST", f"{self._address}/{call}", said, key=uuid.uuid4().hex
            )
        except Conflict as error:
            self._answer = getattr(error, "session", None) or self._answer
            raise

    def _page(self, page: Mapping[str, Any]) -> Page:
        items = tuple(_item(self._wire, one) for one in page["items"])
        return Page(items, self.step, page["offset"], page["limit"], page["total"])


def _item(wire: Wire, answer: Mapping[str, Any]) -> Item:
    media = answer["media"] and wire.address(answer["media"])
    return Item(answer["id"], answer["title"], media, answer["attributes"])
