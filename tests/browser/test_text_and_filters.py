"""Words and filters: how a search begins or goes on with them, and how they are taken away."""

from __future__ import annotations

import io
import re
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

import seeker
from browser.catalogs import HOSTILE, numbers
from browser.search import Search
from browser.watch import Watch
from support.builds import jsonl
from support.servers import Server


def chip(search: Search, words: str) -> None:
    expect(search.chips.get_by_role("button", name=f"Remove {words}", exact=True)).to_be_visible()


def test_words_begin_a_search(search: Search) -> None:
    search.say("violet")
    session = search.session()
    assert session["query"] == "violet"
    assert sum("violet" in title for title in search.titles()) >= 6
    chip(search, "violet")
    search.press("Remove violet")
    assert search.session()["query"] is None
    expect(search.chips.get_by_role("button")).to_have_count(0)


def test_words_that_nothing_is_called_are_told(search: Search) -> None:
    note = search.page.locator(".note")
    expect(note).to_be_empty()
    search.say("purple")
    expect(note).to_contain_text("Nothing is called “purple”. Nearest by meaning: ")
    search.press("Remove purple")
    expect(note).to_be_empty()
    search.like(search.titles()[0]).say("ornage")
    expect(note).to_have_text("“ornage” is read as “orange”.")


def test_a_catalog_without_words_offers_no_box_for_them(
    page: Page, serving: Callable[..., Server], tmp_path: Path
) -> None:
    search = Search(page).begin(serving(numbers(tmp_path / "numbers", 60)).url)
    expect(page.get_by_role("search")).to_be_hidden()
    page.keyboard.press("/")
    assert search.session()["words"] == []


def test_words_in_the_middle_go_on_from_there(search: Search) -> None:
    search.like(search.titles()[0])
    session = search.session()
    search.say("in blue")
    after = search.session()
    assert after["id"] == session["id"]
    assert after["likes"] == session["likes"]
    assert after["said"] == ["in blue"]
    chip(search, "in blue")
    titles = search.titles()
    search.press("Remove in blue")
    assert search.session()["said"] == []
    search.press("Undo")
    assert search.titles() == titles
    chip(search, "in blue")


def test_words_that_look_like_code_are_words(search: Search) -> None:
    words = '<img src=x onerror="alert(1)"> & "quotes"'
    search.like(search.titles()[0]).say(words)
    chip(search, words)
    assert search.session()["said"] == [words]


def test_nothing_happens_without_words(search: Search) -> None:
    search.say("   ")
    assert search.session()["step"] == 0
    assert search.session()["query"] is None


def filters(search: Search) -> None:
    """Open the filters, if they are folded away."""
    region = search.page.get_by_role("group", name=re.compile("colour", re.I))
    if not region.first.is_visible():
        search.button(re.compile("^Filter")).click()
    expect(region.first).to_be_visible()


def test_a_kind_is_filtered_by_ticking_it(search: Search) -> None:
    filters(search)
    box = search.page.get_by_role("checkbox", name=re.compile(r"^star\b.*48"))
    box.check()
    search.settled()
    assert list(search.session()["filter"]) == ["form"]
    assert all(title.endswith("star") for title in search.titles())
    assert search.session()["page"]["total"] == 48
    remove = search.chips.get_by_role("button", name=re.compile("^Remove .*star"))
    remove.click()
    search.settled()
    assert search.session()["filter"] is None
    assert search.session()["page"]["total"] == 240


def test_two_kinds_and_a_range_narrow_together(search: Search) -> None:
    filters(search)
    search.page.get_by_role("checkbox", name=re.compile(r"^star\b")).check()
    search.settled()
    search.page.get_by_role("checkbox", name=re.compile(r"^ring\b")).check()
    search.settled()
    assert search.session()["page"]["total"] == 96
    highest = search.page.get_by_label(re.compile("highest price", re.I))
    highest.press_sequentially("40")
    highest.press("Enter")
    search.settled()
    session = search.session()
    assert 0 < session["page"]["total"] < 96
    assert all(item["attributes"]["price"] <= 40 for item in session["page"]["items"])
    search.press("Undo")
    assert search.session()["page"]["total"] == 96


def test_likes_outside_a_filter_still_count(search: Search) -> None:
    liked = next(title for title in search.titles() if not title.endswith("star"))
    search.like(liked)
    filters(search)
    search.page.get_by_role("checkbox", name=re.compile(r"^star\b")).check()
    search.settled()
    expect(search.liked.get_by_role("button", name=f"Clear {liked}")).to_be_visible()
    assert search.session()["likes"]


def test_a_filter_that_would_leave_nothing_is_refused_in_words(
    search: Search, watch: Watch
) -> None:
    watch.allow("422")
    filters(search)
    titles = search.titles()
    lowest = search.page.get_by_label(re.compile("lowest price", re.I))
    lowest.press_sequentially("1000")
    lowest.press("Enter")
    expect(search.alert.filter(has_text=re.compile("No item|Nothing"))).to_be_visible()
    search.settled()
    assert search.session()["filter"] is None
    assert search.titles() == titles
    expect(search.chips.get_by_role("button")).to_have_count(0)


def test_boxes_ticked_quickly_all_count(search: Search) -> None:
    filters(search)
    boxes = [
        search.page.get_by_role("checkbox", name=re.compile(rf"^{form}\b")).element_handle()
        for form in ("star", "ring", "circle")
    ]
    search.page.evaluate("boxes => boxes.forEach((one) => one.click())", boxes)
    search.settled()
    assert search.session()["page"]["total"] == 3 * 48
    for form in ("star", "ring", "circle"):
        box = search.page.get_by_role("checkbox", name=re.compile(rf"^{form}\b"))
        expect(box).to_be_checked()


def test_sentences_are_cards_to_read(page: Page, sentences: Server) -> None:
    search = Search(page).begin(sentences.url)
    titles = search.titles()
    assert len(titles) == 12
    expect(search.grid.locator("img")).to_have_count(0)
    for title in titles[:4]:
        card = search.grid.get_by_text(title, exact=True).first
        expect(card).to_be_visible()
        # Nothing of a sentence is cut off.
        assert card.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
        assert card.evaluate("one => one.scrollHeight <= one.clientHeight + 1")
    search.like(titles[0])
    expect(search.liked.get_by_role("button", name=f"Clear {titles[0]}")).to_be_visible()
    search.press("Start anew").say("snow")
    assert sum("snow" in title for title in search.titles()) >= 4


def test_a_sentence_that_was_found_can_be_opened(page: Page, sentences: Server) -> None:
    """It has neither a page nor a picture of its own, so all that is known of it is shown here."""
    search = Search(page).begin(sentences.url)
    title = search.titles()[0]
    search.grid.get_by_role("button", name=f"Found it: {title}", exact=True).click(force=True)
    expect(search.found).to_contain_text(title)
    search.found.get_by_role("button", name="Open the item").click()
    opened = page.get_by_role("dialog", name=title, exact=True)
    expect(opened.get_by_role("definition")).to_contain_text(title.split(maxsplit=2)[1])
    expect(opened.get_by_role("button", name=f"Like {title}")).to_have_count(0)


@pytest.mark.parametrize("width", [320, 1280])
def test_a_hostile_title_is_only_a_title(
    windows: Callable[..., BrowserContext], sentences: Server, width: int
) -> None:
    search = Search(windows(width, 900).new_page()).begin(sentences.url)
    page = search.page
    page.on("dialog", lambda dialog: pytest.fail(f"The title has said {dialog.message}."))
    search.say("zebra")
    title = next(title for title in search.titles() if title.startswith("Zebra"))
    assert title == HOSTILE
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    search.button(re.compile("^Open Zebra")).click()
    opened = page.get_by_role("dialog")
    expect(opened.get_by_role("heading", name=re.compile("^Zebra <img"))).to_be_visible()
    assert opened.locator("a[href^='javascript:']").count() == 0
    assert opened.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
    page.keyboard.press("Escape")
    search.like(title)
    expect(search.page.locator("img[src='x']")).to_have_count(0)
    # Its id looks like a path; all the same, the service and the page agree on what it is.
    assert search.session()["likes"] == ["../<b>"]
    page.reload()
    search.settled()
    assert search.session()["likes"] == ["../<b>"]


def silence() -> bytes:
    """Return a sound of half a second in which nothing is heard."""
    contents = io.BytesIO()
    with wave.open(contents, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(8000))
    return contents.getvalue()


def test_attributes_are_shown_as_the_catalog_wants_them(
    page: Page, serving: Callable[..., Server], tmp_path: Path
) -> None:
    """Prices with their currency on cards, names for people, the item's own page; no stock."""
    rows = [
        {
            "id": f"{n}",
            "title": f"thing {n}",
            "note": "https://elsewhere.example/",
            "price": n + 0.5,
            "stock": n % 4,
            "kind_of": f"kind {n % 3}",
            "page": f"https://shop.example/{n}",
            "sample": f"https://sounds.example/{n}.wav",
        }
        for n in range(60)
    ]
    presentation: dict[str, dict[str, Any]] = {
        "price": {"currency": "EUR", "label": "Our price", "card": True},
        "kind_of": {"label": "Sort"},
        "stock": {"hidden": True},
        "page": {"link": True},
    }
    seeker.build(
        jsonl(tmp_path / "rows.jsonl", rows),
        tmp_path / "shop",
        views=["attributes"],
        presentation=presentation,
        only={"stock": {"gt": 0}},
    )
    search = Search(page).begin(serving(tmp_path / "shop").url)
    shown = search.session()["page"]["items"]
    assert all(int(item["id"]) % 4 for item in shown)
    first = shown[0]
    card = page.get_by_role("list", name="Items", exact=True).get_by_role("listitem").first
    expect(card).to_contain_text(f"€{first['attributes']['price']:.2f}")
    page.get_by_role("button", name="Filters", exact=True).click()
    expect(page.get_by_role("group", name="Sort", exact=True)).to_be_visible()
    assert page.get_by_text("stock").count() == 0
    page.get_by_label("highest Our price").press_sequentially("40")
    page.get_by_label("highest Our price").press("Enter")
    chip(search, "Our price: up to €40.00")
    search.press("Start anew")
    assert {int(item["id"]) % 4 for item in search.session()["page"]["items"]} <= {1, 2, 3}
    item = search.session()["page"]["items"][0]
    page.get_by_role("button", name=re.compile(f"^Open {item['title']}")).first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Our price")
    expect(dialog).to_contain_text(f"€{item['attributes']['price']:.2f}")
    # A sound is played where it is, and not before somebody wants to hear it.
    asked = list[str]()

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(body=silence(), content_type="audio/wav")

    page.route("https://sounds.example/**", answer)
    player = dialog.locator("audio")
    expect(player).to_have_attribute("aria-label", "sample")
    assert asked == []
    assert player.evaluate("async one => { one.load(); await one.play(); return one.duration }") > 0
    assert {*asked} == {item["attributes"]["sample"]}
    dialog.get_by_role("button", name=f"Found it: {item['title']}").click()
    link = page.get_by_role("region", name="Found", exact=True).get_by_role("link")
    expect(link.first).to_have_attribute("href", item["attributes"]["page"])
