"""A search as a person sees it: everything is found by its role and its name."""

from __future__ import annotations

import re
from typing import Self

from playwright.sync_api import Locator, Page, expect

_LIKE = "Like "


class Search:
    """The page in a window."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.grid = page.get_by_role("list", name="Items", exact=True)
        self.liked = page.get_by_role("list", name="Liked", exact=True)
        self.disliked = page.get_by_role("list", name="Disliked", exact=True)
        self.status = page.get_by_role("status")
        self.alert = page.get_by_role("alert")

    def begin(self, address: str) -> Self:
        """Go to an address and wait for the items."""
        self.page.goto(address)
        return self.settled()

    def settled(self) -> Self:
        """Wait until what was asked for is on screen."""
        expect(self.grid).to_have_attribute("aria-busy", "false")
        return self

    def button(self, name: str | re.Pattern[str]) -> Locator:
        """Return the button of a name."""
        return self.page.get_by_role("button", name=name, exact=isinstance(name, str))

    def titles(self) -> list[str]:
        """Return what the cards are called, in their order."""
        buttons = self.grid.get_by_role("button", name=re.compile(f"^{_LIKE}"))
        names = [button.get_attribute("aria-label") or "" for button in buttons.all()]
        return [name.removeprefix(_LIKE) for name in names]

    def like(self, title: str) -> Self:
        """Like an item, and wait for the next page."""
        return self._rate(f"{_LIKE}{title}")

    def dislike(self, title: str) -> Self:
        """Dislike an item, and wait for the next page."""
        return self._rate(f"Dislike {title}")

    def press(self, name: str) -> Self:
        """Press a button, and wait for what it does."""
        self.button(name).click()
        return self.settled()

    def _rate(self, name: str) -> Self:
        self.grid.get_by_role("button", name=name, exact=True).click()
        return self.settled()
