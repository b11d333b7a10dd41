"""A browser, servers with small catalogs, and windows in which nothing may go wrong."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Generator, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from browser import catalogs, chromium, firefox_bridge
from browser.search import Search
from browser.servers import FLAGS, TIMEOUT_MILLISECONDS, Serving
from browser.watch import Watch
from support.servers import Server

BROWSER = os.environ.get("SEEKER_BROWSER", "chromium")
"""Which browser runs the tests of this folder: chromium or firefox."""

_REPORT = pytest.StashKey[pytest.TestReport]()


# It lives as long as tests of this folder run and not longer: as long as Playwright is there, no
# other test of the same process can run an event loop. Catalogs and servers stay until the end, for
# this folder may be left and come back to.
@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests; its absence is a failure and never a reason to skip."""
    path = {"chromium": chromium.found, "firefox": chromium.firefox}[BROWSER]()
    if path is None:
        pytest.fail(f"There is no {BROWSER}. Run: python tests/browser/chromium.py", pytrace=False)
    expect.set_options(timeout=TIMEOUT_MILLISECONDS)
    with sync_playwright() as playwright:
        if BROWSER == "chromium":
            running = playwright.chromium.launch(executable_path=path, args=chromium.flags())
        else:
            bridge = firefox_bridge.program(path, tmp_path_factory.mktemp("firefox"))
            running = playwright.firefox.launch(
                executable_path=bridge,
                channel="moz-firefox",
                firefox_user_prefs=firefox_bridge.MOUSE,
            )
        yield running
        running.close()


@pytest.fixture(scope="session")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Start servers on free ports."""
    running: list[Server] = []

    def serve(*catalogs: Path | str, flags: tuple[str, ...] = ()) -> Server:
        place = tmp_path_factory.mktemp("served")
        first, *others = map(str, catalogs)
        store = ("--store", str(place / "sessions.sqlite"))
        server = Server(first, *others, *store, *FLAGS, *flags)
        running.append(server.start(place / "log"))
        return server.ready()

    yield serve
    for server in running:
        server.stop()


@pytest.fixture(scope="session")
def shapes_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog of drawn shapes."""
    return catalogs.shapes(tmp_path_factory.mktemp("shapes") / "shapes")


@pytest.fixture(scope="session")
def shapes(shapes_folder: Path, serving: Serving) -> Server:
    """A server of drawn shapes."""
    return serving(shapes_folder)


@pytest.fixture(scope="session")
def sentences_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog of sentences without pictures."""
    return catalogs.sentences(tmp_path_factory.mktemp("sentences") / "sentences")


@pytest.fixture(scope="session")
def sentences(sentences_folder: Path, serving: Serving) -> Server:
    """A server of sentences."""
    return serving(sentences_folder)


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A web server of somebody else: its origin, and its folder."""
    folder = tmp_path_factory.mktemp("shop")
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()


@pytest.fixture
def watch() -> Watch:
    """What goes wrong in the windows of this test; whatever does, fails it."""
    return Watch()


@pytest.fixture
def windows(
    browser: Browser, watch: Watch, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[..., BrowserContext]]:
    """Open windows of people who know nothing of each other; options as Playwright names them."""
    opened: list[BrowserContext] = []

    def window(width: int = 1280, height: int = 900, **options: Any) -> BrowserContext:
        if BROWSER == "firefox" and "has_touch" in options:
            pytest.skip("Firefox cannot be told that its screen is touched.")
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(TIMEOUT_MILLISECONDS)
        watch.over(context)
        opened.append(context)
        return context

    yield window
    report = request.node.stash.get(_REPORT, None)
    if report is not None and report.failed:
        # A picture is taken with a style of Playwright's own, which the page does not allow.
        watch.allow("inline style")
        pages = [page for context in opened for page in context.pages]
        for number, page in enumerate(pages):
            picture = tmp_path / f"window {number}.png"
            page.screenshot(path=picture)
            report.sections.append(("what was on screen", f"{page.url}: {picture}"))
    for context in opened:
        context.close()
    assert watch.troubles == []


@pytest.fixture
def page(windows: Callable[..., BrowserContext]) -> Page:
    """A window of a large screen."""
    return windows().new_page()


@pytest.fixture
def search(page: Page, shapes: Server) -> Search:
    """A search among drawn shapes, just begun."""
    return Search(page).begin(shapes.url)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep each file's tests in one process, where they share browser, catalogs and servers.

    First, for groups are told apart right after. What only Chromium can be asked for is skipped in
    another browser.
    """
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group(f"browser {item.path.stem}"))
            only = item.get_closest_marker("chromium")
            if only is not None and BROWSER != "chromium":
                item.add_marker(pytest.mark.skip(only.args[0]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep whether the test itself has failed, for fixtures that show why."""
    report = yield
    if report.when == "call":
        item.stash[_REPORT] = report
    return report
