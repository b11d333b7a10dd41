"""The search in a site of somebody else: the example shop, on another origin."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from browser.catalogs import likeness
from browser.search import Search
from browser.servers import FLAGS, Serving
from browser.watch import Watch
from support.servers import Server, until

SHOP = Path(__file__).parents[2] / "examples" / "shop"
ADDRESS = "http://127.0.0.1:8000"
"""Where the example expects the service; the tests' own is elsewhere."""
SCRIPT = (
    "<!doctype html><link rel=icon href=data:,>"
    '<script type="module" src="{}/web/seeker.js"></script>'
)
"""The head of a page that embeds the search and has nothing else."""


def furnish(folder: Path, service: str) -> None:
    """Copy the example, with the address that the service has here."""
    for file in SHOP.iterdir():
        text = file.read_text(encoding="utf-8")
        (folder / file.name).write_text(text.replace(ADDRESS, service), encoding="utf-8")


def service_of(folder: Path) -> str:
    """Return the address of the service that the shop embeds."""
    page = (folder / "index.html").read_text(encoding="utf-8")
    (address,) = re.findall(r'src="(http[^"]*)/web/seeker.js"', page)
    return str(address)


@pytest.fixture(scope="module")
def shop(site: tuple[str, Path], serving: Serving, shapes_folder: Path) -> str:
    """The example shop and a service that lets it in; the shop's address."""
    origin, folder = site
    # Below a path, for a site may have only that much room for it.
    service = serving(
        shapes_folder, flags=("--cors", origin, "--frame", origin, "--root", "/search")
    )
    assert service.url.endswith("/search")
    furnish(folder, service.url)
    return origin


def test_the_page_below_a_path_and_in_a_frame_of_a_site_that_may(
    page: Page, shop: str, site: tuple[str, Path]
) -> None:
    service = service_of(site[1])
    (site[1] / "frame.html").write_text(
        f'<!doctype html><link rel=icon href=data:,><iframe src="{service}/"></iframe>'
    )
    page.goto(f"{shop}/frame.html")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("list", name="Items").get_by_role("listitem")).to_have_count(12)


def test_the_shop_embeds_the_search(page: Page, shop: str) -> None:
    search = Search(page).begin(shop)
    assert len(search.titles()) == pictures(search) == 8
    # All of a picture is on its card, above the shop's button.
    for product in page.locator("seeker-search .product").all():
        face, picture = (one.bounding_box() for one in (product, product.locator("img")))
        assert face is not None
        assert picture is not None
        assert picture["y"] + picture["height"] <= face["y"] + face["height"]
    # A button of the shop's own, on a card of its own.
    first = search.titles()[0]
    page.get_by_role("button", name="Add to basket").first.click()
    basket = page.get_by_role("complementary", name="Basket")
    expect(basket).to_contain_text(first)
    assert search.session()["found"] is None
    page.get_by_role("button", name="More like what is in the basket").click()
    expect(search.liked.get_by_role("button", name=f"Clear {first}")).to_be_visible()
    search.press("Start anew")
    expect(search.liked.get_by_role("button")).to_have_count(0)
    # The shop shouts in crimson; the search does not.
    style = search.grid.get_by_role("listitem").first.evaluate(
        "one => [getComputedStyle(one).textTransform, getComputedStyle(one).color]"
    )
    assert style[0] == "none"
    assert style[1] != "rgb(220, 20, 60)"
    wanted = "huge green ring"
    search.seek(wanted, likeness)
    search.button(f"Found it: {wanted}").click()
    expect(basket).to_contain_text(wanted)
    page.get_by_role("link", name="Deutsch").click()
    expect(page.get_by_role("button", name="In den Warenkorb")).to_have_count(8)


def pictures(search: Search) -> int:
    """Return how many cards have a picture that can be seen, be it a template's of the site."""
    pictures = search.page.locator("seeker-search li img, seeker-search [data-seeker-item] img")
    for picture in pictures.all():
        assert picture.evaluate("async one => { await one.decode(); return one.naturalWidth }") > 0
    return pictures.count()


def test_what_was_seen_at_the_service_itself_is_seen_in_a_site_too(
    page: Page, site: tuple[str, Path], shapes_folder: Path, tmp_path: Path
) -> None:
    """The order of the tutorial: the service's own page first, and only then a site of one's own.

    The browser keeps each picture for a year, as it came when no site was let in.
    """
    origin, folder = site
    flags = ("--store", str(tmp_path / "sessions.sqlite"), *FLAGS)
    with Server(shapes_folder, *flags).running(tmp_path / "log") as service:
        search = Search(page).begin(service.url)
        assert pictures(search) == 12
        seen = search.session()["id"]
    again = Server(shapes_folder, *flags, "--cors", origin)
    port = int(service.url.rpartition(":")[2])
    with again.running(tmp_path / "log", port) as again:
        assert again.url == service.url
        lines = SCRIPT.format(service.url) + "<seeker-search></seeker-search>"
        (folder / "photos.html").write_text(lines, encoding="utf-8")
        # The same search, and so the same pictures.
        search.begin(f"{origin}/photos.html#session={seen}")
        assert pictures(search) == 12
        search.begin(f"{service.url}/#session={seen}")
        assert pictures(search) == 12


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


@pytest.mark.chromium("Firefox tells of no request that failed for its origin.")
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


@pytest.mark.chromium("Firefox cannot be told to be dark.")
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


@pytest.fixture(scope="module")
def plain(shop: str, site: tuple[str, Path]) -> str:
    """A page of the shop's with a plain search and nothing else; its address."""
    script = SCRIPT.format(service_of(site[1]))
    element = '<seeker-search plain page-size="9"></seeker-search>'
    (site[1] / "plain.html").write_text(script + element, encoding="utf-8")
    return f"{shop}/plain.html"


def test_a_plain_search_starts_by_itself(page: Page, plain: str) -> None:
    search = Search(page).begin(plain)
    assert len(search.titles()) == 9
    expect(search.words).to_have_count(0)
    expect(search.button("Start anew")).to_have_count(0)
    liked = search.titles()[0]
    search.like(liked)
    expect(search.liked.get_by_role("button", name=f"Clear {liked}")).to_be_visible()
    titles = search.titles()
    page.reload()
    assert search.settled().titles() == titles
    expect(search.liked.get_by_role("button", name=f"Clear {liked}")).to_be_visible()
    page.goto("about:blank")
    search.begin(plain)
    assert search.session()["likes"] == []


def test_a_plain_search_that_is_no_longer_kept_can_be_begun_anew(
    page: Page, plain: str, watch: Watch
) -> None:
    watch.allow("404")
    page.goto(f"{plain}#session={'x' * 22}")
    search = Search(page)
    expect(page.get_by_role("heading", name="This search is no longer kept.")).to_be_visible()
    search.button("Start anew").click()
    expect(search.grid.get_by_role("listitem").nth(8)).to_be_visible()
    assert len(search.settled().titles()) == 9


def test_a_plain_search_that_was_shared_can_be_gone_on_with(page: Page, plain: str) -> None:
    search = Search(page).begin(plain)
    service = httpx.URL(str(page.locator("script").get_attribute("src")))
    shared = httpx.post(
        service.join(f"/v1/sessions/{search.session()['id']}/share"), json={}
    ).json()
    page.goto("about:blank")
    search.begin(f"{plain}#shared={shared['share']}")
    search.press("Continue from here")
    expect(search.button("Continue from here")).to_be_hidden()
    search.like(search.titles()[0])
    assert search.session()["step"] == 1


def test_keys_that_are_typed_elsewhere_belong_to_the_site(page: Page, shop: str) -> None:
    search = Search(page).begin(shop)
    page.keyboard.press("?")
    page.keyboard.press("/")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(search.words).not_to_be_focused()
    search.button("Start anew").focus()
    page.keyboard.press("/")
    expect(search.words).to_be_focused()


OWN = """
<style>.own-price { color: rgb(9, 8, 7) } .own-price b { font-weight: 400 }</style>
<script>
  const told = [];
  for (const name of ["start", "session", "action"])
    addEventListener(`seeker:${name}`, ({ detail, type }) => {
      told.push([type, detail.item ?? null, detail]);
    });
</script>
<seeker-search page-size="6" card="price" filter='{"form": "star"}' query="red">
  <template slot="card">
    <img data-field="media" alt=""><span class="own-price" ><b data-field="price"></b></span>
  </template>
  <template slot="actions"><button data-action="basket">Add to basket</button></template>
</seeker-search>
"""


def test_a_site_says_how_searches_begin_and_what_is_on_cards(
    page: Page, shop: str, site: tuple[str, Path]
) -> None:
    script = SCRIPT.format(service_of(site[1]))
    (site[1] / "own.html").write_text(script + OWN, encoding="utf-8")
    search = Search(page).begin(f"{shop}/own.html")
    for _ in range(2):
        begun = search.session()
        assert (begun["query"], begun["filter"]) == ("red", {"form": "star"})
        assert len(begun["page"]["items"]) == 6
        search.press("Start anew")  # what the element says outlives it
        page.wait_for_function("id => told.at(-1)[2].session.id !== id", arg=begun["id"])
        search.settled()
    items = search.session()["page"]["items"]
    # The template is filled among the site's own elements, so its stylesheet reaches it.
    price = page.locator(".own-price").first
    expect(price).to_have_css("color", "rgb(9, 8, 7)")
    expect(price).to_have_text(str(items[0]["attributes"]["price"]))
    expect(page.locator(".own-price")).to_have_count(6)
    page.get_by_role("button", name="Add to basket").first.click()
    action, item, detail = page.evaluate("told.findLast(([name]) => name === 'seeker:action')")
    assert (action, item, detail["action"]) == ("seeker:action", items[0]["id"], "basket")


def test_nothing_lies_over_the_buttons_of_a_card_with_a_row_of_its_own(
    page: Page, shop: str, site: tuple[str, Path]
) -> None:
    script = SCRIPT.format(service_of(site[1]))
    actions = '<template slot="actions"><button data-action="basket">Basket</button></template>'
    style = "<style>[data-action] { height: 60px }</style>"
    place = f"{style}<seeker-search>{actions}</seeker-search>"
    (site[1] / "row.html").write_text(script + place, encoding="utf-8")
    search = Search(page).begin(f"{shop}/row.html")
    card = search.grid.get_by_role("listitem").first
    card.hover()
    covered = """(card) => [".like", ".dislike", ".found"].filter((name) => {
        const { x, y, width, height } = card.querySelector(name).getBoundingClientRect();
        const top = card.getRootNode().elementFromPoint(x + width / 2, y + height / 2);
        return !top?.closest(name);
    })"""
    until(lambda: card.evaluate(covered) == [])


def test_a_site_can_do_all_that_a_person_can(page: Page, shop: str, site: tuple[str, Path]) -> None:
    script = SCRIPT.format(service_of(site[1]))
    (site[1] / "own.html").write_text(script + OWN, encoding="utf-8")
    search = Search(page).begin(f"{shop}/own.html")

    def do(call: str, event: str) -> dict[str, object]:
        """Call a method of the element, and return what the event that follows tells."""
        told = page.evaluate(
            """([call, event]) => new Promise((resolve) => {
                const hear = ({ detail }) => resolve(detail);
                addEventListener(`seeker:${event}`, hear, { once: true });
                new Function("search", call)(document.querySelector("seeker-search"));
            })""",
            [call, event],
        )
        return dict(told)

    first, second = (item["id"] for item in search.session()["page"]["items"][:2])
    liked = do(f"search.like('{first}')", "click")
    assert (liked["item"], liked["verdict"]) == (first, "like")
    do(f"search.dislike('{second}')", "click")
    assert search.session()["dislikes"] == [second]
    do("search.undo()", "undo")
    do("search.redo()", "redo")
    assert do("search.say('green')", "say")["text"] == "green"
    do("search.unsay('green')", "unsay")
    do("search.filter(null)", "filter")
    assert search.session()["filter"] is None
    step, titles = search.session()["step"], search.titles()
    told = do(f"search.found('{second}', 'bought')", "found")
    assert (told["item"], told["reason"]) == (second, "bought")
    assert (search.session()["step"], search.session()["found"]) == (step, None)
    assert search.titles() == titles
    do(f"search.found('{second}')", "found")
    assert search.session()["found"] == second
    do("search.start({ filter: { form: 'ring' } })", "start")
    assert search.session()["filter"] == {"form": "ring"}
    # What belonged to cards that are gone is gone, too.
    expect(page.locator("[data-seeker-item]")).to_have_count(2 * len(search.titles()))


def test_a_filter_that_cannot_be_read_is_said_and_left_out(
    page: Page, shop: str, site: tuple[str, Path]
) -> None:
    script = SCRIPT.format(service_of(site[1]))
    page_text = script + "<seeker-search filter='{form: star}'></seeker-search>"
    (site[1] / "bad.html").write_text(page_text, encoding="utf-8")
    search = Search(page).begin(f"{shop}/bad.html")
    expect(page.get_by_role("alert")).to_contain_text("cannot be read")
    assert search.session()["filter"] is None
