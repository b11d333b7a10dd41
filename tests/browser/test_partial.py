"""Answers from a part of the catalog, and lists that the service has gone on from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from browser.search import Search, caught
from support.servers import Server

START = re.compile("/v1/sessions$")
ITEMS = re.compile("/items")
SAID = re.compile("Part of the catalog")


pytestmark = pytest.mark.chromium("Playwright cannot ask in the place of Firefox.")


def changed(change: Callable[[dict[str, Any]], None]) -> Callable[[Route], None]:
    """Let the service answer, and change what it says."""

    def answer(route: Route) -> None:
        answered = route.fetch()
        body = answered.json()
        change(body)
        route.fulfill(response=answered, body=json.dumps(body))

    return answer


def test_a_page_from_a_part_of_the_catalog_says_so(page: Page, shapes: Server) -> None:
    page.route(START, changed(lambda body: body["page"].update(partial=True)))
    search = Search(page).begin(shapes.url)
    expect(page.get_by_text(SAID)).to_be_visible()
    assert len(search.titles()) == 12
    page.unroute(START)
    search.like(search.titles()[0])
    expect(page.get_by_text(SAID)).to_be_hidden()


def test_a_list_that_ends_early_is_not_asked_for_without_end(search: Search) -> None:
    page, last = search.page, 60
    asked: list[str] = []

    def cut(body: dict[str, Any]) -> None:
        kept = max(0, last - body["offset"])
        body.update(items=body["items"][:kept], partial=True)

    answer = changed(cut)

    def count(route: Route) -> None:
        asked.append(route.request.url)
        answer(route)

    page.route(ITEMS, count)
    search.button("Explore more").click()
    final = search.grid.locator(f"[aria-posinset='{last}']")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(final).to_be_attached()
    expect(search.grid.locator("li[aria-hidden]")).to_have_count(0)
    expect(page.get_by_text(SAID)).to_be_visible()
    expect(page.get_by_text("That is all that can be shown just now.")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    expect(search.grid.locator("[aria-posinset='1']")).to_be_visible()
    search.like(search.titles()[0])
    assert len(asked) <= 6


def test_a_click_ends_what_was_asked_of_the_list_before(search: Search) -> None:
    page = search.page
    held: list[Route] = []
    page.route(ITEMS, lambda route: held.append(route))
    search.button("Explore more").click()
    caught(page, held)
    search.like(search.titles()[0])
    # The service answers from the list of now, which is another one.
    for route in held:
        route.continue_()
    asked = len(held)
    search.dislike(search.titles()[0])
    search.like(search.titles()[0])
    assert len(held) == asked
