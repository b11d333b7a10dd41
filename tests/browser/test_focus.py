"""The focus: it stays where it was while the page changes, in either direction of writing."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from browser.search import Search, caught, focused, into_the_grid
from support.servers import Server, start


def test_clearing_one_after_the_other_by_the_keyboard(search: Search) -> None:
    for _ in range(3):
        search.like(search.titles()[0])
    names = [f"Clear {title}" for title in tray(search)]
    search.liked.get_by_role("button", name=names[0], exact=True).focus()
    search.page.keyboard.press("Enter")
    search.settled()
    # What comes to stand there has the focus, so that the same key goes on.
    assert focused(search.page) == names[1]
    search.page.keyboard.press("Enter")
    search.settled()
    assert focused(search.page) == names[2]
    assert len(search.session()["likes"]) == 1


def tray(search: Search) -> list[str]:
    """Return what was liked, in the order of its tray."""
    entries = search.liked.get_by_role("listitem").all()
    return [entry.get_attribute("title") or "" for entry in entries]


def test_going_back_and_forth_along_the_steps(search: Search) -> None:
    for _ in range(3):
        search.like(search.titles()[0])
    search.steps.get_by_role("button", name=re.compile("^Go back to step 1")).focus()
    search.page.keyboard.press("Enter")
    search.settled()
    assert search.session()["step"] == 1
    assert focused(search.page).startswith("Go back to step 1")
    search.page.keyboard.press("Tab")
    assert focused(search.page).startswith("Go forward to step 2")
    search.page.keyboard.press("Enter")
    search.settled()
    assert search.session()["step"] == 2
    assert focused(search.page).startswith("Go back to step 2")


def test_chips_are_removed_one_after_the_other(search: Search) -> None:
    search.like(search.titles()[0]).say("in blue").say("round")
    search.button("Remove in blue").focus()
    search.page.keyboard.press("Enter")
    search.settled()
    assert focused(search.page) == "Remove round"


def test_what_comes_later_takes_no_focus_away(search: Search) -> None:
    """A page may come long after its click; whoever has gone on to a tray stays there."""
    search.like(search.titles()[0])
    held: list[Route] = []
    search.page.route(re.compile("/explore$"), lambda route: held.append(route))
    search.button("Surprise me").click()
    search.liked.get_by_role("button").first.focus()
    name = focused(search.page)
    caught(search.page, held)[0].continue_()
    search.settled()
    assert focused(search.page) == name


def test_a_page_that_is_written_from_right_to_left(
    windows: Callable[..., BrowserContext], shapes: Server
) -> None:
    for width in (320, 1280):
        # Cards on their way to their places would be measured anywhere.
        page = windows(width, 900, reduced_motion="reduce").new_page()
        written(page, "rtl")
        search = Search(page).begin(shapes.url)
        search.like(search.titles()[0]).say("in blue")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        first, second, *_ = search.titles()
        assert left(search, first) > left(search, second)
        into_the_grid(search)
        assert first in focused(page)
        # An arrow leads to where it points.
        page.keyboard.press("ArrowLeft")
        assert second in focused(page)
        page.keyboard.press("ArrowRight")
        assert first in focused(page)


def written(page: Page, direction: str) -> None:
    """Let the documents of a window be written in a direction, before any of their modules runs."""
    turn = f"document.documentElement.dir = '{direction}'"
    page.add_init_script(f"document.addEventListener('readystatechange', () => {{ {turn} }})")


def left(search: Search, title: str) -> float:
    """Return how far a card is from the left edge of the window."""
    box = search.grid.get_by_role("button", name=f"Like {title}", exact=True).bounding_box()
    assert box is not None
    return box["x"]


def test_the_steps_of_a_long_search_show_where_it_is(
    windows: Callable[..., BrowserContext], shapes: Server
) -> None:
    with shapes.client() as http:
        long = start(http)
        for _ in range(8):
            click = {"item": long["page"]["items"][0]["id"], "verdict": "like"}
            long = http.post(f"/v1/sessions/{long['id']}/clicks", json=click).json()
        ids = [http.post(f"/v1/sessions/{long['id']}/fork", json={}).json()["id"] for _ in "12"]
    for direction, id in zip(("ltr", "rtl"), ids, strict=True):
        page = windows().new_page()
        written(page, direction)
        search = Search(page).begin(f"{shapes.url}/#session={id}")
        expect(here(page)).to_be_in_viewport(ratio=0.9)
        search.like(search.titles()[0])
        expect(here(page)).to_be_in_viewport(ratio=0.9)
        search.steps.get_by_role("button", name="Go back to the start").press("Enter")
        search.settled()
        expect(here(page)).to_be_in_viewport(ratio=0.9)
        assert here(page).get_attribute("aria-label") == "Go back to the start"


def here(page: Page) -> Locator:
    """Return the button of the step that the search is at."""
    return page.locator("[aria-current='step']")
