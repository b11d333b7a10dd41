"""Hands: the keyboard alone, fingers, small and wide screens."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from browser.search import Search, focused, into_the_grid
from support.servers import Server, until

BOXES = """all => all.map((one) => {
    const { x, width, height } = one.getBoundingClientRect();
    return [one.getAttribute("aria-label") ?? one.textContent, x, width, height];
})"""


def test_a_search_by_the_keyboard_alone(search: Search) -> None:
    page = search.page
    into_the_grid(search)
    titles = search.titles()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    here = next(title for title in titles if title in focused(page))
    assert here == titles[2]
    page.keyboard.press("ArrowLeft")
    here = next(title for title in titles if title in focused(page))
    assert here == titles[1]
    page.keyboard.press("l")
    search.settled()
    expect(search.liked.get_by_role("button", name=f"Clear {here}")).to_be_visible()
    # The focus stays in the grid: the next key acts on what stands there now.
    now = [title for title in search.titles() if title in focused(page)]
    assert now
    page.keyboard.press("d")
    search.settled()
    expect(search.disliked.get_by_role("button", name=f"Clear {now[0]}")).to_be_visible()
    page.keyboard.press("u")
    search.settled()
    expect(search.disliked.get_by_role("button")).to_have_count(0)
    page.keyboard.press("r")
    search.settled()
    expect(search.disliked.get_by_role("button")).to_have_count(1)


def test_plus_and_minus_rate_too(search: Search) -> None:
    into_the_grid(search)
    search.page.keyboard.press("+")
    search.settled()
    expect(search.liked.get_by_role("button")).to_have_count(1)
    search.page.keyboard.press("-")
    search.settled()
    expect(search.disliked.get_by_role("button")).to_have_count(1)


def test_the_question_mark_shows_the_keys(search: Search) -> None:
    into_the_grid(search)
    search.page.keyboard.press("?")
    keys = search.page.get_by_role("dialog", name=re.compile("Keys|Help", re.I))
    expect(keys).to_be_visible()
    expect(keys).to_contain_text("undo")
    before = search.session()["step"]
    search.page.keyboard.press("l")
    search.page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    # Keys that are pressed while reading about them do nothing.
    assert search.session()["step"] == before


def test_letters_typed_as_words_are_words(search: Search) -> None:
    search.words.press_sequentially("dull lure")
    assert search.session()["step"] == 0
    expect(search.words).to_have_value("dull lure")


def test_arrows_walk_through_rows(search: Search) -> None:
    page = search.page
    into_the_grid(search)
    titles = search.titles()
    page.keyboard.press("ArrowDown")
    below = next(title for title in titles if title in focused(page))
    first = search.grid.get_by_role("button", name=f"Like {titles[0]}", exact=True).bounding_box()
    second = search.grid.get_by_role("button", name=f"Like {below}", exact=True).bounding_box()
    assert first is not None
    assert second is not None
    assert abs(first["x"] - second["x"]) < 3
    assert second["y"] > first["y"]
    page.keyboard.press("ArrowUp")
    assert titles[0] in focused(page)


@pytest.fixture
def phone(windows: Callable[..., BrowserContext], shapes: Server) -> Search:
    """A telephone in somebody's hand."""
    window = windows(390, 844, has_touch=True, is_mobile=True, device_scale_factor=2)
    return Search(window.new_page()).begin(shapes.url)


def test_a_tap_rates(phone: Search) -> None:
    title = phone.titles()[0]
    phone.grid.get_by_role("button", name=f"Like {title}", exact=True).tap()
    phone.settled()
    # There is no room for the trays: a button tells how much is in them, and opens them.
    phone.button("Your search: 1 liked, 0 disliked").tap()
    clear = phone.liked.get_by_role("button", name=f"Clear {title}")
    clear.tap()
    # A tap becomes a click a moment after the finger has left the glass.
    until(lambda: phone.session()["likes"] == [])


def test_a_tap_on_the_picture_opens_it(phone: Search) -> None:
    title = phone.titles()[3]
    phone.button(f"Open {title}").tap()
    opened = phone.page.get_by_role("dialog", name=title, exact=True)
    expect(opened.get_by_role("heading", name="Why this?")).to_be_visible()
    opened.get_by_role("button", name=f"Found it: {title}").tap()
    expect(phone.found).to_contain_text(title)


@pytest.mark.parametrize(("across", "verdict"), [(170, "likes"), (-170, "dislikes")])
def test_a_swipe_rates(phone: Search, across: int, verdict: str) -> None:
    card = phone.grid.get_by_role("listitem").nth(0 if across > 0 else 1)
    swipe(phone.page, card.bounding_box(), across, 0)
    until(lambda: phone.session()["step"] == 1)
    assert len(phone.session()[verdict]) == 1


def test_a_finger_that_scrolls_does_not_rate(phone: Search) -> None:
    card = phone.grid.get_by_role("listitem").nth(2)
    swipe(phone.page, card.bounding_box(), 12, -300)
    phone.settled()
    assert phone.session()["step"] == 0


def test_a_short_swipe_changes_nothing(phone: Search) -> None:
    card = phone.grid.get_by_role("listitem").nth(0)
    swipe(phone.page, card.bounding_box(), 18, 0)
    phone.settled()
    assert phone.session()["step"] == 0


def swipe(page: Page, box: object, across: float, down: float) -> None:
    """Move a finger over the glass, as the browser itself hears of it."""
    assert isinstance(box, dict)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 3
    glass = page.context.new_cdp_session(page)
    steps = 8
    glass.send(
        "Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]}
    )
    for step in range(1, steps + 1):
        point = {"x": x + across * step / steps, "y": y + down * step / steps}
        glass.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    glass.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    glass.detach()


@pytest.mark.parametrize("width", [320, 390, 768, 1600, 2560])
def test_every_width_is_enough(
    windows: Callable[..., BrowserContext], shapes: Server, width: int
) -> None:
    # Cards on their way to their places would be counted in more columns than there are.
    window = windows(width, 900, reduced_motion="reduce")
    search = Search(window.new_page()).begin(shapes.url)
    search.like(search.titles()[0]).dislike(search.titles()[0])
    page = search.page
    beyond = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert beyond <= 0
    for name, x, wide, high in page.locator("button:visible").evaluate_all(BOXES):
        # Nothing to press hides beside the screen, and fingers need some room.
        assert x >= -1, name
        assert x + wide <= width + 1 or "step" in name, name
        assert min(wide, high) >= 24, (name, wide, high)
    cards = search.grid.locator("li").evaluate_all(BOXES)
    columns = len({round(x) for _, x, _, _ in cards})
    least, most = {320: (1, 2), 390: (2, 3), 768: (3, 5), 1600: (4, 9), 2560: (4, 14)}[width]
    assert least <= columns <= most
    assert min(wide for _, _, wide, _ in cards) >= 120


MOVED = """
    globalThis.moved = 0;
    const { animate } = Element.prototype;
    Element.prototype.animate = function (frames, how) {
        moved += frames.some((frame) => "transform" in frame);
        return animate.call(this, frames, how);
    };
"""


@pytest.mark.chromium("Firefox cannot be told what moves its owner does not want.")
@pytest.mark.parametrize("wish", ["reduce", "no-preference"])
def test_motion_is_left_out_for_those_who_ask(
    windows: Callable[..., BrowserContext], shapes: Server, wish: str
) -> None:
    page = windows(reduced_motion=wish).new_page()
    page.add_init_script(MOVED)
    search = Search(page).begin(shapes.url)
    search.like(search.titles()[0])
    assert (page.evaluate("moved") == 0) == (wish == "reduce")
    # Nor does the stylesheet move anything; what it moves is seen from inside the search alone.
    inside = (
        "one => one.shadowRoot.getAnimations().map((each) => each.effect.getKeyframes()).flat()"
    )
    frames = page.locator("seeker-search").evaluate(inside)
    assert wish != "reduce" or not any("transform" in frame for frame in frames)
