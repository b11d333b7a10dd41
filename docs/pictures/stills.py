"""Take the pictures of the page that the docs show, from real searches.

    python docs/pictures/stills.py

Somebody looks for the fox on the built-in catalog by liking what is closest to it; somebody else
takes part in a study and is shown a moose. Needs a Chromium and the extra `dev`.
"""

from __future__ import annotations

import io
import sys
import tempfile
from itertools import count
from pathlib import Path
from typing import Literal

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from seeker.catalog import Catalog
from seeker.demo import demo_catalog, demo_folder, nearest
from seeker.study.design import target_of

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from browser import chromium
from browser.demo import served
from browser.study import agree, begin
from study.parts import StudyServer

HERE = Path(__file__).parent
FOX, MOOSE = "1F98A", "1FACE"
SEED = 8
"""So that the pictures can be taken again; of many searches, one that is easy to follow."""

MOST_PAGES = 14
FIRST, TRIALS = 0, 5
"""The number of the first participant of a study, and how many searches there are for each."""


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
    grid.locator("img").evaluate_all("all => Promise.all(all.map((one) => one.decode()))")
    page.mouse.move(0, 0)
    return page


def search(page: Page, catalog: Catalog, wanted: str, most: int) -> bool:
    """Like what is closest to an item, page by page; return whether it came up."""
    for _ in range(most):
        settled(page)
        session = page.locator("seeker-search").evaluate("one => one.session")
        titles = {item["id"]: item["title"] for item in session["page"]["items"]}
        if wanted in titles:
            return True
        liked = titles[nearest(catalog, list(titles), wanted)]
        page.get_by_role("button", name=f"Like {liked}", exact=True).click()
    settled(page)
    return False


def take(browser: Browser, url: str, catalog: Catalog) -> None:
    """Search, and take a picture of every state worth showing."""
    desk = window(browser, 1280, 800, "light")
    started = httpx.post(f"{url}/v1/sessions", json={"seed": SEED}).raise_for_status().json()
    desk.goto(f"{url}/#session={started['id']}")
    if not search(desk, catalog, FOX, MOST_PAGES):
        raise RuntimeError(f"The fox was on none of {MOST_PAGES} pages; try again.")
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


def take_part(browser: Browser, place: Path, catalog: Catalog) -> None:
    """Take part in a study whose first target is the moose, and stop at the third page."""
    moose = catalog.row(MOOSE)
    seed = next(n for n in count() if target_of(len(catalog), n, FIRST, 0, TRIALS) == moose)
    flags = (
        *("--store", str(place / "study.sqlite"), "--study-seed", str(seed)),
        *("--models", "choice", "--strategies", "boltzmann", "--targets-per-person", str(TRIALS)),
        *("--rate", "0", "--log-level", "warning"),
    )
    with StudyServer(f"emoji={demo_folder()}", *flags).running(place / "log") as server:
        page = window(browser, 1280, 880, "light")
        agree(page, server.url)
        begin(page)
        search(page, catalog, MOOSE, 2)
        save(page, "study.png")


def save(page: Page, name: str) -> None:
    """Write what is on screen, with as few bytes as flat colours need."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(HERE / name, optimize=True)
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
        take_part(browser, Path(place), catalog)
        browser.close()


if __name__ == "__main__":
    main()
