"""The page in Firefox: what a person does, in the other engine that many of them have.

Playwright drives only a Firefox of its own making. This one is the distribution's, driven by what
it speaks itself: WebDriver BiDi, JSON over a WebSocket. `make browser` installs it where it can be
had; without one, this is skipped and says so.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import websocket

from browser import chromium
from support.servers import TIMEOUT_SECONDS, Server

FIREFOX = chromium.firefox()
pytestmark = pytest.mark.skipif(FIREFOX is None, reason="Firefox is not installed: make browser")

SETTLED = """
const search = () => document.querySelector("seeker-search");
const inside = (selector) => [...search().shadowRoot.querySelectorAll(selector)];
const until = async (holds) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
};
const settled = (step) => until(() =>
  search()?.session?.step === step && inside('ul.grid[aria-busy="false"] img').length === 12
);
"""


class Firefox:
    """A window, and what has gone wrong in it."""

    def __init__(self, address: str) -> None:
        # An origin would mean that a page asks, which Firefox refuses.
        self._line = websocket.create_connection(
            f"{address}/session", timeout=TIMEOUT_SECONDS, suppress_origin=True
        )
        self._numbers = itertools.count()
        self.troubles = list[str]()
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self._window = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **parameters: Any) -> Any:
        """Return the answer to a command; what is told in between is kept if it is an error."""
        number = next(self._numbers)
        self._line.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            heard = json.loads(self._line.recv())
            if heard.get("method") == "log.entryAdded" and heard["params"]["level"] == "error":
                self.troubles.append(heard["params"]["text"])
            if heard.get("id") == number:
                assert heard["type"] == "success", heard
                return heard["result"]

    def open(self, url: str) -> None:
        """Go to an address."""
        self.ask("browsingContext.navigate", context=self._window, url=url, wait="complete")

    def do(self, script: str) -> Any:
        """Run a script to its end, and return what it returns, through JSON."""
        told = self.ask(
            "script.evaluate",
            expression=f"(async () => {{ {SETTLED} {script} }})().then(JSON.stringify)",
            target={"context": self._window},
            awaitPromise=True,
        )
        assert told["type"] == "success", told["exceptionDetails"]["text"]
        return json.loads(told["result"].get("value", "null"))

    def close(self) -> None:
        """End the session."""
        self._line.close()


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    assert FIREFOX is not None
    flags = ["--headless", "--remote-debugging-port=0", "--profile", str(tmp_path)]
    with subprocess.Popen(
        [FIREFOX, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            address = next(
                found[1]
                for line in process.stderr
                if (found := re.search(r"WebDriver BiDi listening on (ws://\S+)", line))
            )
            window = Firefox(address)
            yield window
            window.close()
            assert window.troubles == []
        finally:
            process.kill()


def test_a_search_in_firefox(firefox: Firefox, shapes: Server) -> None:
    firefox.open(shapes.url)
    begun = firefox.do(
        """await settled(0);
        const pictures = inside("ul.grid img");
        await Promise.all(pictures.map((one) => one.decode()));
        return [pictures.length, search().session.page.total];"""
    )
    assert begun == [12, 240]
    liked, disliked, undone = firefox.do(
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
    said, language = firefox.do(
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
    assert firefox.do("return inside('.summary')[0].checkVisibility()") is True
