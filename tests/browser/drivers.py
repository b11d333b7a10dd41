"""Browsers that Playwright does not drive: the distribution's Firefox and WebKit, each by its own.

Playwright drives a Firefox and a WebKit of its own making, which come from no distribution; of
Debian's Firefox it asks for a command that it does not have (emulation.setMediaFeaturesOverride).
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import socket
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import websocket

from browser import chromium
from support.servers import TIMEOUT_SECONDS, until_answers

HELPERS = """
const search = () => document.querySelector("seeker-search");
const inside = (selector) => [...search().shadowRoot.querySelectorAll(selector)];
const until = async (holds) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
};
const settled = (step, items = 12) => until(() =>
  search()?.session?.step === step &&
  inside('ul.grid[aria-busy="false"] .card:not(.skeleton)').length === items
);
"""
"""What scripts in a page may use."""


class Window(ABC):
    """A window of a browser, and what has gone wrong in it."""

    troubles: list[str]

    @abstractmethod
    def open(self, url: str) -> None:
        """Go to an address."""

    @abstractmethod
    def do(self, script: str) -> Any:
        """Run a script to its end, and return what it returns, through JSON."""

    @abstractmethod
    def resize(self, width: int, height: int) -> None:
        """Make the window so large."""

    @abstractmethod
    def act(self, actions: list[dict[str, Any]]) -> None:
        """Do something with keys, as WebDriver describes it."""

    def press(self, keys: str) -> None:
        """Press keys, one after the other."""
        each = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.act([{"type": "key", "id": "keys", "actions": each}])


class Firefox(Window):
    """Firefox, over WebDriver BiDi: JSON over a WebSocket."""

    def __init__(self, address: str) -> None:
        # An origin would mean that a page asks, which Firefox refuses.
        self.line = websocket.create_connection(
            f"{address}/session", timeout=TIMEOUT_SECONDS, suppress_origin=True
        )
        self._numbers = itertools.count()
        self.troubles = []
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded"])
        self._window = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def _ask(self, method: str, **parameters: Any) -> Any:
        """Return the answer to a command; what is told in between is kept if it is an error."""
        number = next(self._numbers)
        self.line.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            heard = json.loads(self.line.recv())
            if heard.get("method") == "log.entryAdded" and heard["params"]["level"] == "error":
                self.troubles.append(heard["params"]["text"])
            if heard.get("id") == number:
                assert heard["type"] == "success", heard
                return heard["result"]

    def open(self, url: str) -> None:
        self._ask("browsingContext.navigate", context=self._window, url=url, wait="complete")

    def do(self, script: str) -> Any:
        told = self._ask(
            "script.evaluate",
            expression=f"(async () => {{ {HELPERS} {script} }})().then(JSON.stringify)",
            target={"context": self._window},
            awaitPromise=True,
        )
        assert told["type"] == "success", told["exceptionDetails"]["text"]
        return json.loads(told["result"].get("value", "null"))

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height}
        self._ask("browsingContext.setViewport", context=self._window, viewport=size)

    def act(self, actions: list[dict[str, Any]]) -> None:
        self._ask("input.performActions", context=self._window, actions=actions)


class WebKit(Window):
    """WebKitGTK's small browser, over WebDriver: JSON over HTTP."""

    def __init__(self, address: str, binary: str) -> None:
        self.troubles = []
        self._http = httpx.Client(base_url=address, timeout=TIMEOUT_SECONDS)
        options = {"binary": binary, "args": ["--automation"]}
        capabilities = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        self._session = ""
        self._session = f"/session/{self._ask('', capabilities=capabilities)['sessionId']}"
        self._ask("timeouts", script=1000 * TIMEOUT_SECONDS)

    def _ask(self, command: str, **parameters: Any) -> Any:
        path = f"{self._session}/{command}" if self._session else "/session"
        answer = self._http.post(path, json=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()["value"]

    def open(self, url: str) -> None:
        self._ask("url", url=url)

    def do(self, script: str) -> Any:
        whole = f"""const done = arguments[arguments.length - 1];
        (async () => {{ {HELPERS} {script} }})().then(
            (value) => done(JSON.stringify([value ?? null])), (error) => done(String(error)));"""
        told = self._ask("execute/async", script=whole, args=[])
        assert told.startswith("["), told
        return json.loads(told)[0]

    def resize(self, width: int, height: int) -> None:
        # What is around the page is part of the window.
        around = self.do("return [outerWidth - innerWidth, outerHeight - innerHeight]")
        self._ask("window/rect", width=width + around[0], height=height + around[1])

    def act(self, actions: list[dict[str, Any]]) -> None:
        self._ask("actions", actions=actions)

    def close(self) -> None:
        """End the session, and the browser with it."""
        self._http.delete(self._session)
        self._http.close()


def free_port() -> int:
    """Return a port at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Run Firefox, with a profile in a folder."""
    path = chromium.firefox()
    assert path is not None
    flags = ["--headless", "--remote-debugging-port=0", "--profile", str(folder)]
    with subprocess.Popen(
        [path, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
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
            window.line.close()
        finally:
            process.kill()


@contextmanager
def webkit(folder: Path) -> Iterator[WebKit]:
    """Run WebKit on a screen of its own, which nobody sees; it keeps what it has in a folder."""
    browser = chromium.webkit()
    assert browser is not None
    with (
        subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as screen,
        (folder / "log").open("w+") as log,
    ):
        assert screen.stdout is not None
        display = f":{screen.stdout.readline().strip()}"
        environment = {**os.environ, "DISPLAY": display, "GDK_BACKEND": "x11", "HOME": str(folder)}
        port = free_port()
        driver = subprocess.Popen(
            [str(shutil.which("WebKitWebDriver")), f"--port={port}"],
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            until_answers(f"{address}/status", driver, folder / "log")
            window = WebKit(address, browser)
            yield window
            window.close()
        finally:
            for one in (driver, screen):
                one.terminate()
                one.wait()
