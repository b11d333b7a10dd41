"""A client that is given nonsense, or that meets a server which is not Seeker's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from seeker import Client
from seeker.client.transport import UnreachableError
from seeker.errors import BadInput, SeekerError


class _Stranger(BaseHTTPRequestHandler):
    """Answers whatever is asked with the same; asked: how often."""

    answer: ClassVar[tuple[int, dict[str, str], bytes]] = (200, {}, b"{}")
    asked: ClassVar[list[str]] = []

    def _say(self) -> None:
        self.asked.append(self.path)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers, body = self.answer
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = _say

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr("seeker.client.transport._MAX_WAIT_SECONDS", 0.0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Stranger)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    _Stranger.asked.clear()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


CALLS: list[Callable[[Client], object]] = [
    lambda client: client.session(),
    lambda client: client.open("a"),
    lambda client: client.shared("a"),
    lambda client: client.item("a"),
    lambda client: client.catalogs(),
    len,
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "answer",
    [
        (200, {}, b"{}"),
        (200, {}, b"[]"),
        (200, {}, b"<html>"),
        (200, {}, b"\xff"),
        (200, {}, b"[" * 100_000),
        (200, {"Content-Encoding": "gzip"}, b"no gzip at all"),
        (204, {}, b""),
        (302, {"Location": "http://127.0.0.1:1/"}, b""),
        (429, {"Retry-After": "²"}, b"{}"),
        (500, {}, b"Internal Server Error"),
        (503, {"Retry-After": "soon"}, b"{}"),
    ],
)
def test_a_server_of_another_kind_is_told_from_ours(
    stranger: str, call: Callable[[Client], object], answer: tuple[int, dict[str, str], bytes]
) -> None:
    _Stranger.answer = answer
    with Client(stranger, catalog="shop") as client, pytest.raises(SeekerError) as told:
        call(client)
    if answer[0] == 200 and answer[2] == b"{}":
        assert isinstance(told.value, UnreachableError)
        assert f"{stranger} is not a Seeker service" in told.value.message


@pytest.mark.parametrize("given", [5, None, "", ["a"], b"a"])
def test_ids_that_are_none_are_not_asked_for(stranger: str, given: Any) -> None:
    with Client(stranger, catalog="shop") as client:
        for call in (client.open, client.shared, client.item):
            with pytest.raises(BadInput, match="neither an id nor a name"):
                call(given)
    assert _Stranger.asked == []


def test_odd_letters_stay_within_their_part_of_the_address(stranger: str) -> None:
    _Stranger.answer = (404, {}, b"{}")
    with Client(stranger, catalog="a/../b") as client:
        for item in ("../../v1/export", "a?b#c", "x y\r\nHost: evil", "\ud800"):
            with pytest.raises(SeekerError):
                client.item(item)
    prefix = "/v1/items/a%2F..%2Fb/"
    assert [one.removeprefix(prefix) for one in _Stranger.asked] == [
        "..%2F..%2Fv1%2Fexport",
        "a%3Fb%23c",
        "x%20y%0D%0AHost%3A%20evil",
        "%3F",
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"url": "http://"},
        {"url": "http://here\n"},
        {"url": "http://\ud800"},
        {"url": "ftp://here"},
        {"url": None},
        {"timeout": 0},
        {"timeout": -1},
        {"timeout": "long"},
        {"timeout": float("nan")},
        {"timeout": None},
    ],
)
def test_what_cannot_be_called_is_refused_at_once(given: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        Client(**{"url": "http://127.0.0.1:1", **given})


@pytest.mark.parametrize("key", ["secret\nX-Evil: 1", "secreté", "secret\ud800", "", 5])
def test_a_key_that_is_none_is_refused_and_not_shown(key: Any) -> None:
    with pytest.raises(BadInput) as told:
        Client("http://127.0.0.1:1", key=key)
    assert "secret" not in str(told.value)
