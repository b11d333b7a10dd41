"""A session on a server as it is looked at: all that changes nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from seeker.client.wire import Wire, part
from seeker.engine.shown import Summary
from seeker.errors import Conflict
from seeker.session import Explanation, Item, Page, Share

_BELIEF_WITHIN = 30.0


class Looking:
    """What can be seen of a session at some address of a server."""

    def __init__(self, wire: Wire, address: str, answer: Mapping[str, Any]) -> None:
        self._wire = wire
        self._address = address
        self._answer = answer
        self._given_out: list[str] = []

    @property
    def id(self) -> str:
        """The key to what is looked at."""
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
    def found_item(self) -> str | None:
        """The id of the item that was found, if it was."""
        found: str | None = self._answer["found"]
        return found

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
        page = self._page(self._answer["page"])
        self._given_out = page.ids
        return page

    def more(self, offset: int = 0, limit: int = 48) -> Page:
        """Return a slice of the ranking of this step, down to the end of the catalog."""
        query = f"offset={quote(str(offset))}&limit={quote(str(limit))}"
        return self._page(self._wire.call("GET", f"{self._address}/items?{query}", has="items"))

    def explain(self, item: str) -> Explanation:
        """Say which clicks brought an item to its place."""
        answer = self._wire.call("GET", f"{self._address}/explain/{part(item)}", has="clicks")
        lowest = float("-inf")
        return Explanation(
            item=answer["item"],
            score=lowest if answer["score"] is None else answer["score"],
            prior=lowest if answer["prior"] is None else answer["prior"],
            text=answer["text"],
            clicks=tuple(Share(**one) for one in answer["clicks"]),
        )

    def _page(self, page: Mapping[str, Any]) -> Page:
        items = tuple(item_of(self._wire, one) for one in page["items"])
        partial = page.get("partial", False)
        return Page(items, self.step, page["offset"], page["limit"], page["total"], partial)


def item_of(wire: Wire, answer: Mapping[str, Any]) -> Item:
    """Return the item of an answer; its media is a full address."""
    media = answer["media"] and wire.address(answer["media"])
    return Item(answer["id"], answer["title"], media, answer["attributes"])
