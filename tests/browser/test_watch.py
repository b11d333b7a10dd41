"""The watch that every test relies on sees what goes wrong."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page

from browser.servers import TIMEOUT_MILLISECONDS
from browser.watch import Watch
from support.servers import Server, until


@pytest.fixture
def watched(browser: Browser, shapes: Server) -> tuple[Page, Watch]:
    """A window whose troubles are the test's own matter."""
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT_MILLISECONDS)
    watch = Watch()
    watch.over(context)
    page = context.new_page()
    page.goto(f"{shapes.url}/docs")
    return page, watch


@pytest.mark.parametrize(
    ("doing", "noted"),
    [
        ("() => { setTimeout(() => { throw new Error('a slip') }) }", "script: a slip"),
        ("() => { console.error('a word of complaint') }", "console: a word of complaint"),
        pytest.param(
            *("() => { document.body.setAttribute('style', 'color: red') }", "console: .*style"),
            marks=pytest.mark.chromium("Firefox tells a driver nothing of a refused style."),
        ),
        ("() => { fetch('/v1/nothing').catch(() => 0) }", "answer: GET .*/v1/nothing: 404"),
        ("() => { fetch('http://127.0.0.1:9/').catch(() => 0) }", "127.0.0.1:9"),
    ],
)
def test_the_watch_notes_troubles(watched: tuple[Page, Watch], doing: str, noted: str) -> None:
    page, watch = watched
    assert watch.troubles == []
    page.evaluate(doing)
    until(lambda: page.evaluate("1") and any(re.search(noted, one) for one in watch.troubles))
    watch.allow(noted)
    # Chromium writes into the console, too, that a request was answered with an error.
    watch.allow("^console: Failed to load resource")
    assert watch.troubles == []
    page.context.close()
