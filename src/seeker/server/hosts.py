"""Which names the service answers to: a website cannot make a browser ask it under its own name.

With DNS rebinding, a page at a name of its own lets that name point to this machine; for the
browser the service is then of the page's own origin, and the page may read all that it answers. The
one thing that gives this away is the name in the request.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import unquote

from starlette.types import Scope

from seeker.errors import BadInput
from seeker.server.errors import RequestRefused

LOCAL = "localhost"
_NAME = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*|\*")
_ABSOLUTE = re.compile(rb"https?://([^/]*)", re.IGNORECASE)
_MAX_NAME_CHARACTERS = 253


class AllowedHosts:
    """The names that are answered to: addresses and localhost always, others if they are named."""

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
        self._names = frozenset([LOCAL, bound.lower().rstrip("."), *names])
        self._below = tuple(name[1:] for name in names if name.startswith("*."))

    def check(self, host: str | None) -> None:
        """Refuse a request for another host; None: it names none, as no browser does."""
        name = "" if host is None else host_name(host)
        if not name or self._any or name in self._names or is_address(name):
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
