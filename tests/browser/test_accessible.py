"""axe finds nothing serious, in any state, light and dark, large and small."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from browser.accessibility import violations
from browser.search import Search
from support.servers import Server


def in_both_schemes(page: Page) -> list[str]:
    """Return what axe finds, light and dark; nothing but the colours depends on which it is.

    Firefox cannot be told to be dark.
    """
    if page.context.browser is not None and page.context.browser.browser_type.name == "firefox":
        return violations(page)
    page.emulate_media(color_scheme="dark")
    dark = violations(page, "cat.color")
    page.emulate_media(color_scheme="light")
    return [*dark, *violations(page)]


@pytest.mark.parametrize("width", [320, 1280])
def test_a_whole_search_is_accessible(
    windows: Callable[..., BrowserContext], shapes: Server, width: int
) -> None:
    window = windows(width, 900, reduced_motion="reduce")
    search = Search(window.new_page()).begin(shapes.url)
    page = search.page
    assert in_both_schemes(page) == []
    search.like(search.titles()[0]).dislike(search.titles()[0]).say("in blue")
    assert in_both_schemes(page) == []
    search.button(f"Open {search.titles()[0]}").click()
    expect(page.get_by_role("dialog").get_by_role("heading", name="Why this?")).to_be_visible()
    expect(page.get_by_role("dialog").get_by_text("Thinking…")).to_have_count(0)
    assert in_both_schemes(page) == []
    page.keyboard.press("Escape")
    title = search.titles()[0]
    search.button(f"Open {title}").click()
    page.get_by_role("dialog").get_by_role("button", name=f"Found it: {title}").click()
    expect(search.found).to_contain_text(title)
    assert in_both_schemes(page) == []


def test_sentences_are_accessible(page: Page, sentences: Server) -> None:
    search = Search(page).begin(sentences.url)
    search.like(search.titles()[0])
    assert violations(page) == []


@pytest.mark.chromium("Firefox cannot be told to be dark.")
def test_axe_is_awake(page: Page, shapes: Server) -> None:
    """The tool that finds nothing finds something where there is something."""
    page.goto(shapes.url)
    page.evaluate("document.body.append(document.createElement('button'))")
    assert any("button-name" in one for one in violations(page))
    page.emulate_media(color_scheme="dark")
    Search(page).settled()
    # Dark on dark.
    page.locator("seeker-search").evaluate("one => one.style.setProperty('--seeker-soft', '#333')")
    assert any("color-contrast" in one for one in violations(page, "cat.color"))
