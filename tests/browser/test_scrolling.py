"""Explore more: down the same ranking to the very end, and clicks made on the way."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from browser import catalogs
from browser.search import Search, caught
from browser.servers import Serving
from support.servers import Server, until

MANY = 5_200
VERY_MANY = 100_000
MOST_CARDS = 400
"""Cards that a window may hold at once, however long the list is."""

# Two frames: one in which the list hears of it, one in which what it does is painted.
PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory, serving: Serving) -> Server:
    return serving(catalogs.numbers(tmp_path_factory.mktemp("many") / "many", MANY))


@pytest.fixture(scope="module")
def very_many(tmp_path_factory: pytest.TempPathFactory, serving: Serving) -> Server:
    return serving(catalogs.numbers(tmp_path_factory.mktemp("more") / "more", VERY_MANY))


def places(search: Search) -> dict[int, str]:
    """Return the cards that are there now, by their place in the ranking."""
    found: list[tuple[int, str]] = search.grid.evaluate(
        """grid => [...grid.querySelectorAll("li[aria-posinset]")].map((card) => [
            Number(card.getAttribute("aria-posinset")),
            card.querySelector('[aria-label^="Like "]').getAttribute("aria-label"),
        ])"""
    )
    return {place: name.removeprefix("Like ") for place, name in found}


def ranking(server: Server, session: str) -> list[str]:
    """Return the titles of the whole ranking, as the service tells them."""
    titles: list[str] = []
    with server.client() as http:
        while True:
            question = {"offset": len(titles), "limit": 200}
            page = http.get(f"/v1/sessions/{session}/items", params=question).json()
            titles += [item["title"] for item in page["items"]]
            if len(titles) >= page["total"]:
                return titles


def scroll(search: Search, down: float) -> None:
    """Turn the wheel of the mouse, and wait until the page has come to rest."""
    search.page.evaluate(
        """() => {
            globalThis.rests = false;
            document.addEventListener("scrollend", () => { rests = true; }, { once: true });
            // Firefox turns a driver's wheel at once and tells no end: ten frames are alike.
            let [before, alike] = [scrollY, NaN];
            const look = () => {
                alike = scrollY === before ? alike + 1 : 0;
                before = scrollY;
                if (alike === 10) rests = true;
                else requestAnimationFrame(look);
            };
            if (navigator.userAgent.includes("Firefox")) look();
        }"""
    )
    search.page.mouse.wheel(0, down)
    until(lambda: search.page.evaluate("rests"))
    search.page.evaluate(PAINTED)


def arrived(search: Search) -> list[str]:
    """Wait for the items at the place that was scrolled to, and return those in view."""
    expect(search.grid.locator('li[aria-hidden="true"]')).to_have_count(0)
    seen: list[str] = until(lambda: in_view(search))
    return seen


def noted(search: Search) -> None:
    """Wait until it is kept with the page's history where somebody is: a moment after they stop."""
    here = f'"top":{search.page.evaluate("scrollY")}'
    until(lambda: here in search.page.evaluate("JSON.stringify(history.state)"))


def test_the_list_goes_on_to_the_very_end_without_repeats_or_gaps(page: Page, many: Server) -> None:
    page.set_viewport_size({"width": 1600, "height": 2000})
    search = Search(page).begin(many.url)
    search.like(search.titles()[0])
    told = ranking(many, search.session()["id"])
    assert len(told) == len(set(told)) == MANY
    search.button("Explore more").click()
    waiting = search.grid.locator('li[aria-hidden="true"]')
    seen: dict[int, str] = {}
    while len(seen) < len(told):
        known = len(seen)
        expect(waiting).to_have_count(0)
        for place, title in places(search).items():
            assert seen.setdefault(place, title) == title
        if len(seen) == known:
            break
        # The list keeps a window's height above and below what is seen.
        page.evaluate("scrollBy(0, 5400)")
        page.evaluate(PAINTED)
    assert [seen.get(place) for place in range(1, len(told) + 1)] == told
    assert search.grid.get_by_role("listitem").count() <= MOST_CARDS


def test_a_hundred_thousand_items_scroll_smoothly(page: Page, very_many: Server) -> None:
    search = Search(page).begin(very_many.url)
    search.button("Explore more").click()
    expect(search.grid.get_by_role("listitem").nth(20)).to_be_attached()
    page.keyboard.press("Escape")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    last = search.grid.locator(f'[aria-posinset="{VERY_MANY}"]')
    expect(last).to_be_attached()
    last.scroll_into_view_if_needed()
    expect(last).to_be_in_viewport()
    with very_many.client() as http:
        answer = http.get(
            f"/v1/sessions/{search.session()['id']}/items",
            params={"offset": VERY_MANY - 1, "limit": 1},
        ).json()
    expect(last).to_contain_text(answer["items"][0]["title"])
    assert search.grid.get_by_role("listitem").count() <= MOST_CARDS


def test_a_click_far_down_counts_with_what_was_on_screen(page: Page, many: Server) -> None:
    search = Search(page).begin(many.url)
    search.button("Explore more").click()
    page.mouse.move(640, 450)
    for _ in range(12):
        scroll(search, 800)
    expect(search.grid.locator('[aria-posinset="1"]')).to_have_count(0)
    around = arrived(search)
    chosen = around[len(around) // 2]
    search.grid.get_by_role("button", name=f"Like {chosen}", exact=True).click()
    search.settled()
    expect(search.liked.get_by_role("button", name=f"Clear {chosen}")).to_be_visible()
    with many.client() as http:
        kept = http.get(f"/v1/sessions/{search.session()['id']}/events").json()
    click = kept["events"][-1]
    assert click["item"] == chosen
    # Titles are ids in this catalog. A card may be seen though its buttons are not, so the list
    # may hold two rows more; the first page, which had gone long before, is not in it. Firefox's
    # driver stands still between two turns of the wheel, and where somebody stops counts, too, up
    # to eleven places to either side.
    stops = page.context.browser is not None and page.context.browser.browser_type.name == "firefox"
    assert set(around) <= set(click["shown"])
    assert len(click["shown"]) <= (11 + 1 + 11 if stops else len(around) + 12)
    assert not set(click["shown"]) & set(first_page(many, search.session()["id"]))


def first_page(server: Server, session: str) -> list[str]:
    """Return the ids of the page that the session began with."""
    with server.client() as http:
        forked = http.post(f"/v1/sessions/{session}/fork", json={}).json()
        undone = http.post(f"/v1/sessions/{forked['id']}/undo", json={}).json()
    return [item["id"] for item in undone["page"]["items"]]


def in_view(search: Search) -> list[str]:
    """Return the titles of the cards that can be seen wholly, far from the edges of the window."""
    names: list[str] = search.grid.get_by_role("button", name=re.compile("^Like ")).evaluate_all(
        """buttons => buttons.filter((one) => {
            const card = one.closest("li").getBoundingClientRect();
            return card.top > 100 && card.bottom < innerHeight - 20;
        }).map((one) => one.getAttribute("aria-label"))"""
    )
    return [name.removeprefix("Like ") for name in names]


def test_after_a_click_the_list_begins_again_at_its_head(page: Page, many: Server) -> None:
    search = Search(page).begin(many.url)
    search.button("Explore more").click()
    page.mouse.move(640, 450)
    for _ in range(6):
        scroll(search, 800)
    search.like(arrived(search)[0])
    expect(search.grid.get_by_role("listitem").first).to_be_in_viewport()
    told = ranking(many, search.session()["id"])
    assert search.titles()[:12] == told[:12]


def test_what_was_rated_stands_at_the_end_and_can_be_taken_back(search: Search) -> None:
    """Four items are left by two filters: the list ends where it ends."""
    search.button("Filters").click()
    search.page.get_by_role("checkbox", name="azure (20)").check()
    search.page.get_by_role("checkbox", name="star (48)").check()
    search.settled()
    assert len(search.titles()) == 4
    expect(search.button("Explore more")).to_be_hidden()
    rated = search.titles()[0]
    search.dislike(rated)
    assert search.titles()[-1] == rated
    button = search.grid.get_by_role("button", name=f"Dislike {rated}", exact=True)
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    search.settled()
    assert search.session()["dislikes"] == []


def test_leaving_while_more_is_on_its_way(page: Page, many: Server) -> None:
    search = Search(page).begin(many.url)
    held: list[Route] = []
    page.route(re.compile("/items"), lambda route: held.append(route))
    search.button("Explore more").click()
    page.mouse.move(640, 450)
    scroll(search, 3000)
    caught(page, held)
    noted(search)
    search.press("Start anew")
    for route in held:
        route.continue_()
    page.unroute(re.compile("/items"))
    # However far down the one before was looked through, this one begins with its first page.
    assert len(search.titles()) == 12
    expect(search.grid.get_by_role("listitem").first).to_be_in_viewport()
    search.like(search.titles()[0])
    assert search.session()["step"] == 1


def test_a_reload_comes_back_to_the_very_place(page: Page, many: Server) -> None:
    search = Search(page).begin(many.url)
    search.button("Explore more").click()
    page.mouse.move(640, 450)
    for _ in range(8):
        scroll(search, 700)
    before = arrived(search)
    noted(search)
    page.reload()
    search.settled()
    assert arrived(search) == before


def test_exploring_with_the_keyboard_goes_on_where_the_new_items_begin(
    page: Page, many: Server
) -> None:
    search = Search(page).begin(many.url)
    search.button("Explore more").focus()
    page.keyboard.press("Enter")
    focused = search.grid.locator("[aria-posinset='13']").locator(":focus")
    expect(focused).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(search.grid.locator("[aria-posinset='14']").locator(":focus")).to_be_visible()
    # However far one walks, there is always a card under the keyboard.
    under = search.grid.locator("li:has(:focus)")
    place = 0
    while place <= 60:
        expect(search.grid.locator('li[aria-hidden="true"]')).to_have_count(0)
        page.keyboard.press("ArrowDown")
        page.evaluate(PAINTED)
        before, place = place, int(under.get_attribute("aria-posinset") or 0)
        assert place > before
