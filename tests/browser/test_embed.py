"""The search in a site of somebody else: the example shop, on another origin."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.catalogs import likeness
from browser.conftest import Serving
from browser.search import Search
from browser.watch import Watch

SHOP = Path(__file__).parents[2] / "examples" / "shop"
ADDRESS = "http://127.0.0.1:8000"
"""Where the example expects the service; the tests' own is elsewhere."""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A web server of the shop's own: its origin, and its folder."""
    folder = tmp_path_factory.mktemp("shop")
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()


def furnish(folder: Path, service: str) -> None:
    """Copy the example, with the address that the service has here."""
    for file in SHOP.iterdir():
        text = file.read_text(encoding="utf-8")
        (folder / file.name).write_text(text.replace(ADDRESS, service), encoding="utf-8")


@pytest.fixture(scope="module")
def shop(site: tuple[str, Path], serving: Serving, shapes_folder: Path) -> str:
    """The example shop and a service that lets it in; the shop's address."""
    origin, folder = site
    service = serving(shapes_folder, flags=("--cors", origin))
    assert service.url != origin
    furnish(folder, service.url)
    return origin


def test_the_shop_embeds_the_search(page: Page, shop: str) -> None:
    search = Search(page).begin(shop)
    assert len(search.titles()) == 8
    for picture in search.grid.locator("img").all():
        assert picture.evaluate("async one => { await one.decode(); return one.naturalWidth }") > 0
    # The shop shouts in crimson; the search does not.
    style = search.grid.get_by_role("listitem").first.evaluate(
        "one => [getComputedStyle(one).textTransform, getComputedStyle(one).color]"
    )
    assert style[0] == "none"
    assert style[1] != "rgb(220, 20, 60)"
    wanted = "huge green ring"
    search.seek(wanted, likeness)
    search.button(f"Found it: {wanted}").click()
    expect(page.get_by_role("complementary", name="Basket")).to_contain_text(wanted)


def test_events_tell_the_site_what_happens(page: Page, shop: str) -> None:
    page.goto(shop)
    page.evaluate(
        """() => {
            globalThis.told = [];
            for (const name of ["seeker:click", "seeker:found", "seeker:session"]) {
                document.body.addEventListener(name, (event) => {
                    const { session, item, verdict } = event.detail;
                    told.push([name, session?.step, item?.id ?? item ?? null, verdict ?? null]);
                });
            }
        }"""
    )
    search = Search(page).settled()
    search.like(search.titles()[0])
    liked = search.session()["likes"][0]
    told = page.evaluate("told")
    assert ["seeker:click", 1, liked, "like"] in told
    assert any(name == "seeker:session" and step == 1 for name, step, *_ in told)
    assert not any(name == "seeker:found" for name, *_ in told)


def test_a_site_that_was_not_named_gets_nothing(page: Page, shop: str, watch: Watch) -> None:
    watch.allow("CORS policy|ERR_FAILED|ERR_BLOCKED")
    # To a browser, another name of the same machine is another site.
    with page.expect_event("requestfailed", lambda asked: asked.url.endswith("/web/seeker.js")):
        page.goto(shop.replace("127.0.0.1", "localhost"))
    expect(page.get_by_role("heading", name="A small shop")).to_be_visible()
    assert Search(page).titles() == []


def test_a_site_can_theme_it(page: Page, shop: str) -> None:
    search = Search(page).begin(shop)
    page.add_style_tag(content="seeker-search { --seeker-tile: rgb(1, 2, 3); }")
    colours = search.grid.get_by_role("listitem").first.evaluate(
        """one => [one, ...one.querySelectorAll("*")]
            .map((part) => getComputedStyle(part).backgroundColor)"""
    )
    assert "rgb(1, 2, 3)" in colours


def test_a_theme_may_be_set_for_the_whole_site(page: Page, shop: str) -> None:
    search = Search(page).begin(shop)
    page.add_style_tag(content=":root { --seeker-tile: rgb(4, 5, 6); }")
    tile = search.grid.get_by_role("button", name=f"Open {search.titles()[0]}")
    expect(tile).to_have_css("background-color", "rgb(4, 5, 6)")


def test_a_light_site_stays_light_for_readers_of_the_dark(
    page: Page, shop: str, site: tuple[str, Path]
) -> None:
    script = re.search(r"<script.*?</script>", (site[1] / "index.html").read_text("utf-8"))
    assert script is not None
    lines = f"<!doctype html><link rel=icon href=data:,>{script[0]}<seeker-search></seeker-search>"
    (site[1] / "two lines.html").write_text(lines, "utf-8")
    page.emulate_media(color_scheme="dark")
    search = Search(page).begin(f"{shop}/two lines.html")
    expect(search.button("Undo")).to_have_css("color", "rgb(28, 31, 30)")
    page.add_style_tag(content=":root { color-scheme: light dark }")
    expect(search.button("Undo")).to_have_css("color", "rgb(236, 238, 236)")


def test_keys_that_are_typed_elsewhere_belong_to_the_site(page: Page, shop: str) -> None:
    search = Search(page).begin(shop)
    page.keyboard.press("?")
    page.keyboard.press("/")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(search.words).not_to_be_focused()
    search.button("Start anew").focus()
    page.keyboard.press("/")
    expect(search.words).to_be_focused()
