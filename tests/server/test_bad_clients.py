"""A running server, and clients that dawdle, lie about lengths, or say what is no HTTP."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from support.catalogs import build_folder
from support.servers import log_lines, serving, until

IN_TIME = 1.0
"""Seconds within which a request must have arrived here."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "log"


@pytest.fixture(scope="module")
def http(log: Path) -> Iterator[httpx.Client]:
    folder = build_folder(log.parent / "shop", 40)
    flags = ("--store", str(log.parent / "s.sqlite"), "--rate", "0")
    named = ("--allowed-host", "shop.example", "--allowed-host", "*.shops.example")
    with serving(folder, log, *flags, *named, "--request-timeout", str(IN_TIME)) as client:
        yield client
    assert "Traceback" not in log.read_text()


class Line:
    """A connection on which a request is said bit by bit."""

    def __init__(self, http: httpx.Client) -> None:
        self._socket = socket.create_connection((http.base_url.host, http.base_url.port or 80), 30)

    def say(self, *lines: str, end: str = "\r\n") -> Line:
        self._socket.sendall("".join(line + "\r\n" for line in lines).encode("latin-1"))
        self._socket.sendall(end.encode("latin-1"))
        return self

    def hear(self, until: bytes | None = None) -> str:
        """Return all that comes until the other side hangs up, or until it says something."""
        heard = b""
        while until is None or until not in heard:
            try:
                part = self._socket.recv(65_536)
            except ConnectionResetError:
                part = b""
            if not part:
                self._socket.close()
                break
            heard += part
        return heard.decode("utf-8", "replace")

    def is_dead(self, within: float) -> bool:
        """Wait until the connection is torn down, without reading; return whether it was."""
        waiting = select.poll()
        waiting.register(self._socket, 0)  # errors and hang-ups come without being asked for
        return bool(waiting.poll(within * 1000))

    def hang_up(self) -> None:
        self._socket.close()


CLOSE = "Connection: close"
POST = ("Host: localhost", "Content-Type: application/json")


def _problem(heard: str) -> dict[str, object]:
    return dict(json.loads(heard.partition("\r\n\r\n")[2]))


def test_a_body_that_does_not_come_is_waited_for_and_then_refused(http: httpx.Client) -> None:
    line = Line(http).say("POST /v1/sessions HTTP/1.1", *POST, "Content-Length: 20", end='\r\n{"pa')
    heard = line.hear()
    assert heard.startswith("HTTP/1.1 408 ")
    assert "connection: close" in heard.lower()
    assert _problem(heard) == {
        "type": "about:blank",
        "title": "Request Timeout",
        "status": 408,
        "detail": "The body did not arrive in time.",
        "hint": "",
        "code": "late",
    }


@pytest.mark.parametrize(
    "said", ["", "GET /healthz HT", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "]
)
def test_who_does_not_say_what_they_want_is_hung_up_on(http: httpx.Client, said: str) -> None:
    assert Line(http).say(end=said).hear() == ""


def test_who_dawdles_after_a_first_request_is_hung_up_on_too(http: httpx.Client) -> None:
    line = Line(http).say("GET /healthz HTTP/1.1", "Host: localhost")
    assert line.hear(until=b'"ready":true}').startswith("HTTP/1.1 200 ")
    assert line.say(end="GET /healthz HT").hear() == ""


def test_people_may_think_between_requests(http: httpx.Client) -> None:
    """A connection with nothing under way stays open far longer than a request may take."""
    line = Line(http).say("GET /healthz HTTP/1.1", "Host: localhost")
    dawdling = Line(http).say(end="GET")
    dawdling.hear()
    line.say("GET /healthz HTTP/1.1", "Host: localhost", "Connection: close")
    assert line.hear().count("HTTP/1.1 200 ") == 2


@pytest.mark.parametrize("said", ["Content-Length: 64001", "Transfer-Encoding: chunked"])
def test_a_body_that_is_too_long_is_refused_and_not_waited_for(
    http: httpx.Client, said: str
) -> None:
    line = Line(http).say("POST /v1/sessions HTTP/1.1", *POST, said)
    if "chunked" in said:
        line.say(end=f"{64_002:x}\r\n" + "x" * 64_001)
    assert line.hear(until=b'"hint"').startswith("HTTP/1.1 413 ")
    # Who goes on sending is hung up on after a while, too.
    line.say(end="x").hear()


BIG = 8_000_000


@pytest.mark.parametrize("kept", ["keep-alive", "close"])
@pytest.mark.parametrize("said", ["413", "400"])
def test_who_sends_too_much_can_finish_and_reads_why(
    http: httpx.Client, kept: str, said: str
) -> None:
    """Ordinary clients send all before they read; the answer is there long before."""
    line = Line(http)
    if said == "413":
        line.say(
            "POST /v1/sessions HTTP/1.1", *POST, f"Connection: {kept}", f"Content-Length: {BIG}"
        )
    else:
        line.say("GARBAGE")
    heard = line.hear(until=b"\r\n\r\n")
    line.say(end="x" * BIG)
    assert heard.startswith(f"HTTP/1.1 {said} ")
    if kept == "close" or said == "400":
        line.hear()
    line.hang_up()


def test_who_sends_without_end_is_hung_up_on(http: httpx.Client) -> None:
    line = Line(http)
    line.say("POST /v1/sessions HTTP/1.1", *POST, "Connection: close", f"Content-Length: {10**12}")
    assert line.hear(until=b"\r\n\r\n").startswith("HTTP/1.1 413 ")

    def without_end() -> None:
        for _ in range(10**6):
            line.say(end="x" * BIG)

    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        without_end()
    line.hang_up()


def test_who_takes_in_nothing_is_hung_up_on(http: httpx.Client) -> None:
    line = Line(http)
    for _ in range(300):
        line.say("GET /openapi.json HTTP/1.1", "Host: localhost")
    assert line.is_dead(within=60), "the answers have nowhere to go, and nobody minds"
    line.hang_up()
    assert http.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "lines",
    [
        ("GARBAGE",),
        ("POST /v1/sessions HTTP/1.1", *POST, "Content-Length: ²"),
        ("POST /v1/sessions HTTP/1.1", *POST, "Content-Length: -1"),
        ("POST /v1/sessions HTTP/1.1", *POST, "Content-Length: " + "9" * 5000),
        ("POST /v1/sessions HTTP/1.1", *POST, "Content-Length: 2", "Content-Length: 3"),
        ("GET / HTTP/1.1", "Host: localhost", "X-Bad\r\n : folded"),
    ],
)
def test_what_is_no_http_is_refused_before_anybody_reads_it(
    http: httpx.Client, lines: tuple[str, ...]
) -> None:
    heard = Line(http).say(*lines).hear()
    assert heard.startswith(("HTTP/1.1 400 ", "HTTP/1.1 413 ")), heard[:200]
    assert "Traceback" not in heard


@pytest.mark.parametrize("place", ["address", "header"])
def test_what_is_longer_than_anybody_says_is_not_listened_to(
    http: httpx.Client, place: str
) -> None:
    long = "x" * 200_000
    line = Line(http)
    try:
        if place == "address":
            line.say(f"GET /{long} HTTP/1.1", "Host: localhost")
        else:
            line.say("GET / HTTP/1.1", "Host: localhost", f"X-Long: {long}")
    except (BrokenPipeError, ConnectionResetError):
        line.hang_up()
    else:
        assert "HTTP/1.1 200" not in line.hear()
    assert http.get("/healthz").status_code == 200


def test_whoever_leaves_in_the_midst_of_a_request_has_done_nothing(
    http: httpx.Client, log: Path
) -> None:
    first = http.post("/v1/sessions", json={}).json()
    session = f"/v1/sessions/{first['id']}"
    item = first["page"]["items"][0]["id"]
    assert http.post(f"{session}/clicks", json={"item": item, "verdict": "like"}).is_success
    Line(http).say(f"POST {session}/undo HTTP/1.1", *POST, "Content-Length: 5").hang_up()
    until(lambda: any(line.get("status") == 499 for line in log_lines(log)))
    assert http.get(session).json()["likes"] == [item]


def test_headers_of_an_answer_are_nobodys_but_ours(http: httpx.Client) -> None:
    for given in ("a%0d%0aX-Evil:%201", "a\tb", "x" * 65, "é" * 10):
        heard = (
            Line(http)
            .say(
                "GET /v1/sessions/a%0d%0aX-Evil:%201 HTTP/1.1",
                "Host: localhost",
                f"X-Request-Id: {given}",
                "Connection: close",
            )
            .hear()
        )
        head = heard.partition("\r\n\r\n")[0].lower()
        assert head.startswith("http/1.1 404 ")
        assert "\r\nx-evil" not in head
        assert given.lower() not in head


def test_another_name_is_not_answered_to(http: httpx.Client) -> None:
    """A website whose name was made to point here would read the catalog otherwise."""
    for path in ("/", "/v1/catalogs", "/healthz", "/web/seeker.js"):
        heard = Line(http).say(f"GET {path} HTTP/1.1", "Host: evil.example:80", CLOSE).hear()
        assert heard.startswith("HTTP/1.1 421 ")
        assert _problem(heard)["detail"] == "This service does not go by the name 'evil.example'."
        assert "--allowed-host evil.example" in str(_problem(heard)["hint"])


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LocalHost.:8000", "127.0.0.1", "127.9.9.9:1", "[::1]:8000", "192.0.2.7"),
        *("shop.example", "SHOP.example:443", "a.b.shops.example"),
    ],
)
def test_addresses_and_names_that_are_allowed_are_answered_to(
    http: httpx.Client, host: str
) -> None:
    heard = Line(http).say("GET /v1/catalogs HTTP/1.1", f"Host: {host}", CLOSE).hear()
    assert heard.startswith("HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "host", ["shops.example", "evilshops.example", "shop.example.evil", "127.0.0.1.evil", "a b"]
)
def test_names_that_only_look_like_those_are_not(http: httpx.Client, host: str) -> None:
    heard = Line(http).say("GET /v1/catalogs HTTP/1.1", f"Host: {host}", CLOSE).hear()
    assert heard.startswith(("HTTP/1.1 421 ", "HTTP/1.1 400 "))


def test_a_request_that_names_no_host_is_answered(http: httpx.Client) -> None:
    """Load balancers ask like this; browsers never do."""
    assert Line(http).say("GET /healthz HTTP/1.0").hear().startswith("HTTP/1.1 200 ")


def test_a_whole_address_is_answered_as_its_path(http: httpx.Client) -> None:
    for target in ("http://localhost/healthz", "HTTP://shop.example:8000/healthz?x=1"):
        heard = Line(http).say(f"GET {target} HTTP/1.1", "Host: evil.example", CLOSE).hear()
        assert heard.startswith("HTTP/1.1 200 ")
        assert '"live":true' in heard
    front = Line(http).say("GET http://localhost HTTP/1.1", "Host: localhost", CLOSE).hear()
    assert "<!doctype html>" in front.lower()
    item = "http://localhost/v1/items/shop/folder%2Fitem%2010"
    heard = Line(http).say(f"GET {item} HTTP/1.1", "Host: localhost", CLOSE).hear()
    assert '"folder/item 10"' in heard
    # The name in the address counts, whatever the header says.
    heard = Line(http).say("GET http://evil/healthz HTTP/1.1", "Host: localhost", CLOSE).hear()
    assert heard.startswith("HTTP/1.1 421 ")
