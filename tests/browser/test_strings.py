"""The page in another language: nothing that is read or heard comes from elsewhere than the table.

The table is replaced by one that puts its texts into brackets, as a translator would put them into
other words. What then stands without brackets is either the catalog's or was forgotten.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from playwright.sync_api import BrowserContext, Page, Route, expect

from browser.catalogs import COLOURS, FORMS, SIZES
from browser.cut_off import CUT_OFF, SPEAK
from browser.search import Search, module_by_module
from browser.watch import Watch
from seeker import web
from seeker.html_report import html_page
from support.servers import Server

TRANSLATION = """
import table from "./en.js?table";
const translate = (value) =>
  typeof value === "string"
    ? value.replace(/[^[\\]]+/g, "⟦$&⟧")
    : Object.fromEntries(Object.entries(value).map(([key, one]) => [key, translate(one)]));
export default { ...translate(table), "document.direction": "ltr" };
"""
TEXTS = """host => {
    const texts = [];
    const walk = (node) => {
        if (node.nodeType === Node.TEXT_NODE) texts.push(node.data);
        for (const name of ["aria-label", "title", "placeholder", "alt"])
            texts.push(node.getAttribute?.(name) ?? "");
        node.childNodes.forEach(walk);
    };
    walk(host.shadowRoot);
    return texts;
}"""
CATALOG = {*COLOURS, *FORMS, *SIZES, "colour", "form", "price", "hue", "outline", "shapes"}
KEYS = {"U", "R"}
"""What stands on keys of a keyboard, whatever their reader speaks."""
TYPED = "something blue"


def untranslated(texts: Iterable[str]) -> set[str]:
    """Return the texts of which a part is neither translated, nor the catalog's, nor an address."""
    left = set()
    for text in texts:
        rest = text
        while rest != (rest := re.sub(r"⟦[^⟦⟧]*⟧", "", rest)):
            pass
        rest = re.sub(r"\S+:\d+/#\S+", "", rest.replace(TYPED, ""))
        if set(re.findall(r"[^\W\d_]+", rest)) - CATALOG - KEYS:
            left.add(text)
    return left


def forgotten(page: Page) -> set[str]:
    """Return what stands on the page, or is told of it, in no translation."""
    return untranslated(page.locator("seeker-search").evaluate(TEXTS))


def test_every_text_of_a_search_is_in_the_table(page: Page, shapes: Server) -> None:
    def answer(route: Route) -> None:
        route.fulfill(body=TRANSLATION, content_type="text/javascript")

    module_by_module(page)
    page.route("**/web/languages/en.js", answer)
    search = Search(page)
    search.grid = page.get_by_role("list", name="⟦Items⟧", exact=True)
    search.begin(shapes.url)
    assert forgotten(page) == set()
    for verdict in ("Like", "Dislike"):
        named = search.grid.get_by_role("button", name=re.compile(f"^⟦{verdict} "))
        named.first.click()
        search.settled()
    search.words = page.get_by_role("searchbox", name="⟦Words⟧", exact=True)
    search.say(TYPED).press("⟦Undo⟧").press("⟦Redo⟧").press("⟦Surprise me⟧")
    search.button("⟦Filters⟧").click()
    page.get_by_role("checkbox", name=re.compile("^⟦blue ")).check()
    search.settled()
    page.get_by_label("⟦highest price⟧").press_sequentially("90")
    page.keyboard.press("Enter")
    search.settled().press("⟦Explore more⟧")
    assert forgotten(page) == set()
    search.grid.get_by_role("button", name=re.compile("^⟦Open ")).first.click()
    opened = page.get_by_role("dialog")
    expect(opened.get_by_text("⟦Thinking…⟧")).to_have_count(0)
    assert forgotten(page) == set()
    opened.get_by_role("button", name=re.compile("^⟦Found it: ")).click()
    expect(page.get_by_role("region", name="⟦Found⟧", exact=True)).to_contain_text("⟦You found it⟧")
    assert forgotten(page) == set()
    search.button("⟦Share⟧").first.click()
    expect(opened.get_by_text("⟦Share this search⟧")).to_be_visible()
    assert forgotten(page) == set()


def test_a_forgotten_text_is_seen() -> None:
    """The test above could not fail otherwise."""
    texts = ["⟦Like tiny red star⟧", "tiny red star", "⟦step 2: ⟦Liked ring⟧⟧", "12", "⟦…⟧ · ⟦…⟧"]
    assert untranslated(texts) == set()
    assert untranslated([*texts, "from", "⟦Go back⟧ to ⟦the start⟧"]) == {
        "from",
        "⟦Go back⟧ to ⟦the start⟧",
    }


def test_every_language_fits_on_a_small_phone(
    windows: Callable[..., BrowserContext], shapes: Server
) -> None:
    page = windows(320, 640).new_page()
    search = Search(page).begin(shapes.url)
    search.like(search.titles()[0]).dislike(search.titles()[1]).say(TYPED)
    host = page.locator("seeker-search")
    grid = host.locator("ul.grid")
    seen, cut_off = set[str](), dict[str, dict[str, list[str]]]()
    for tag in [*(one for one in web.languages() if one != "en"), "en"]:
        assert host.evaluate(SPEAK, tag) == [tag, "rtl" if tag == "ar" else "ltr"]
        expect(grid).to_have_attribute("aria-busy", "false")
        cut = {"the page": host.evaluate(CUT_OFF)}
        host.locator("button.more").click()
        cut["the panel"] = host.evaluate(CUT_OFF)
        page.keyboard.press("?")
        cut["help"] = host.evaluate(CUT_OFF)
        seen.add(host.locator("dialog.help").inner_text())
        page.keyboard.press("Escape")
        host.locator("button.more").click()
        host.locator("button.face").nth(1).click()
        expect(host.locator("dialog.detail .weight").first).to_be_attached()
        cut["an item"] = host.evaluate(CUT_OFF)
        page.keyboard.press("Escape")
        cut_off[tag] = {place: texts for place, texts in cut.items() if texts}
    assert {tag: cut for tag, cut in cut_off.items() if cut} == {}
    assert len(seen) == 13  # each has said something else


def test_a_text_that_is_cut_off_is_seen(page: Page, shapes: Server) -> None:
    """The test above could not fail otherwise."""
    page.set_viewport_size({"width": 320, "height": 640})
    Search(page).begin(shapes.url)
    host = page.locator("seeker-search")
    long = "Wassersportartikelverkaufsstellenleitung " * 3
    messages = json.dumps({"foundIt": long, "searchBox.describe": long, "startAnew": long.strip()})
    host.evaluate("(host, messages) => host.setAttribute('messages', messages)", messages)
    expect(host.get_by_placeholder(long)).to_be_attached()
    assert len(host.evaluate(CUT_OFF)) >= 1


def test_a_refusal_is_said_in_the_language_of_the_page(
    page: Page, shapes: Server, watch: Watch
) -> None:
    page.set_extra_http_headers({"Accept-Language": "de"})
    page.goto(shapes.url)
    expect(page.get_by_role("list", name="Ergebnisse")).to_have_attribute("aria-busy", "false")
    assert page.locator("html").get_attribute("lang") == "de"
    watch.allow("429")
    problem = {"detail": "Too many requests.", "hint": "Wait.", "code": "too-many", "status": 429}
    page.route("**/clicks", lambda route: route.fulfill(status=429, json=problem))
    page.get_by_role("button", name="Gefällt mir: ").first.click()
    expect(page.get_by_text("Das war zu viel auf einmal.")).to_be_visible()


ROWS = """(host) => {
    const card = host.shadowRoot.querySelector(".card:not(.skeleton)");
    const names = [".face", ".why", ".similar", ".found"];
    const place = (name) => card.querySelector(name).getBoundingClientRect();
    const [face, why, similar, found] = names.map(place);
    return [why.top === similar.top, found.top > similar.bottom, found.bottom < face.bottom];
}"""


def test_what_can_be_said_of_a_card_keeps_its_place_in_every_language(
    windows: Callable[..., BrowserContext], shapes: Server
) -> None:
    search = Search(windows(1024, 768).new_page()).begin(shapes.url)
    search.like(search.titles()[0])
    host = search.page.locator("seeker-search")
    for tag in [*(one for one in web.languages() if one != "en"), "en"]:
        host.evaluate(SPEAK, tag)
        expect(search.page.locator("ul.grid[aria-busy=false] .card").first).to_be_visible()
        assert host.evaluate(ROWS) == [True, True, True], tag


def test_the_pictures_of_a_report_are_all_on_screen(page: Page) -> None:
    tiles = '<span class="tile">one</span>' * 30
    page.set_content(
        html_page("Searches", [f'<div class="strip"><div class="page">{tiles}</div></div>'])
    )
    assert page.locator(".strip").evaluate("one => one.scrollWidth - one.clientWidth") == 0
