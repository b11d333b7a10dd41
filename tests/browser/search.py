"""A search as a person sees it: everything is found by its role and its name."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, Self

from playwright.sync_api import Locator, Page, Route, expect

from seeker import web
from support.servers import until

_LIKE = "Like "


class Search:
    """The page in a window."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.grid = page.get_by_role("list", name="Items", exact=True)
        self.liked = page.get_by_role("list", name="Liked", exact=True)
        self.disliked = page.get_by_role("list", name="Disliked", exact=True)
        self.steps = page.get_by_role("list", name="Steps", exact=True)
        self.chips = page.get_by_role("list", name="In effect", exact=True)
        self.words = page.get_by_role("searchbox", name="Words", exact=True)
        self.status = page.get_by_role("status")
        self.alert = page.get_by_role("alert")
        self.found = page.get_by_role("region", name="Found", exact=True)

    def begin(self, address: str) -> Self:
        """Go to an address and wait for the items."""
        self.page.goto(address)
        return self.settled()

    def settled(self) -> Self:
        """Wait until what was asked for is on screen."""
        expect(self.grid).to_have_attribute("aria-busy", "false")
        return self

    def session(self) -> dict[str, Any]:
        """Return the service's last answer, which the component offers to the site it is in."""
        answer: dict[str, Any] = self.page.locator("seeker-search").evaluate("one => one.session")
        return answer

    def button(self, name: str | re.Pattern[str]) -> Locator:
        """Return the button of a name."""
        return self.page.get_by_role("button", name=name, exact=isinstance(name, str))

    def titles(self) -> list[str]:
        """Return what the cards are called, in their order."""
        names: list[str] = self.grid.get_by_role(
            "button", name=re.compile(f"^{_LIKE}")
        ).evaluate_all("buttons => buttons.map((one) => one.ariaLabel ?? one.textContent)")
        return [name.removeprefix(_LIKE) for name in names]

    def like(self, title: str) -> Self:
        """Like an item, and wait for the next page."""
        return self._rate(f"{_LIKE}{title}")

    def dislike(self, title: str) -> Self:
        """Dislike an item, and wait for the next page."""
        return self._rate(f"Dislike {title}")

    def clear(self, title: str) -> Self:
        """Take an item out of its tray, and wait for the next page."""
        return self.press(f"Clear {title}")

    def say(self, words: str) -> Self:
        """Say something in words, and wait for the next page."""
        self.words.fill(words)
        self.words.press("Enter")
        return self.settled()

    def press(self, name: str) -> Self:
        """Press a button, and wait for what it does."""
        self.button(name).click()
        return self.settled()

    def absent(self, *titles: str) -> str:
        """Return the first of these titles that is not on screen, so that it must be sought."""
        shown = self.titles()
        return next(title for title in titles if title not in shown)

    def seek(self, wanted: str, likeness: Callable[[str, str], float], pages: int = 25) -> int:
        """Like what is closest, page by page, until the wanted item is there; return the pages."""
        for page in range(1, pages + 1):
            titles = self.titles()
            if wanted in titles:
                return page
            self.like(max(titles, key=lambda title: likeness(title, wanted)))
        raise AssertionError(f"{wanted} was on none of {pages} pages")

    def _rate(self, name: str) -> Self:
        self.grid.get_by_role("button", name=name, exact=True).click()
        return self.settled()


def module_by_module(page: Page) -> None:
    """Let the page come as its files are written, each module from its own address."""
    for address, text in {
        "**/web-*/seeker.js": 'import "../web/seeker.js";',
        "**/web/seeker.js": web.read_file("seeker.js"),
    }.items():
        page.route(address, functools.partial(_answer_script, text))


def _answer_script(text: str, route: Route) -> None:
    route.fulfill(body=text, content_type="text/javascript")


def caught(page: Page, held: list[Route], count: int = 1) -> list[Route]:
    """Wait until so many requests are held back: they leave the browser after what is on screen."""
    # Playwright tells of them only while it is asked something.
    until(lambda: page.evaluate("1") and len(held) >= count)
    return held


FOCUSED = """() => {
    let one = document.activeElement;
    while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
    return one?.getAttribute("aria-label") ?? one?.textContent ?? "";
}"""


def focused(page: Page) -> str:
    """Return the name of what the keyboard acts on."""
    name: str = page.evaluate(FOCUSED)
    return name.strip()


def into_the_grid(search: Search) -> None:
    """Reach the grid by the Tab key alone."""
    for _ in range(40):
        search.page.keyboard.press("Tab")
        name = focused(search.page)
        if any(title in name for title in search.titles()):
            return
    raise AssertionError("The Tab key does not reach the grid.")
