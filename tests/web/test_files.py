"""The page is served as it is, whole, and nothing beside it."""

from __future__ import annotations

import html
import re
from importlib.resources import files
from pathlib import Path
from urllib.parse import urljoin

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from seeker import Catalog, web
from seeker.engine import Catalogs
from seeker.server.app import create_app
from seeker.server.routes import system
from seeker.server.settings import Settings
from support.catalogs import random_catalog

WEB = Path(str(files("seeker.web")))
SERVED = sorted(
    path.relative_to(WEB).as_posix()
    for path in WEB.rglob("*")
    if path.suffix in (".js", ".css", ".html")
)
STUDY = "/web/study/index.html"
ENTRIES = {"/": "index.html", STUDY: "study/index.html"}
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
NAMED = re.compile(r"""["']((?:\.{1,2}/|/web[^/"']*/)[a-z/-]+\.(?:js|css|svg|html))["']""")
FOLDER = f"/web-{web.version()}/"
PRELOADED = re.compile(rf'<link rel="(?:modulepreload|preload)" [^>]*href="{FOLDER}([^"]+)"')


@pytest.fixture
def browser() -> TestClient:
    app = FastAPI()
    app.include_router(system.pages)
    return TestClient(app)


def named(browser: TestClient, path: str) -> set[str]:
    """Return the names of the files that a page or a module asks for, as they are written."""
    answer = browser.get(path)
    assert answer.status_code == 200, answer.url
    name = path.removeprefix("/web/")
    text = web.read_file(name) if name in web.ENTRIES else answer.text
    # What only a comment names is for the type checker.
    found = NAMED.findall(COMMENT.sub("", text))
    return {re.sub(r"^/web[^/]*/", "", urljoin(path, one)) for one in found}


def needed(browser: TestClient, path: str) -> set[str]:
    """Return the names of all files that a page asks for, directly or through others."""
    found: set[str] = set()
    waiting = [path]
    while waiting:
        new = named(browser, waiting.pop()) - found
        found |= new
        waiting += [f"/web/{name}" for name in new]
    return found


def test_every_file_the_page_asks_for_is_there(browser: TestClient) -> None:
    front = browser.get("/")
    assert front.headers["content-type"].startswith("text/html")
    parts = needed(browser, "/")
    assert {"seeker.js", "style.css", "icon.svg"} <= parts
    for name in parts:
        kind = browser.get(f"/web/{name}").headers["content-type"]
        wanted = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
        assert kind.startswith(wanted[name.rpartition(".")[2]])


def test_no_file_is_left_over(browser: TestClient) -> None:
    asked_for = set(ENTRIES.values())
    for path in ENTRIES:
        asked_for |= needed(browser, path)
    # Types are read by the type checker alone; the widget is for notebooks, which ask nobody; a
    # language is asked for where somebody speaks it.
    languages = {f"languages/{tag}.js" for tag in web.languages() if tag != "en"}
    assert len(languages) == 12
    assert set(SERVED) - asked_for == {"types.js", "widget.js"} | languages


@pytest.mark.parametrize(("path", "module"), [("/", "seeker.js"), (STUDY, "study/study.js")])
def test_the_page_asks_for_everything_at_once(browser: TestClient, path: str, module: str) -> None:
    """What only the script names would be asked for one round trip later; modules are in it."""
    document = browser.get(path).text
    preloaded = PRELOADED.findall(document)
    assert len(preloaded) == len(set(preloaded))
    assert f'src="{FOLDER}{module}"' in document
    wanted = {name for name in needed(browser, f"/web/{module}") if name.endswith(".css")}
    linked = re.findall(rf'<link rel="stylesheet" href="{FOLDER}([^"]+)">', document)
    # What is asked for in two ways at once, Chromium fetches twice and does not keep.
    assert not {*preloaded} & {*linked}
    assert {*preloaded, *linked} >= wanted >= {*preloaded}


@pytest.mark.parametrize("entry", web.ENTRIES)
def test_a_bundle_has_every_module_once_after_those_that_it_imports(entry: str) -> None:
    order = web.modules(entry)
    assert order[-1] == entry
    for place, name in enumerate(order):
        assert {*web.imports(name).values()} <= {*order[:place]}
    text = web.bundle(entry)
    assert re.findall(r"^// (\S+\.js)$", text, re.MULTILINE) == order
    assert not re.search(r"^(import|export)\b(?! const)", text, re.MULTILINE)


def test_what_has_a_version_in_its_address_is_kept_for_a_year(browser: TestClient) -> None:
    for name in SERVED:
        if name.endswith(".html"):
            continue
        kept, asked = browser.get(f"{FOLDER}{name}"), browser.get(f"/web/{name}")
        assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert asked.headers["cache-control"] == "no-cache"
        assert kept.content == asked.content
    # The documents themselves name the version, so they are asked for each time.
    for path in ("/", STUDY, f"{FOLDER}index.html"):
        answer = browser.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
        assert len(set(re.findall(r'(?:src|href)="(/web[^/]*/)', answer.text))) == 1


def test_a_document_from_before_an_update_gets_the_page_of_today(browser: TestClient) -> None:
    """Never kept for a year under another version's address, and never a mixture of both."""
    for name in ("seeker.js", "style.css", "languages/de.js"):
        answer = browser.get(f"/web-0123456789abcdef/{name}", follow_redirects=False)
        assert answer.status_code == 307
        place = urljoin(f"/search/web-0123456789abcdef/{name}", answer.headers["location"])
        assert place == f"/search/web/{name}"
    assert browser.get("/web-0123456789abcdef/nothing.js").status_code == 404


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [("gzip, br", True), ("br;q=1, gzip;q=0.5", True), ("gzip;q=0", False), ("br", False)],
)
def test_files_of_the_page_are_compressed_for_who_can_read_that(
    browser: TestClient, accepted: str, compressed: bool
) -> None:
    tags = set()
    for path in ("/", f"{FOLDER}seeker.js", f"{FOLDER}style.css"):
        plain = browser.get(path, headers={"Accept-Encoding": "identity"})
        answer = browser.get(path, headers={"Accept-Encoding": accepted})
        assert (answer.headers.get("content-encoding") == "gzip") == compressed
        assert answer.content == plain.content
        assert "Accept-Encoding" in answer.headers["vary"]
        assert (answer.headers["etag"] != plain.headers["etag"]) == compressed
        length = int(answer.headers["content-length"])
        assert length < 0.6 * len(plain.content) if compressed else length == len(plain.content)
        known = {"Accept-Encoding": accepted, "If-None-Match": answer.headers["etag"]}
        assert browser.get(path, headers=known).status_code == 304
        tags.add(answer.headers["etag"])
    assert len(tags) == 3


@pytest.mark.parametrize("path", ENTRIES)
def test_the_page_has_its_texts(browser: TestClient, path: str) -> None:
    """They stand in the table of strings, which a document cannot read by itself."""
    document = browser.get(path).text
    assert "{{" not in document
    assert '<html lang="en"' in document
    assert re.search(r"<title>[^<]+</title>", document)
    assert re.search(r"<noscript>[^<]+</noscript>", document)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("de-CH, en;q=0.5", "de"),
        ("en;q=0.5, ar", "ar"),
        ("sv, fr;q=0.8, de;q=0.9", "de"),
        ("sv, de;q=0, it;q=0.1", "it"),
        ("*", "en"),
        ("de;q=high, ja;q=0.2", "ja"),
        ("../../errors, pl", "pl"),
    ],
)
def test_the_page_comes_in_the_language_of_its_reader(
    browser: TestClient, accepted: str, language: str
) -> None:
    answer = browser.get("/", headers={"Accept-Language": accepted})
    direction = "rtl" if language == "ar" else "ltr"
    assert f'<html lang="{language}" dir="{direction}">' in answer.text
    table = (WEB / "languages" / f"{language}.js").read_text(encoding="utf-8")
    loading = re.search(r'<p class="loading">([^<]+)</p>', answer.text)
    assert loading is not None
    assert html.unescape(loading[1]) in table
    # Its sentences are asked for at once, and those of no other language.
    preloaded = {name for name in PRELOADED.findall(answer.text) if name.startswith("languages/")}
    assert preloaded == {f"languages/{language}.js"} - {"languages/en.js"}  # English is inside
    assert answer.headers["vary"] == "Accept-Language, Accept-Encoding"


@pytest.mark.parametrize(
    "path",
    [
        "/web/nothing.js",
        "/web/components/nothing.js",
        "/web/components",
        "/web/__init__.py",
        "/web/..%2Fapp.py",
        "/web/../errors.py",
        "/web/%2e%2e/errors.py",
        "/web/components/..%2Fseeker.js",
        "/web/components%2F..%2F..%2Ferrors.py",
        "/web/",
    ],
)
def test_nothing_else_is_served(browser: TestClient, path: str) -> None:
    assert browser.get(path).status_code in (404, 405)


@pytest.mark.parametrize("name", SERVED)
def test_no_file_does_what_the_policy_forbids(name: str) -> None:
    text = (WEB / name).read_text(encoding="utf-8")
    if name.endswith(".html"):
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|<style|\sstyle=", text)
    else:
        # Text from a catalog must never become markup or code.
        assert not re.search(r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write)\b", text)
        assert not re.search(r"\beval\(|new Function\(|setTimeout\(\s*[\"'`]", text)


@pytest.mark.parametrize("name", SERVED)
def test_nothing_comes_from_elsewhere(name: str) -> None:
    text = (WEB / name).read_text(encoding="utf-8")
    # The names of XML's vocabularies and of examples look like addresses, but nobody fetches them.
    addresses = re.findall(r"https?://([\w-]+(?:\.[\w-]+)+)", text)
    assert {one for one in addresses if not one.endswith(".example")} <= {"www.w3.org"}


def test_the_page_comes_whole_however_much_its_reader_asks_for() -> None:
    """Somebody behind the same address may have used up all requests; half a page helps nobody."""
    settings = Settings(store="memory:", rate=0.001, burst=1)
    app = create_app(settings, Catalogs({"shop": random_catalog(30)}))
    with TestClient(app, base_url="http://localhost") as client:
        assert client.get("/v1/catalogs").status_code == 200
        assert client.get("/v1/catalogs").status_code == 429
        assert {client.get(f"/web/{name}").status_code for name in SERVED} == {200}


SHOP = "https://shop.example"


@pytest.mark.parametrize("cors", [(), (SHOP,), ("*",)], ids=["nobody", "a shop", "everybody"])
def test_a_copy_is_kept_for_the_site_that_asked(folder: Path, cors: tuple[str, ...]) -> None:
    """Whether the service lets a site in may differ by site, and by day: it may be started anew."""
    settings = Settings(store="memory:", rate=0, cors=cors)
    app = create_app(settings, Catalogs({"shop": Catalog.open(folder)}))
    with TestClient(app, base_url="http://localhost") as client:
        picture = client.post("/v1/sessions", json={}).json()["page"]["items"][0]["media"]
        for path in ("/", "/web/seeker.js", "/web/style.css", picture):
            tag = {"If-None-Match": client.get(path).headers["etag"]}
            for known, status in (({}, 200), (tag, 304)):
                own = client.get(path, headers=known)
                other = client.get(path, headers={"Origin": SHOP, **known})
                assert (own.status_code, other.status_code) == (status, status)
                depends = (
                    "Accept-Language, Accept-Encoding, Origin"
                    if path == "/"
                    else "Accept-Encoding, Origin"
                    if path.startswith("/web/")
                    else "Origin"
                )
                assert own.headers["vary"] == other.headers["vary"] == depends
                assert "access-control-allow-origin" not in own.headers
                allowed = other.headers.get("access-control-allow-origin")
                assert allowed == (cors[0] if cors else None)
