"""The page is served as it is, and nothing beside it."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from seeker.server import page


@pytest.fixture
def browser() -> TestClient:
    app = FastAPI()
    app.include_router(page.router)
    return TestClient(app)


def test_every_file_the_page_asks_for_is_there(browser: TestClient) -> None:
    front = browser.get("/")
    assert front.status_code == 200
    assert front.headers["content-type"].startswith("text/html")
    asked = re.findall(r'(?:src|href)="(/web/[^"]+)"', front.text)
    assert len(asked) >= 3
    for path in asked:
        assert browser.get(path).status_code == 200
    script = browser.get("/web/seeker.js")
    assert script.headers["content-type"].startswith("text/javascript")
    for name in re.findall(r'from "\./([^"]+)"', script.text):
        assert browser.get(f"/web/{name}").status_code == 200


@pytest.mark.parametrize(
    "path", ["/web/nothing.js", "/web/__init__.py", "/web/..%2Fapp.py", "/web/"]
)
def test_nothing_else_is_served(browser: TestClient, path: str) -> None:
    assert browser.get(path).status_code in (404, 405)


def test_the_page_holds_no_inline_code() -> None:
    text = (files("seeker.web") / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|<style", text)
