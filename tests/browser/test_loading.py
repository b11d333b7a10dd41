"""How often the page must ask before it is there: what a slow line makes people wait for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

import seeker
from browser.search import Search
from browser.servers import Serving
from seeker import web
from support.builds import picture
from support.servers import Server

FOLDER = f"/web-{web.version()}/"
SHEETS = {f"{FOLDER}{name}" for name in web.stylesheets("seeker.js")}
DOCUMENT = "/"


pytestmark = pytest.mark.chromium("Only Chromium tells what came over the line.")


@dataclass
class Load:
    """What a window has asked for: by path, what made it ask, and what came over the line."""

    asked: dict[str, str] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    _paths: dict[str, str] = field(default_factory=dict)
    _kept: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, page: Page) -> Self:
        """Note all that a window asks for from now on."""
        load = cls()
        tools = page.context.new_cdp_session(page)
        tools.send("Network.enable")
        tools.on("Network.requestWillBeSent", load._note)
        # What Chromium has in its memory is told apart from what it has on disk.
        tools.on("Network.requestServedFromCache", lambda one: load._kept.add(one["requestId"]))
        tools.on("Network.responseReceived", load._receive)
        return load

    def _note(self, event: dict[str, Any]) -> None:
        path = urlsplit(event["request"]["url"]).path
        self._paths[event["requestId"]] = path
        self.asked.setdefault(path, event["initiator"]["type"])

    def _receive(self, event: dict[str, Any]) -> None:
        answer = event["response"]
        if not answer.get("fromDiskCache") and event["requestId"] not in self._kept:
            self.sent.add(self._paths[event["requestId"]])

    def files(self) -> dict[str, str]:
        """Return the files of the page that were asked for, and what made it ask."""
        return {path: why for path, why in self.asked.items() if path.startswith("/web")}


def test_the_page_is_there_after_two_questions_and_one_the_second_time(
    windows: Callable[..., BrowserContext], shapes: Server
) -> None:
    context = windows(locale="de-CH", extra_http_headers={"Accept-Language": "de-CH"})
    wanted = {f"{FOLDER}{name}" for name in ("seeker.js", "page.css", "languages/de.js")} | SHEETS
    for files_sent in (wanted, set[str]()):
        page = context.new_page()
        load = Load.of(page)
        page.goto(shapes.url)
        page.get_by_role("list", name="Ergebnisse").get_by_role("listitem").nth(11).wait_for()
        files = load.files()
        assert set(files) - {f"{FOLDER}icon.svg"} == wanted
        # All of them are named in the document: none has to wait for another one.
        assert set(files.values()) == {"parser"}
        assert DOCUMENT in load.sent
        assert load.sent & wanted == files_sent
        page.close()


def test_a_site_gets_the_element_in_one_question_and_its_looks_in_the_next(
    windows: Callable[..., BrowserContext],
    site: tuple[str, Path],
    shapes_folder: Path,
    serving: Serving,
) -> None:
    origin, folder = site
    server = serving(shapes_folder, flags=("--cors", origin))
    script = f'<script type="module" src="{server.url}/web/seeker.js"></script>'
    page_text = f"<link rel=icon href=data:,>{script}<seeker-search></seeker-search>"
    (folder / "index.html").write_text(f"<!doctype html>{page_text}")
    context = windows()
    for number in range(2):
        page = context.new_page()
        load = Load.of(page)
        Search(page).begin(origin)
        assert load.files() == {"/web/seeker.js": "parser", **dict.fromkeys(SHEETS, "script")}
        assert not number or not load.sent & SHEETS
        page.close()


CHOSEN = """async (host) => {
    const pictures = [...host.shadowRoot.querySelectorAll("ul.grid img")];
    await Promise.all(pictures.map((one) => one.decode()));
    return pictures.map((one) => one.currentSrc.replace(/.*\\/[0-9a-f]+/, ""));
}"""


def test_pictures_come_in_the_size_that_the_screen_needs(
    windows: Callable[..., BrowserContext], tmp_path: Path, serving: Serving
) -> None:
    for number in range(12):
        picture(tmp_path / "photos" / f"{number}.png", (20 * number, 90, 30), (700, 500))
    seeker.build(tmp_path / "photos", tmp_path / "catalog", views=["colour"])
    server = serving(tmp_path / "catalog")
    chosen = {}
    for scale in (1, 3):
        page = windows(device_scale_factor=scale).new_page()
        Search(page).begin(server.url)
        host = page.locator("seeker-search")
        chosen[scale] = set(host.evaluate(CHOSEN))
        assert len(host.locator("ul.grid img[srcset]").all()) == 12
    assert chosen == {1: {".320.512.webp"}, 3: {".512.webp"}}
    # An opened item has room for the large one, on any screen.
    page = windows().new_page()
    Search(page).begin(server.url).grid.get_by_role("button").first.click()
    large = page.locator("seeker-search .detail .large img")
    expect(large).to_be_visible()
    shown = large.evaluate("one => one.decode().then(() => one.currentSrc)")
    assert shown.endswith(".512.webp")
    assert not shown.endswith(".320.512.webp")
