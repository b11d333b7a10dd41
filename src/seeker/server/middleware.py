"""The outermost layer: limits before, headers and figures after, and no error without words."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seeker.errors import BadInput, SeekerError
from seeker.server import errors
from seeker.server.errors import RequestRefused
from seeker.server.logging import LOGGER, short_hash
from seeker.server.requests import is_form
from seeker.server.settings import Settings

if TYPE_CHECKING:
    from seeker.server.direct import DirectRoutes
    from seeker.server.service import Service

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'self'; media-src http: https:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


def security_headers(settings: Settings) -> list[tuple[bytes, bytes]]:
    """Return the headers of every answer; who may show the page in a frame is a setting."""
    headers = dict(HEADERS)
    if settings.frame:
        del headers["X-Frame-Options"]
        ancestors = f"frame-ancestors {' '.join(settings.frame)}"
        policy = headers["Content-Security-Policy"].replace("frame-ancestors 'none'", ancestors)
        headers["Content-Security-Policy"] = policy
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


_VARY = (b"vary", b"Origin")
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_ALWAYS_ANSWERED = ("/healthz", "/healthz/ready")
_PAGE = ("/web/", "/web-")
"""The files of the page are asked for all at once; it breaks if only one of them is refused."""
_EXAMPLES = re.compile(r"/v1/sessions/[^/]+/examples")
_CLIENT_LEFT = 499
"""The status that the logs show of a client who left before their request was there."""
_MAX_CLIENTS = 10_000
_LOCAL = "localhost"
_NAME = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*|\*")
_ABSOLUTE = re.compile(rb"https?://([^/]*)", re.IGNORECASE)
_MAX_NAME_CHARACTERS = 253


class RequestMiddleware:
    """Wraps the application, whose service is there as soon as it has started."""

    def __init__(self, app: ASGIApp, direct: DirectRoutes) -> None:
        self._app = app
        self._direct = direct

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        service: Service = scope["app"].state.service
        headers = Headers(scope=scope)
        request = headers.get("x-request-id", "")
        if not _REQUEST_ID.fullmatch(request):
            request = secrets.token_hex(8)
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                sent = message["headers"]
                names = {name for name, _ in sent}
                usual = [one for one in service.headers if one[0] not in names]
                message["headers"] = [*sent, (b"x-request-id", request.encode()), *usual]
            await send(message)

        try:
            host = origin_form(scope)
            service.hosts.check(headers.get("host") if host is None else host)
            _strip_root(service.settings.root, scope)
            _check_rate(service, scope)
            limit = _body_limit(service.settings, scope, headers)
            body = await _read_body(limit, service.settings.request_timeout, headers, receive)
            response = await self._direct.answer(service, scope, headers, body)
            if response is None:
                await self._app(scope, _receive_body(body, receive), send_with_headers)
            else:
                await response(scope, receive, send_with_headers)
        except ClientDisconnect:
            status = _CLIENT_LEFT
        except asyncio.CancelledError:
            # A stop waits no longer: what was asked for may have been done or not.
            if not status:
                stop = RequestRefused(
                    503, "The service is being stopped.", "Try again in a second."
                )
                await errors.error_response(stop)(scope, receive, send_with_headers)
        except SeekerError as error:
            await errors.error_response(error)(scope, receive, send_with_headers)
        except Exception:
            LOGGER.exception("request failed", extra={"fields": {"request": request}})
            # Once an answer is on its way, it can only break off, so that its reader sees that.
            if not status:
                sorry = errors.problem_response(
                    500, "The service made a mistake.", f"Report it with the request id {request}."
                )
                await sorry(scope, receive, send_with_headers)
        finally:
            _note(service, scope, request, status, time.perf_counter() - began)


class AllowedHosts:
    """The names that are answered to: addresses and localhost always, others if they are named.

    With DNS rebinding, a page at a name of its own lets that name point to this machine; for the
    browser the service is then of the page's own origin, and the page may read all that it answers.
    The one thing that gives this away is the name in the request.
    """

    def __init__(self, bound: str, allowed: Iterable[str]) -> None:
        names = [one.lower().rstrip(".") for one in allowed]
        for name in names:
            if not _NAME.fullmatch(name) and not is_address(name):
                raise BadInput(
                    f"The allowed host {name!r} is not a name.",
                    "Write it without https:// and without a port, like search.example.com, or "
                    "*.example.com for all names below it, or * for any name.",
                )
        self._any = "*" in names
        self._names = frozenset([_LOCAL, bound.lower().rstrip("."), *names])
        self._below = tuple(name[1:] for name in names if name.startswith("*."))
        self._last: str | None = None

    def check(self, host: str | None) -> None:
        """Refuse a request for another host; None: it names none, as no browser does."""
        if host == self._last:
            return
        name = "" if host is None else host_name(host)
        if not name or self._any or name in self._names or is_address(name):
            self._last = host
            return
        if name.endswith(self._below) and len(name) <= _MAX_NAME_CHARACTERS:
            return
        name = name[:_MAX_NAME_CHARACTERS]
        raise RequestRefused(
            421,
            f"This service does not go by the name {name!r}.",
            f"If it should, start it with --allowed-host {name}.",
        )


def is_address(name: str) -> bool:
    """Return whether a host is an address, which no name server can point elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def host_name(host: str) -> str:
    """Return the name or address in a Host header, without port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().rstrip(".")


def origin_form(scope: Scope) -> str | None:
    """Make a request for a whole address one for its path; return the host that it names, if any.

    Such a request is `GET http://host/path`, as clients send it to proxies. What it says of the
    host counts, and its Host header does not (RFC 9112, 3.2.2).
    """
    target: bytes = scope.get("raw_path") or b""
    match = None if target.startswith(b"/") else _ABSOLUTE.match(target)
    if match is None:
        return None
    path = target[match.end() :] or b"/"
    scope["raw_path"], scope["path"] = path, unquote(path.decode("latin-1"))
    return match[1].decode("latin-1")


class RateLimiter:
    """A bucket of tokens per client, refilled at a rate; 0 lets everything through. Thread-safe."""

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, cost: float = 1.0) -> int:
        """Take tokens; return 0, or after how many seconds a client may ask again, who has none.

        What costs more than there is may be had on credit: the next has to wait for longer.
        """
        if not self._rate:
            return 0
        with self._lock:
            now = self._clock()
            tokens, then = self._buckets.pop(client, (float(self._burst), now))
            tokens = min(float(self._burst), tokens + (now - then) * self._rate)
            allowed = tokens >= 1.0
            self._buckets[client] = (tokens - cost if allowed else tokens, now)
            if len(self._buckets) > _MAX_CLIENTS:
                self._buckets.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((1.0 - tokens) / self._rate))


class VaryMiddleware:
    """Says of every answer that it depends on the site whose page asks: `Vary: Origin`.

    Pictures are kept for a year. Without this, a copy that the service's own page has fetched is
    given to a page of another site, too, which has no use for it: nothing in it lets that site in.
    It is said even where no site is let in, for one may be tomorrow.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                if all(name != b"vary" for name, _ in message["headers"]):
                    message["headers"] = [*message["headers"], _VARY]
                else:
                    # The layer that lets sites in says it, too, but only where there is one.
                    headers = MutableHeaders(scope=message)
                    lines = ",".join(headers.getlist("Vary")).split(",")
                    names = dict.fromkeys([*(one.strip() for one in lines), "Origin"])
                    headers["Vary"] = ", ".join(names)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _strip_root(root: str, scope: Scope) -> None:
    """Take the path below which the service lives from a request, unless a proxy has done so."""
    path: str = scope["path"]
    scope["root_path"] = root
    if root and (path == root or path.startswith(f"{root}/")):
        scope["path"] = path[len(root) :] or "/"
        raw: bytes = scope.get("raw_path") or b""
        if raw.startswith(root.encode()):
            scope["raw_path"] = raw[len(root) :] or b"/"


def _check_rate(service: Service, scope: Scope) -> None:
    client = scope.get("client")
    path = scope["path"]
    if client is None or path in _ALWAYS_ANSWERED or path.startswith(_PAGE):
        return
    wait = service.rate.wait(str(client[0]))
    if wait:
        raise RequestRefused(
            429,
            "These are more requests than one client may make.",
            f"Wait {wait} s.",
            {"Retry-After": str(wait)},
        )


LINES_TYPE = "application/x-ndjson"
"""The type of a body of JSON Lines."""


def _body_limit(settings: Settings, scope: Scope, headers: Headers) -> int:
    """Return how long the body of a request may be."""
    path, content_type = scope["path"], headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() == LINES_TYPE:
        return settings.lines_limit
    item = path.startswith("/v1/items/") and scope["method"] in ("PUT", "PATCH")
    form = (item or path == "/v1/sessions") and is_form(content_type)
    return settings.picture_limit if form or _EXAMPLES.fullmatch(path) else settings.body_limit


async def _read_body(limit: int, seconds: float, headers: Headers, receive: Receive) -> bytes:
    """Return the whole body; refuse one that is too long or does not come in time."""
    long = RequestRefused(413, f"The body is longer than {limit:,} bytes.")
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise long
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    # What was cut off is not what was meant, be it readable or not.
                    raise ClientDisconnect
                body += message.get("body", b"")
                if len(body) > limit:
                    raise long
                more = message.get("more_body", False)
    except TimeoutError:
        close = {"Connection": "close"}
        raise RequestRefused(408, "The body did not arrive in time.", headers=close) from None
    return bytes(body)


def _note(service: Service, scope: Scope, request: str, status: int, seconds: float) -> None:
    route = scope.get("route")
    call = getattr(route, "path_format", "unmatched")
    # Only methods that there are: every other word would become a figure of its own.
    method = scope["method"] if scope["method"] in getattr(route, "methods", ()) else "ANY"
    service.metrics.answered(method, call, status, seconds)
    if not LOGGER.isEnabledFor(logging.INFO):
        return
    fields = {
        "request": request,
        "method": method,
        "call": call,
        "status": status,
        "ms": round(seconds * 1000, 1),
    }
    session = scope.get("path_params", {}).get("id")
    if session is not None and call.startswith("/v1/sessions/"):
        fields["session"] = short_hash(session)
    text = scope.get("state", {}).get("text")
    if text is not None and service.settings.log_texts:
        fields["text"] = text
    LOGGER.info("answered", extra={"fields": fields})


def _receive_body(body: bytes, receive: Receive) -> Receive:
    """Return a source that gives the body once, and then what happens after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
