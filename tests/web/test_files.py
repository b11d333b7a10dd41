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
NAMED = re.compile(r"""["']((?:\.{1,2}/|/web/)[a-z/-]+\.(?:js|css|svg|html))["']""")
PRELOADED = re.compile(r'<link rel="(?:modulepreload|preload)" [^>]*href="/web/([^"]+)"')


@pytest.fixture
def browser() -> TestClient:
    app = FastAPI()
    app.include_router(system.pages)
    return TestClient(app)


def named(browser: TestClient, path: str) -> set[str]:
    """Return the names of the files that a page or a module asks for."""
    answer = browser.get(path)
    assert answer.status_code == 200, answer.url
    # What only a comment names is for the type checker.
    text = COMMENT.sub("", answer.text)
    return {urljoin(path, name).removeprefix("/web/") for name in NAMED.findall(text)}


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
    """A module that only another one names would be asked for one round trip later."""
    document = browser.get(path).text
    preloaded = PRELOADED.findall(document)
    assert len(preloaded) == len(set(preloaded))
    assert f'src="/web/{module}"' in document
    assert set(preloaded) == needed(browser, f"/web/{module}") - {module}


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
    assert preloaded == {"languages/en.js", f"languages/{language}.js"}
    assert answer.headers["vary"] == "Accept-Language"


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
                depends = "Accept-Language, Origin" if path == "/" else "Origin"
                assert own.headers["vary"] == other.headers["vary"] == depends
                assert "access-control-allow-origin" not in own.headers
                allowed = other.headers.get("access-control-allow-origin")
                assert allowed == (cors[0] if cors else None)
