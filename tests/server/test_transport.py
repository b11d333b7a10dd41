"""How answers travel: at once, and in one piece."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest
import uvicorn

from seeker.engine import Catalogs
from seeker.server.app import create_app
from seeker.server.connections import TimeoutProtocol
from seeker.server.runner import listen, server_config
from seeker.server.settings import Settings
from support.catalogs import random_catalog
from support.servers import TIMEOUT_SECONDS, tcp_segments, until


@pytest.fixture(scope="module")
def server() -> Iterator[uvicorn.Server]:
    """A server in a thread of this process, so that its own end of a connection can be seen."""
    settings = Settings(store="memory:", rate=0)
    running = uvicorn.Server(
        server_config(settings, create_app(settings, Catalogs({"shop": random_catalog(60)})))
    )
    listening = listen("127.0.0.1", 0)
    thread = threading.Thread(target=running.run, args=([listening],))
    thread.start()
    until(lambda: running.started)
    yield running
    running.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def http(server: uvicorn.Server) -> Iterator[httpx.Client]:
    host, port = server.servers[0].sockets[0].getsockname()
    with httpx.Client(base_url=f"http://{host}:{port}", timeout=60) as client:
        yield client


def test_no_answer_waits_for_the_other_side_to_acknowledge(
    server: uvicorn.Server, http: httpx.Client
) -> None:
    """Otherwise its last piece is held back for 40 ms."""
    assert http.get("/healthz").status_code == 200
    connections = server.server_state.connections
    (connection,) = (one for one in connections if isinstance(one, TimeoutProtocol))
    accepted = connection.transport.get_extra_info("socket")
    assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_head_and_body_are_one_piece(http: httpx.Client) -> None:
    for path in ("/healthz", "/v1/catalogs", "/web/style.css"):
        assert tcp_segments(http, path) == 1


def test_what_is_asked_at_once_is_answered_in_order(server: uvicorn.Server) -> None:
    """Answers that are gathered keep apart, and all come before the connection is closed."""
    host, port = server.servers[0].sockets[0].getsockname()
    head = "Host: localhost\r\n"
    asked = [f"GET {path} HTTP/1.1\r\n{head}" for path in ("/healthz", "/web/seeker.js", "/no")]
    with socket.create_connection((host, port), 60) as line:
        line.sendall(("\r\n".join(asked) + "Connection: close\r\n\r\n").encode())
        heard = b"".join(iter(lambda: line.recv(65_536), b"")).decode()
    assert [part[:4] for part in heard.split("HTTP/1.1 ")[1:]] == ["200 ", "200 ", "404 "]
    assert heard.index('"live":true') < heard.index("customElements") < heard.index("nothing at")


def test_a_connection_that_was_accepted_when_the_server_stopped_is_hung_up_on() -> None:
    """Otherwise it is served for as long as a stop may last: the server has not told it."""

    async def raced() -> bytes:
        config = server_config(Settings(store="memory:"), create_app(Settings(store="memory:")))
        config.load()
        loop, server = asyncio.get_running_loop(), uvicorn.Server(config)
        # As the event loop does it: a connection is made in a later turn than its protocol.
        protocol = config.http_protocol_class(  # type: ignore[call-arg]
            config=config, server_state=server.server_state, app_state={}, _loop=loop
        )
        for one in list(server.server_state.connections):
            one.shutdown()
        ours, theirs = socket.socketpair()
        with theirs:
            theirs.setblocking(False)
            await loop.connect_accepted_socket(lambda: protocol, ours)
            said = await asyncio.wait_for(loop.sock_recv(theirs, 1), TIMEOUT_SECONDS)
        assert not server.server_state.connections
        return said

    assert asyncio.run(raced()) == b""
