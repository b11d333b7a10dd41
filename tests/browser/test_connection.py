"""Bad weather: slow, offline, refused, overloaded. Nothing is lost and everything is said."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

import seeker
from browser import catalogs
from browser.search import Search, caught
from browser.servers import Serving
from browser.watch import Watch
from support.servers import Server, until

CLICKS = re.compile(r"/v1/sessions/[^/]+/clicks$")


def problem(route: Route, status: int, detail: str, **headers: str) -> None:
    """Answer as the service does when it refuses."""
    body = {"type": "about:blank", "title": "No", "status": status, "detail": detail, "hint": ""}
    route.fulfill(
        status=status,
        content_type="application/problem+json",
        body=json.dumps(body),
        headers=headers,
    )


def like(search: Search, title: str) -> None:
    """Like an item without waiting for anything."""
    search.grid.get_by_role("button", name=f"Like {title}", exact=True).click()


def test_a_click_is_shown_before_the_answer_comes(search: Search) -> None:
    held: list[Route] = []
    search.page.route(CLICKS, lambda route: held.append(route))
    title = search.titles()[0]
    like(search, title)
    expect(search.liked.get_by_role("button", name=f"Clear {title}")).to_be_visible()
    expect(search.grid).to_have_attribute("aria-busy", "true")
    caught(search.page, held)[0].continue_()
    search.settled()
    assert len(search.session()["likes"]) == 1


def test_a_refused_click_is_taken_back_with_a_sentence(search: Search, watch: Watch) -> None:
    watch.allow("422")
    search.page.route(CLICKS, lambda route: problem(route, 422, "This item cannot be rated."))
    titles = search.titles()
    like(search, titles[0])
    expect(search.alert.filter(has_text="This item cannot be rated.")).to_be_visible()
    search.settled()
    expect(search.liked.get_by_role("button")).to_have_count(0)
    assert search.titles() == titles
    search.page.unroute(CLICKS)
    search.like(titles[1])
    assert len(search.session()["likes"]) == 1


def test_offline_is_said_and_the_click_is_sent_when_it_is_back(
    search: Search, watch: Watch
) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED|ERROR_OFFLINE")
    title = search.titles()[0]
    search.page.context.set_offline(True)
    like(search, title)
    expect(search.page.get_by_text(re.compile("cannot be reached|offline", re.I))).to_be_visible()
    search.page.context.set_offline(False)
    search.settled()
    expect(search.page.get_by_text(re.compile("cannot be reached|offline", re.I))).to_be_hidden()
    expect(search.liked.get_by_role("button", name=f"Clear {title}")).to_be_visible()
    assert (search.session()["step"], len(search.session()["likes"])) == (1, 1)


@pytest.mark.chromium("Playwright cannot ask in the place of Firefox.")
def test_an_answer_that_got_lost_is_not_counted_twice(search: Search, watch: Watch) -> None:
    watch.allow("ERR_FAILED|ERR_CONNECTION")
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        if lost:
            route.continue_()
            return
        # The service takes the click, and its answer never arrives.
        route.fetch()
        lost.append(route.request.url)
        route.abort("connectionreset")

    search.page.route(CLICKS, lose_the_first)
    like(search, search.titles()[0])
    retry = search.button("Try again")
    expect(retry).to_be_visible()
    retry.click()
    search.settled()
    assert lost
    assert (search.session()["step"], len(search.session()["likes"])) == (1, 1)


def test_slowness_is_said_and_nothing_is_blocked(search: Search) -> None:
    held: list[Route] = []
    search.page.route(CLICKS, lambda route: held.append(route))
    like(search, search.titles()[0])
    expect(
        search.page.get_by_text(re.compile("longer than usual|still|slow", re.I)).first
    ).to_be_visible()
    caught(search.page, held)[0].continue_()
    search.settled()
    expect(search.page.get_by_text(re.compile("longer than usual|slow", re.I))).to_have_count(0)


def test_a_page_that_loads_slowly_shows_that_it_does(page: Page, shapes: Server) -> None:
    held: list[Route] = []
    page.route(re.compile("/v1/sessions$"), lambda route: held.append(route))
    page.goto(shapes.url)
    search = Search(page)
    expect(search.grid).to_have_attribute("aria-busy", "true")
    assert search.titles() == []
    caught(page, held)[0].continue_()
    search.settled()
    assert len(search.titles()) == 12


def test_an_overloaded_service_is_asked_again_after_the_time_it_names(
    search: Search, watch: Watch
) -> None:
    watch.allow("429")
    refused: list[str] = []

    def refuse_once(route: Route) -> None:
        if refused:
            route.continue_()
            return
        refused.append(route.request.url)
        problem(
            route, 429, "These are more requests than one client may make.", **{"Retry-After": "1"}
        )

    search.page.route(CLICKS, refuse_once)
    search.like(search.titles()[0])
    assert refused
    assert len(search.session()["likes"]) == 1


def test_a_service_that_fails_at_the_start_can_be_tried_again(
    page: Page, shapes: Server, watch: Watch
) -> None:
    watch.allow("500")
    start = re.compile("/v1/sessions$")
    page.route(start, lambda route: problem(route, 500, "The service made a mistake."))
    page.goto(shapes.url)
    expect(page.get_by_text("The service made a mistake.")).to_be_visible()
    page.unroute(start)
    search = Search(page)
    search.button("Try again").click()
    search.settled()
    assert len(search.titles()) == 12


def test_a_picture_that_is_missing_leaves_a_card_to_read(
    page: Page, shapes: Server, watch: Watch
) -> None:
    watch.allow("404")
    page.route(re.compile("/media/"), lambda route: route.fulfill(status=404))
    search = Search(page).begin(shapes.url)
    title = search.titles()[0]
    expect(search.grid.get_by_text(title, exact=True).first).to_be_visible()
    page.unroute(re.compile("/media/"))


@pytest.mark.chromium("Playwright cannot ask in the place of Firefox.")
def test_a_belief_that_comes_later_is_asked_for_until_it_is_there(
    search: Search, watch: Watch
) -> None:
    watch.allow("503")
    page = search.page
    looks: list[Route] = []

    def without_belief(route: Route) -> None:
        answered = route.fetch()
        route.fulfill(response=answered, body=json.dumps({**answered.json(), "belief": None}))

    def busy_at_first(route: Route) -> None:
        looks.append(route)
        if len(looks) < 3:
            problem(route, 503, "The service has too much to do.")

    search.like(search.titles()[0])
    meaning = page.get_by_text(re.compile("similar means"))
    expect(meaning).to_be_visible()
    page.route(CLICKS, without_belief)
    page.route(re.compile(r"/v1/sessions/[^/]+$"), busy_at_first)
    like(search, search.titles()[0])
    expect(search.status).to_have_text("Thinking…")
    # What was known stays on screen meanwhile, and nobody is told that anything is wrong.
    expect(meaning).to_be_visible()
    until(lambda: page.evaluate("1") and len(looks) == 3)
    looks[2].continue_()
    expect(search.status).not_to_have_text("Thinking…")
    expect(page.get_by_text("The service has too much to do.")).to_have_count(0)


def test_an_item_that_has_left_says_so(
    page: Page, watch: Watch, serving: Serving, tmp_path: Path
) -> None:
    watch.allow("410")
    folder = catalogs.sentences(tmp_path / "sentences")
    url = serving(folder).url
    search = Search(page).begin(url)
    gone, *others = search.titles()
    catalog = seeker.Catalog.open(folder)
    id = next(id for id in catalog.ids if catalog.item(id).title == gone)
    seeker.remove(folder, ids=[id])
    until(lambda: httpx.get(f"{url}/v1/items/sentences/{id}").status_code == 410)
    like(search, gone)
    expect(search.alert.filter(has_text="has just left the collection")).to_be_visible()
    search.settled()
    expect(search.liked.get_by_role("button")).to_have_count(0)
    assert gone not in search.titles()
    search.like(next(title for title in others if title in search.titles()))
    assert len(search.session()["likes"]) == 1
