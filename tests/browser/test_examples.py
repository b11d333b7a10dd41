"""More like this: an item, from its card, its details or a link; and a picture of one's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from browser import catalogs
from browser.accessibility import violations
from browser.search import Search
from browser.servers import Serving
from browser.watch import Watch
from support.servers import Server

NAME = "your picture"


@pytest.fixture(scope="module")
def pictures_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog of drawn shapes, compared by what is seen of them."""
    folder = tmp_path_factory.mktemp("pictures") / "shapes"
    return catalogs.shapes(folder, ["colour", "outline"])


@pytest.fixture(scope="module")
def pictures(pictures_folder: Path, serving: Serving) -> Server:
    return serving(pictures_folder)


@pytest.fixture
def gallery(page: Page, pictures: Server) -> Search:
    return Search(page).begin(pictures.url)


def drawing(folder: Path, title: str) -> Path:
    """Return the file of a shape."""
    rows = map(json.loads, (folder.parent / "shapes.jsonl").read_text().splitlines())
    file = next(row["picture"] for row in rows if row["title"] == title)
    return folder.parent / "pictures" / str(file)


def unseen(search: Search) -> str:
    return search.absent("huge red star", "huge blue star", "huge green star", "huge pink star")


def test_a_picture_is_chosen_and_undone(gallery: Search, pictures_folder: Path) -> None:
    page, wanted = gallery.page, unseen(gallery)
    with page.expect_file_chooser() as chooser:
        gallery.button("Search with a picture of your own").click()
    chooser.value.set_files(drawing(pictures_folder, wanted))
    expect(gallery.liked.get_by_role("button", name=f"Clear {NAME}")).to_be_visible()
    gallery.settled()
    assert wanted in gallery.titles()
    thumbnail = gallery.liked.locator("img")
    expect(thumbnail).to_have_js_property("complete", True)
    assert thumbnail.evaluate("one => one.naturalWidth") > 0
    expect(gallery.button(f"Go back to step 1: Asked for more like {NAME}")).to_be_visible()
    assert violations(page) == []
    page.reload()
    gallery.settled()
    expect(gallery.liked.get_by_role("button", name=f"Clear {NAME}")).to_be_visible()
    gallery.button(f"Open {wanted}").click()
    expect(page.get_by_role("dialog")).to_contain_text(f"You liked {NAME}")
    page.keyboard.press("Escape")
    gallery.press("Undo")
    expect(gallery.liked.get_by_role("button")).to_have_count(0)
    assert gallery.session()["examples"] == []


GIVE = """async (host, [kind, source]) => {
    const blob = await (await fetch(source)).blob();
    const data = new DataTransfer();
    data.items.add(new File([blob], "mine.png", { type: blob.type }));
    const options = { bubbles: true, composed: true, cancelable: true };
    const event = kind === "paste"
        ? new ClipboardEvent("paste", { ...options, clipboardData: data })
        : new DragEvent(kind, { ...options, dataTransfer: data });
    host.dispatchEvent(event);
    return event.defaultPrevented;
}"""
"""What a browser does when somebody drops or pastes a file that lies at an address."""


OWN_PASTE = pytest.mark.chromium("Firefox gives a paste that a script makes no files.")


@pytest.mark.parametrize("kind", ["drop", pytest.param("paste", marks=OWN_PASTE)])
def test_a_picture_is_dropped_or_pasted(gallery: Search, kind: str) -> None:
    picture = gallery.session()["page"]["items"][3]
    host = gallery.page.locator("seeker-search")
    if kind == "drop":
        assert host.evaluate(GIVE, ["dragover", picture["media"]]) is True
        expect(host).to_have_attribute("dropping", "")
    assert host.evaluate(GIVE, [kind, picture["media"]]) is True
    expect(host).not_to_have_attribute("dropping", "")
    expect(gallery.liked.get_by_role("button", name=f"Clear {NAME}")).to_be_visible()


def test_what_is_no_picture_is_said_and_nothing_happens(
    gallery: Search, tmp_path: Path, watch: Watch
) -> None:
    watch.allow("422")
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    before = gallery.titles()
    gallery.page.locator("seeker-search input[type=file]").set_input_files(broken)
    expect(gallery.alert).to_contain_text("damaged")
    assert gallery.session()["step"] == 0
    assert gallery.titles() == before


def test_pictures_are_offered_only_where_they_are_read(search: Search) -> None:
    expect(search.button("Filters")).to_be_visible()
    expect(search.button("Search with a picture of your own")).to_have_count(0)
    picture = search.session()["page"]["items"][0]["media"]
    host = search.page.locator("seeker-search")
    assert host.evaluate(GIVE, ["drop", picture]) is False
    assert search.session()["step"] == 0


def test_more_like_an_item_from_its_card_and_its_details(search: Search) -> None:
    page = search.page
    search.like(search.titles()[0])
    before = page.url
    title = search.titles()[2]
    search.grid.get_by_role("listitem").nth(2).hover()
    search.press(f"More like this: {title}")
    expect(search.liked.get_by_role("button")).to_have_count(1)
    expect(search.liked.get_by_role("button", name=f"Clear {title}")).to_be_visible()
    assert title not in search.titles()
    assert page.url != before
    other = search.titles()[1]
    search.button(f"Open {other}").click()
    page.get_by_role("dialog").get_by_role("button", name=f"More like this: {other}").click()
    expect(search.liked.get_by_role("button", name=f"Clear {other}")).to_be_visible()
    search.settled()
    page.go_back()
    expect(search.liked.get_by_role("button", name=f"Clear {title}")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(before)


def test_a_card_has_it_on_a_phone_too(
    windows: Callable[..., BrowserContext], shapes: Server
) -> None:
    window = windows(390, 800, has_touch=True, is_mobile=True)
    search = Search(window.new_page()).begin(shapes.url)
    title = search.titles()[0]
    control = search.button(f"More like this: {title}")
    expect(control).to_be_visible()
    box = control.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 24
    control.tap()
    search.page.wait_for_function(
        "() => document.querySelector('seeker-search').session.likes.length === 1"
    )


def test_a_link_and_an_attribute_begin_with_items(page: Page, shapes: Server) -> None:
    search = Search(page).begin(f"{shapes.url}/?like=shape/7&like=shape/9")
    assert search.session()["likes"] == ["shape/7", "shape/9"]
    # The model is sure that it is among the twelve, but nobody has said that it is no other.
    page.wait_for_function(
        "() => document.querySelector('seeker-search').session.belief?.on_page > 0.5"
    )
    expect(page.get_by_text("Getting closer")).to_be_visible()
    host = page.locator("seeker-search")
    host.evaluate("one => one.setAttribute('like', 'shape/3')")
    page.wait_for_function(
        "() => document.querySelector('seeker-search').session.likes.join() === 'shape/3'"
    )
    host.evaluate("""one => one.setAttribute('like', '["shape/4", "shape/5"]')""")
    page.wait_for_function(
        "() => document.querySelector('seeker-search').session.likes.length === 2"
    )
    before = search.session()["id"]
    search.button("Start anew").click()
    page.wait_for_function(
        "id => document.querySelector('seeker-search').session.id !== id", arg=before
    )
    assert search.session()["likes"] == ["shape/4", "shape/5"]  # what the site says outlives it
    host.evaluate("one => one.removeAttribute('like')")
    page.wait_for_function(
        "() => document.querySelector('seeker-search').session.likes.length === 0"
    )
