"""The page in Firefox and in WebKit: what a person does, in the engines that others have.

Both are the distribution's; `make browser` installs them where they can be had. Without one, its
tests are skipped and say so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import chromium, drivers
from browser.cut_off import CUT_OFF, SPEAK
from browser.drivers import Firefox, Window
from browser.servers import Serving
from seeker import web
from support.servers import Server

BROWSERS = {
    "firefox": (drivers.firefox, chromium.firefox()),
    "webkit": (drivers.webkit, chromium.webkit()),
}
DOWN, RIGHT, ENTER, TAB = "\ue015", "\ue014", "\ue007", "\ue004"


@pytest.fixture(scope="module", params=BROWSERS)
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Window]:
    run, found = BROWSERS[request.param]
    if found is None:
        pytest.skip(f"{request.param} is not installed: make browser")
    with run(tmp_path_factory.mktemp(request.param)) as window:
        yield window


@pytest.fixture
def window(opened: Window) -> Iterator[Window]:
    """A large window in which nothing may go wrong."""
    opened.troubles.clear()
    opened.resize(1280, 900)
    yield opened
    assert opened.troubles == []


def test_a_search_from_its_beginning_to_its_end(window: Window, shapes: Server) -> None:
    window.open(shapes.url)
    begun = window.do(
        """await settled(0);
        const pictures = inside("ul.grid img");
        await Promise.all(pictures.map((one) => one.decode()));
        return [pictures.length, search().session.page.total];"""
    )
    assert begun == [12, 240]
    liked, disliked, undone = window.do(
        """const seen = [];
        inside("button.like")[0].click();
        await settled(1);
        seen.push(search().session.likes.length);
        inside("button.dislike")[2].click();
        await settled(2);
        seen.push(search().session.dislikes.length);
        search().undo();
        await settled(1);
        return [...seen, search().session.dislikes.length];"""
    )
    assert (liked, disliked, undone) == (1, 1, 0)
    said, language = window.do(
        """search().setAttribute("lang", "ar");
        await until(() => inside(".seeker")[0]?.lang === "ar");
        await settled(1);
        search().say("blue");
        await settled(2);
        inside("button.face")[0].click();
        await until(() => inside("dialog.detail[open] .weight").length);
        inside("dialog.detail .primary")[0].click();
        await until(() => search().session.found);
        const { direction } = getComputedStyle(inside(".seeker")[0]);
        return [search().session.said, direction];"""
    )
    assert (said, language) == (["blue"], "rtl")
    assert window.do("return inside('.summary')[0].checkVisibility()") is True


def test_a_search_by_keys_alone_that_is_still_there_after_a_reload(
    window: Window, shapes: Server
) -> None:
    window.open("about:blank")
    window.open(shapes.url)
    window.do("await settled(0); inside('button.face')[0].focus();")
    window.press(RIGHT + DOWN + "l")
    window.do("await settled(1)")
    window.press("d")
    assert window.do("await settled(2); return search().session.history.length") == 2
    window.press("u")
    window.do("await settled(1)")
    window.press("/")
    window.press("blue" + ENTER)
    said = window.do("await settled(2); return [search().session.said, location.href]")
    assert said[0] == ["blue"]
    window.open("about:blank")
    window.open(said[1])
    assert window.do("await settled(2); return search().session.said") == ["blue"]


def test_every_language_fits_on_a_small_phone(window: Window, shapes: Server) -> None:
    window.open("about:blank")
    window.open(shapes.url)
    # On a phone, the scroll bar takes no room.
    bar = window.do("await settled(0); return innerWidth - document.documentElement.clientWidth")
    window.resize(320 + bar, 640)
    if (width := window.do("await settled(0); return innerWidth - " + str(bar))) > 320:
        pytest.skip(f"its window cannot be narrower than {width} px")
    window.do("search().like(search().session.page.items[0].id); await settled(1);")
    cut = {
        tag: window.do(
            f"""await ({SPEAK})(search(), {json.dumps(tag)});
            await settled(1);
            const cut = await ({CUT_OFF})(search());
            inside("button.more")[0].click();
            return [...cut, ...(await ({CUT_OFF})(search()))];"""
        )
        for tag in web.languages()
    }
    assert {tag: texts for tag, texts in cut.items() if texts} == {}


def test_a_shop_of_somebody_else(
    window: Window, site: tuple[str, Path], shapes_folder: Path, serving: Serving
) -> None:
    origin, folder = site
    service = serving(shapes_folder, flags=("--cors", origin))
    (folder / "index.html").write_text(
        f"""<!doctype html><html lang="de"><link rel=icon href=data:,>
        <script type="module" src="{service.url}/web/seeker.js"></script>
        <seeker-search page-size="8" filter='{{"colour": "blue"}}' card="price">
          <template slot="card"><img data-field="media" alt=""></template>
          <template slot="actions"><button data-action="basket">Kaufen</button></template>
        </seeker-search></html>"""
    )
    window.open(origin)
    told = window.do(
        """await settled(0, 8);
        const heard = [];
        for (const name of ["action", "found", "click", "start"])
          document.addEventListener(`seeker:${name}`, ({ detail }) => {
            heard.push([name, detail.item ?? "", detail.action ?? detail.reason ?? ""]);
            if (name === "action") search().found(detail.item, "basket");
          });
        const own = [...search().querySelectorAll("[data-seeker-item] img")];
        await Promise.all(own.map((one) => one.decode()));
        const { id } = search().session.page.items[0];
        search().querySelector("[data-action]").click();
        await until(() => heard.some(([name]) => name === "found"));
        search().like(id);
        await settled(1, 8);
        const before = search().session.id;
        await search().start();
        await until(() => search().session.id !== before);
        await settled(0, 8);
        const { items } = search().session.page;
        return {
          heard: heard.map(([name]) => name),
          basket: heard.find(([name]) => name === "found")[2],
          colours: [...new Set(items.map((one) => one.attributes.colour))],
          language: inside(".seeker")[0].lang,
          pictures: own.length,
        };"""
    )
    assert told == {
        "heard": ["action", "found", "click", "start"],
        "basket": "basket",
        "colours": ["blue"],
        "language": "de",
        "pictures": 8,
    }


def test_what_goes_wrong_in_firefox_is_noticed(opened: Window) -> None:
    """The tests above could not fail otherwise."""
    if not isinstance(opened, Firefox):
        pytest.skip("WebKit's driver tells nothing of what a page writes into its console")
    opened.troubles.clear()
    opened.do("console.error('a word of complaint')")
    opened.do("return 1")
    assert opened.troubles == ["a word of complaint"]
