"""The page in another language: nothing that is read or heard comes from elsewhere than the table.

The table is replaced by one that puts its texts into brackets, as a translator would put them into
other words. What then stands without brackets is either the catalog's or was forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from playwright.sync_api import Page, Route, expect

from browser.catalogs import COLOURS, FORMS, SIZES
from browser.search import Search
from support.servers import Server

TRANSLATION = """
import * as table from "./strings.js?table";
export * from "./strings.js?table";
const translate = (value) => {
  if (typeof value === "string") return value && `⟦${value}⟧`;
  if (typeof value === "function") return (...given) => translate(value(...given));
  if (Array.isArray(value)) return value.map(translate);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, translate(one)]));
};
export const strings = translate(table.strings);
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
TYPED = "something blue"


def untranslated(texts: Iterable[str]) -> set[str]:
    """Return the texts of which a part is neither translated, nor the catalog's, nor an address."""
    left = set()
    for text in texts:
        rest = text
        while rest != (rest := re.sub(r"⟦[^⟦⟧]*⟧", "", rest)):
            pass
        rest = re.sub(r"\S+:\d+/#\S+", "", rest.replace(TYPED, ""))
        if set(re.findall(r"[^\W\d_]+", rest)) - CATALOG:
            left.add(text)
    return left


def forgotten(page: Page) -> set[str]:
    """Return what stands on the page, or is told of it, in no translation."""
    return untranslated(page.locator("seeker-search").evaluate(TEXTS))


def test_every_text_of_a_search_is_in_the_table(page: Page, shapes: Server) -> None:
    def answer(route: Route) -> None:
        route.fulfill(body=TRANSLATION, content_type="text/javascript")

    page.route("**/web/strings.js", answer)
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
    page.get_by_label("⟦highest price⟧").fill("90")
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
