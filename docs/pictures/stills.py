"""Take the pictures of the page that the README and the docs show, from a real search.

    python docs/pictures/stills.py

Somebody looks for the fox on the built-in catalog by liking what is closest to it. Needs a Chromium
and the extras `dev` and `demo`.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import Literal

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from seeker.catalog import Catalog
from seeker.demo import demo_catalog
from seeker.demo.sample import nearest

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from browser import chromium
from browser.demo import served

HERE = Path(__file__).parent
FOX = "1F98A"
SEED = 8
"""So that the pictures can be taken again; of many searches, one that is easy to follow."""

MOST_PAGES = 14


def window(
    browser: Browser, width: int, height: int, scheme: Literal["light", "dark"], phone: bool = False
) -> Page:
    """Open a window of a size."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce",
        device_scale_factor=1.5,
        has_touch=phone,
        is_mobile=phone,
    )
    return context.new_page()


def settled(page: Page) -> Page:
    """Wait until the items and their pictures are there."""
    grid = page.get_by_role("list", name="Items", exact=True)
    expect(grid).to_have_attribute("aria-busy", "false")
    page.wait_for_load_state("networkidle")
    page.mouse.move(0, 0)
    return page


def search(page: Page, catalog: Catalog) -> None:
    """Like what is closest to the fox until it is there."""
    for _ in range(MOST_PAGES):
        settled(page)
        session = page.locator("seeker-search").evaluate("one => one.session")
        shown = {item["id"]: item["title"] for item in session["page"]["items"]}
        if FOX in shown:
            return
        liked = shown[nearest(catalog, list(shown), FOX)]
        page.get_by_role("button", name=f"Like {liked}", exact=True).click()
    raise RuntimeError(f"The fox was on none of {MOST_PAGES} pages; try again.")


def take(browser: Browser, url: str, catalog: Catalog) -> None:
    """Search, and take a picture of every state worth showing."""
    desk = window(browser, 1280, 800, "light")
    started = httpx.post(f"{url}/v1/sessions", json={"seed": SEED}).raise_for_status().json()
    desk.goto(f"{url}/#session={started['id']}")
    search(desk, catalog)
    save(desk, "page.png")
    address = desk.url
    night = window(browser, 1280, 800, "dark")
    night.goto(address)
    save(settled(night), "page-dark.png")
    hand = window(browser, 390, 844, "light", phone=True)
    hand.goto(address)
    save(settled(hand), "phone.png")
    desk.get_by_role("button", name="Open fox", exact=True).click()
    expect(desk.get_by_text("What speaks for it")).to_be_visible()
    save(desk, "why.png")
    desk.get_by_role("dialog").get_by_role("button", name="Found it: fox").click()
    expect(desk.get_by_role("region", name="Found", exact=True)).to_be_visible()
    desk.wait_for_load_state("networkidle")
    save(desk, "found.png")


def save(page: Page, name: str) -> None:
    """Write what is on screen, with as few bytes as flat colours need."""
    shown = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shown.quantize(256, dither=Image.Dither.NONE).save(HERE / name, optimize=True)
    print(HERE / name)


def main() -> None:
    """Serve the built-in catalog and take the pictures."""
    path = chromium.found()
    if path is None:
        sys.exit("There is no Chromium. Run: python tests/browser/chromium.py")
    catalog = demo_catalog()
    with (
        tempfile.TemporaryDirectory() as place,
        served(Path(place)) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=chromium.flags())
        take(browser, url, catalog)
        browser.close()


if __name__ == "__main__":
    main()
