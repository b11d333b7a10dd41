"""More connections than a process has descriptors for: some are told so, none is forgotten."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from support.catalogs import build_folder
from support.servers import Server, log_lines, until

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits of another process are set on Linux only"
)
if sys.platform.startswith("linux"):
    import resource

DESCRIPTORS = 200


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("descriptors")
    made = Server(
        build_folder(place / "shop", 40), "--store", str(place / "s.sqlite"), "--rate", "0"
    )
    made.limit_descriptors(DESCRIPTORS)
    with made.running(place / "log"):
        yield made


def _connected(server: Server) -> socket.socket:
    url = httpx.URL(server.url)
    return socket.create_connection((url.host, url.port or 80), 60)


def _asked(line: socket.socket) -> str:
    """Ask how the server is; return the answer."""
    line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    heard = b""
    while not heard.endswith(b"}"):
        part = line.recv(65_536)
        if not part:
            break
        heard += part
    return heard.decode()


def _answers(server: Server) -> bool:
    try:
        return httpx.get(f"{server.url}/healthz", timeout=60).status_code == 200
    except httpx.TransportError:
        return False


def test_who_finds_no_room_is_told_so_and_the_log_once(server: Server) -> None:
    with ExitStack() as stack:
        answers = []
        for _ in range(DESCRIPTORS):
            answers.append(_asked(stack.enter_context(_connected(server))))
            if not answers[-1].startswith("HTTP/1.1 200 "):
                break
        head, _, body = answers[-1].partition("\r\n\r\n")
        assert head.startswith("HTTP/1.1 503 ")
        assert "Retry-After: 1" in head
        assert json.loads(body)["detail"] == "The service has as many connections as it can."
        assert len(answers) > 20, "there is room for some"
        # A crowd that comes at once takes no descriptors, either.
        url = httpx.URL(server.url)
        for _ in range(2 * DESCRIPTORS):
            line = stack.enter_context(socket.socket())
            line.setblocking(False)
            line.connect_ex((url.host, url.port))
    until(lambda: _answers(server))
    problems = [line["message"] for line in log_lines(server.log) if line["level"] != "info"]
    assert problems == ["too many connections"]
    assert "Traceback" not in server.log.read_text()


def test_without_descriptors_the_log_says_so_once(server: Server) -> None:
    assert server.process is not None
    open_now = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
    limits = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (open_now - 1, limits[1]))
    with _connected(server) as line:

        def told() -> list[str]:
            return [one for one in server.log.read_text().splitlines() if "accept" in one]

        until(told)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, limits)
        assert _asked(line).startswith("HTTP/1.1 200 "), "it was not forgotten"
    (only,) = told()
    assert json.loads(only)["message"] == "cannot accept connections"
    assert "Traceback" not in server.log.read_text()
