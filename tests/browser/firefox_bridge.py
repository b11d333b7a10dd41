"""Debian's Firefox for Playwright: a program that is started in its place and stands between them.

Playwright speaks WebDriver BiDi to a Firefox of the distribution, too, but asks it to emulate what
it does not know yet (dark colours, for one), and gives up when it says so. Here such an answer
becomes "done": a test that needs the emulation fails for itself, and all the others run.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
from asyncio import subprocess
from pathlib import Path

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application
from tornado.websocket import WebSocketClientConnection, WebSocketHandler, websocket_connect

LARGEST = 1 << 28
"""Bytes of a message: pictures of the screen are messages, too."""


MOUSE: dict[str, str | float | bool] = {
    "ui.primaryPointerCapabilities": 6,
    "ui.allPointerCapabilities": 6,
}
"""Without a screen Firefox believes that there is no mouse: this one is fine, and can hover."""


class Bridge(WebSocketHandler):
    """Playwright's line, and behind it Firefox's."""

    firefox: WebSocketClientConnection
    asked: dict[int, str]

    def initialize(self, address: str) -> None:
        """Keep where Firefox listens."""
        self.address = address

    def check_origin(self, origin: str) -> bool:
        """Let Playwright in."""
        return True

    async def open(self, *args: str, **kwargs: str) -> None:
        """Open the line to Firefox, and hand on what it says."""
        self.asked = {}
        self.firefox = await websocket_connect(
            self.address + self.request.path, max_message_size=LARGEST
        )
        self._reader = asyncio.create_task(self._read())

    async def on_message(self, message: str | bytes) -> None:
        """Hand on what Playwright asks."""
        command = json.loads(message)
        self.asked[command["id"]] = command["method"]
        await self.firefox.write_message(message)

    def on_close(self) -> None:
        """Close the other line with this one."""
        self.firefox.close()

    async def _read(self) -> None:
        while (message := await self.firefox.read_message()) is not None:
            heard = json.loads(message)
            method = self.asked.pop(heard.get("id"), "")
            if heard.get("error") == "unknown command" and method.startswith("emulation."):
                message = json.dumps({"type": "success", "id": heard["id"], "result": {}})
            await self.write_message(message)
        self.close()


def program(firefox: str, folder: Path) -> Path:
    """Write a program that Playwright can start as if it were this Firefox."""
    path = folder / "firefox"
    command = shlex.join([sys.executable, __file__, firefox])
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    path.chmod(0o755)
    return path


async def main(program: str, *flags: str) -> int:
    """Run Firefox, and say that it listens at the bridge's address."""
    firefox = await subprocess.create_subprocess_exec(program, *flags, stderr=subprocess.PIPE)
    assert firefox.stderr is not None
    async for line in firefox.stderr:
        said = line.decode(errors="replace")
        if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", said):
            sockets = bind_sockets(0, "127.0.0.1")
            paths = [(r"/.*", Bridge, {"address": found[1]})]
            HTTPServer(Application(paths, websocket_max_message_size=LARGEST)).add_sockets(sockets)
            said = f"WebDriver BiDi listening on ws://127.0.0.1:{sockets[0].getsockname()[1]}\n"
        print(said, end="", file=sys.stderr, flush=True)
    return await firefox.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
