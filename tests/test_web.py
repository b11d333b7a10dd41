"""The page is served as it is, whole, and nothing beside it."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from seeker.server import page

WEB = files("seeker.web")
SERVED = sorted(
    entry.name for entry in WEB.iterdir() if entry.name.rpartition(".")[2] in ("js", "css", "html")
)
ENTRIES = ["/", "/web/study.html"]
NAMED = re.compile(r"""["'](?:\./|/web/)([a-z-]+\.(?:js|css|svg|html))["']""")


@pytest.fixture
def browser() -> TestClient:
    app = FastAPI()
    app.include_router(page.router)
    return TestClient(app)


def needed(browser: TestClient, path: str) -> set[str]:
    """Return the names of all files that a page asks for, directly or through others."""
    found: set[str] = set()
    waiting = [path]
    while waiting:
        answer = browser.get(waiting.pop())
        assert answer.status_code == 200, answer.url
        new = set(NAMED.findall(answer.text)) - found
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
    asked_for = {"index.html"}
    for entry in ENTRIES:
        name = entry.rpartition("/")[2]
        if not name or name in SERVED:
            asked_for |= {name} | needed(browser, entry)
    # Types are read by the type checker alone.
    assert set(SERVED) - asked_for <= {"types.js"}


@pytest.mark.parametrize(
    "path", ["/web/nothing.js", "/web/__init__.py", "/web/..%2Fapp.py", "/web/"]
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
