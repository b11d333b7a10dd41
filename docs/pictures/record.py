"""Record a search on the built-in catalog in a real browser as a moving picture.

    python docs/pictures/record.py [--out docs/pictures/search.webp]

Somebody looks for the fire engine: says a few words, likes what is closest, says that colour
matters, shows a sketch of it, and finds it. The page, the service and the time between click and
answer are real; only the pointer is painted in afterwards, for browsers leave it out of pictures.
Needs a Chromium and the extra `dev`.
"""

from __future__ import annotations

import argparse
import base64
import io
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from PIL import Image, ImageDraw
from playwright.sync_api import (
    FilePayload,
    Locator,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

from seeker.catalog import Catalog
from seeker.demo import demo_catalog, nearest

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from browser import chromium
from browser.demo import served

SIZE = ViewportSize(width=1280, height=880)
SHRUNK = (1024, 704)
RATE = 12
"""Pictures a second."""

TARGET, WORDS, SEED = "fire engine", "a thing with wheels", 9
"""What is looked for, what is said of it, and of many searches one that is easy to follow."""

MOST_LIKES = 4
MOST_BYTES = 3_000_000
Frame = tuple[float, bytes, tuple[float, float]]
"""When it was on screen, what was on it, and where the pointer was."""


class Camera:
    """Keeps what the browser paints, and moves the pointer as a hand would."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._film = page.context.new_cdp_session(page)
        self._at = (SIZE["width"] * 0.5, SIZE["height"] * 0.9)
        self.frames: list[Frame] = []
        self._film.on("Page.screencastFrame", self._painted)
        self._film.send("Page.startScreencast", {"format": "jpeg", "quality": 95})

    def _painted(self, frame: dict[str, Any]) -> None:
        self.frames.append((time.monotonic(), base64.b64decode(frame["data"]), self._at))
        self._film.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    def rest(self, seconds: float) -> None:
        """Look at what there is."""
        self._page.wait_for_timeout(seconds * 1000)
        self._still()

    def click(self, target: Locator) -> None:
        """Move to a button and press it."""
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        if box is None:
            raise RuntimeError("What should be clicked cannot be seen.")
        begin, steps = self._at, 8
        end = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for step in range(1, steps + 1):
            part = step / steps
            smooth = part * part * (3 - 2 * part)
            x, y = (a + (b - a) * smooth for a, b in zip(begin, end, strict=True))
            self._at = (x, y)
            self._page.mouse.move(x, y)
            self._page.wait_for_timeout(30)
            self._still()
        self._page.mouse.click(*end)

    def type(self, words: str) -> None:
        """Type words where the pointer is, letter by letter."""
        for letter in words:
            self._page.keyboard.type(letter)
            self._page.wait_for_timeout(55)

    def _still(self) -> None:
        """Keep the last picture with the pointer where it is now; it may have moved alone."""
        if self.frames:
            self.frames.append((time.monotonic(), self.frames[-1][1], self._at))

    def stop(self) -> None:
        """Take no more pictures."""
        self._film.send("Page.stopScreencast")


def sketch() -> bytes:
    """Return a picture that somebody might draw of a fire engine, as PNG."""
    picture = Image.new("RGB", (360, 360), "white")
    draw = ImageDraw.Draw(picture)
    draw.rounded_rectangle((30, 130, 330, 260), 14, fill=(214, 48, 38))
    draw.rectangle((250, 150, 310, 200), fill=(170, 215, 240))
    draw.line((60, 110, 230, 95), fill=(120, 120, 120), width=12)
    for x in (95, 265):
        draw.ellipse((x - 36, 225, x + 36, 297), fill=(40, 40, 40))
        draw.ellipse((x - 14, 247, x + 14, 275), fill=(200, 200, 200))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def search(page: Page, camera: Camera, catalog: Catalog) -> None:
    """Find the target in all the ways that there are to say what it is."""
    grid = page.get_by_role("list", name="Items", exact=True)

    def settled() -> None:
        expect(grid).to_have_attribute("aria-busy", "false")
        camera.rest(1.5)

    def shown() -> dict[str, str]:
        session = page.locator("seeker-search").evaluate("one => one.session")
        return {item["id"]: item["title"] for item in session["page"]["items"]}

    def like_nearest() -> None:
        titles = shown()
        liked = titles[nearest(catalog, list(titles), wanted)]
        camera.click(grid.get_by_role("button", name=f"Like {liked}", exact=True))
        settled()

    (wanted,) = (one for one in catalog.ids if catalog.item(one).title == TARGET)
    camera.rest(1.2)
    camera.click(page.get_by_role("searchbox"))
    camera.type(WORDS)
    page.keyboard.press("Enter")
    settled()
    like_nearest()
    camera.click(page.get_by_text("What matters"))
    camera.rest(0.6)
    colour = page.get_by_role("group", name="colour", exact=True)
    camera.click(colour.get_by_role("radio", name="matters", exact=True))
    settled()
    with page.expect_file_chooser() as chooser:
        camera.click(page.get_by_role("button", name="Search with a picture of your own"))
    chooser.value.set_files(FilePayload(name="sketch.png", mimeType="image/png", buffer=sketch()))
    expect(page.get_by_role("button", name="Clear your picture")).to_be_visible()
    settled()
    for _ in range(MOST_LIKES):
        if wanted in shown():
            break
        like_nearest()
    camera.click(page.get_by_role("button", name=f"Found it: {TARGET}").first)
    expect(page.get_by_role("region", name="Found", exact=True)).to_be_visible()
    camera.rest(3.5)


def evenly(frames: list[Frame]) -> list[tuple[Image.Image, int]]:
    """Return one picture for every change, with how many milliseconds it stays."""
    begin, end = frames[0][0], frames[-1][0]
    ticks = round((end - begin) * RATE)
    chosen: list[Frame] = []
    number = 0
    for tick in range(ticks + 1):
        moment = begin + tick / RATE
        while number + 1 < len(frames) and frames[number + 1][0] <= moment:
            number += 1
        chosen.append(frames[number])
    pictures: list[tuple[Image.Image, int]] = []
    before: tuple[bytes, tuple[float, float]] | None = None
    for _, shown, at in chosen:
        if (shown, at) == before:
            picture, stays = pictures[-1]
            pictures[-1] = (picture, stays + 1000 // RATE)
        else:
            pictures.append((_with_pointer(shown, at), 1000 // RATE))
        before = (shown, at)
    return pictures


def _with_pointer(shown: bytes, at: tuple[float, float]) -> Image.Image:
    picture = Image.open(io.BytesIO(shown)).convert("RGB")
    x, y = at
    arrow = ((0, 0), (0, 19), (5, 15), (8, 22), (11, 21), (8, 14), (14, 14))
    outline = [(x + across, y + down) for across, down in arrow]
    ImageDraw.Draw(picture).polygon(outline, fill="white", outline="black", width=2)
    return picture.resize(SHRUNK, Image.Resampling.LANCZOS)


def write(pictures: list[tuple[Image.Image, int]], out: Path) -> int:
    """Write the moving picture, no larger than it may be; return its size."""
    images, stays = [one for one, _ in pictures], [stay for _, stay in pictures]
    for quality in (80, 65, 50, 35):
        images[0].save(
            out, save_all=True, append_images=images[1:], duration=stays, loop=0, quality=quality
        )
        if out.stat().st_size <= MOST_BYTES:
            return out.stat().st_size
    raise RuntimeError(f"The picture takes more than {MOST_BYTES:,} bytes; make it shorter.")


def record(address: str, act: Callable[[Page, Camera], None]) -> list[Frame]:
    """Return what the browser paints while somebody acts."""
    path = chromium.found()
    if path is None:
        sys.exit("There is no Chromium. Run: python tests/browser/chromium.py")
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=chromium.flags())
        page = browser.new_page(viewport=SIZE)
        page.goto(address)
        grid = page.get_by_role("list", name="Items", exact=True)
        expect(grid).to_have_attribute("aria-busy", "false")
        grid.locator("img").evaluate_all("all => Promise.all(all.map((one) => one.decode()))")
        camera = Camera(page)
        act(page, camera)
        camera.stop()
        browser.close()
    return camera.frames


def main() -> None:
    """Serve the built-in catalog, search, write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "search.webp")
    given = parser.parse_args()
    catalog = demo_catalog()
    with tempfile.TemporaryDirectory() as place, served(Path(place)) as url:
        started = httpx.post(f"{url}/v1/sessions", json={"seed": SEED}).raise_for_status().json()
        frames = record(
            f"{url}/#session={started['id']}", lambda page, camera: search(page, camera, catalog)
        )
    size = write(evenly(frames), given.out)
    print(f"{given.out}: {len(frames)} frames, {size:,} bytes")


if __name__ == "__main__":
    main()
