"""What matters: a control for each view, for fingers, mouse, keyboard and screen reader."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from browser.accessibility import violations
from browser.search import Search


def choice(search: Search, view: str, said: str) -> Locator:
    group = search.page.get_by_role("group", name=view, exact=True)
    return group.get_by_role("radio", name=said, exact=True)


def test_what_matters_is_said_by_mouse_and_keyboard_and_taken_back(search: Search) -> None:
    page = search.page
    page.get_by_text("What matters").click()
    expect(choice(search, "hue", "as it is")).to_be_checked()
    assert violations(page) == []
    choice(search, "hue", "matters").check()
    search.settled()
    assert search.session()["focus"] == {"hue": 1000.0}
    assert search.session()["belief"]["views"]["hue"] > 0.6
    choice(search, "theme", "as it is").focus()
    page.keyboard.press("ArrowRight")
    expect(choice(search, "theme", "does not matter")).to_be_checked()
    search.settled()
    assert search.session()["focus"] == {"hue": 1000.0, "text": 0.0}
    expect(choice(search, "theme", "does not matter")).to_be_focused()
    assert violations(page) == []
    expect(search.button("Go back to step 1: Said what matters")).to_be_visible()
    search.press("Undo")
    expect(choice(search, "theme", "as it is")).to_be_checked()
    expect(choice(search, "hue", "matters")).to_be_checked()
    page.reload()
    search.settled()
    page.get_by_text("What matters").click()
    expect(choice(search, "hue", "matters")).to_be_checked()
    choice(search, "hue", "as it is").check()
    search.settled()
    assert search.session()["focus"] == {}
