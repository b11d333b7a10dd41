"""What a participant of a study does on its pages."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from browser.search import Search


def heading(page: Page, words: str) -> None:
    expect(page.get_by_role("heading", name=words, exact=True)).to_be_visible()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def agree(page: Page, address: str) -> None:
    """Read and agree."""
    page.goto(address)
    heading(page, "A study of searching by looking")
    page.get_by_role("checkbox").check()
    press(page, "Take part")
    heading(page, "How it works")


def begin(page: Page, name: str = "Begin") -> Search:
    """Begin a search and wait for its first page."""
    press(page, name)
    heading(page, "Look for this")
    return Search(page).settled()
