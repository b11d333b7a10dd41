"""Calls over HTTP: retried where that is safe, with errors as Seeker's own."""

from __future__ import annotations

import json
import math
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import httpx

from seeker.errors import BadInput, Conflict, Gone, NotFound, SeekerError

_MAX_ATTEMPTS = 5
_MAX_WAIT_SECONDS = 5.0


class UnreachableError(SeekerError):
    """The server does not answer, or answers with what only its keeper can mend."""

    exit_code = 5
    http_status = 503


class DeniedError(SeekerError):
    """The server does not do this for this client: a key is missing, or there was too much."""


class SessionConflict(Conflict):
    """A conflict; session: the session's response as it is now, if the server sent it."""

    def __init__(self, message: str, hint: str, session: Mapping[str, Any] | None) -> None:
        super().__init__(message, hint)
        self.session = session


class Transport:
    """Connections to one server."""

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise BadInput(f"{url!r} is not the address of a server.", "Write http://host:port.")
        if not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
            raise BadInput(f"timeout is {timeout!r}, but it must be a number of seconds above 0.")
        self._url = url.rstrip("/")
        headers = {"Accept": "application/json"}
        if key is not None:
            headers["Authorization"] = f"Bearer {_check_key(key)}"
        try:
            if not httpx.URL(url).host:
                raise httpx.InvalidURL("it names no host")
            self._http = httpx.Client(base_url=self._url, headers=headers, timeout=timeout)
        except httpx.InvalidURL as error:
            raise BadInput(f"{url!r} is not the address of a server: {error}.") from None

    def address(self, path: str) -> str:
        """Return the full address of something on the server."""
        return self._url + path

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        key: str | None = None,
        has: str | None = "id",
        lines: Sequence[Mapping[str, Any]] | None = None,
        picture: bytes | None = None,
    ) -> dict[str, Any]:
        """Call the server; every POST carries a key, so that trying again does nothing twice.

        has: what a response has at least; None where there is none. lines: to be sent as JSON Lines
        in the place of a body. picture: the contents of a file that goes with the body.
        """
        headers, sent, parts = {}, None, None
        if lines is not None:
            headers = {"Content-Type": "application/x-ndjson"}
            sent = b"\n".join(map(_to_json, lines))
        elif method in ("POST", "PUT", "PATCH"):
            if method == "POST":
                headers["Idempotency-Key"] = key or uuid.uuid4().hex
            sent = _to_json(body or {})
            if picture is None:
                headers["Content-Type"] = "application/json"
            else:
                parts = {"request": (None, sent), "picture": ("picture", picture)}
                sent = None
        failure = ""
        for attempt in range(_MAX_ATTEMPTS):
            try:
                response = self._http.request(
                    method, path, content=sent, files=parts, headers=headers
                )
            except httpx.RequestError as error:
                failure = str(error) or type(error).__name__
                _wait(attempt, None)
                continue
            retry_after = response.headers.get("Retry-After")
            if retry_after is not None and attempt + 1 < _MAX_ATTEMPTS:
                _wait(attempt, retry_after)
                continue
            content = _read(response)
            if has is not None and has not in content:
                raise UnreachableError(
                    f"What answers at {self._url} is not a Seeker service.", "Check the address."
                )
            return content
        raise UnreachableError(f"The server at {self._url} does not answer ({failure}).")

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


def path_segment(name: object) -> str:
    """Return an id or a name as a part of an address."""
    if not isinstance(name, str) or not name:
        raise BadInput(f"{name!r} is neither an id nor a name.", "Use a text that is not empty.")
    return quote(name, safe="", errors="replace")


def _check_key(key: object) -> str:
    """Return an API key if it can be one; it is a secret, so that no error shows it."""
    if not isinstance(key, str) or not key or not key.isascii() or not key.isprintable():
        raise BadInput("The API key is not one that `seeker keys` makes.", "Give it as it was.")
    return key


def _wait(attempt: int, retry_after: str | None) -> None:
    """Wait as long as the server asks, or ever longer; apart from others who wait, too."""
    least = (
        float(retry_after)
        if retry_after is not None and retry_after.isdecimal()
        else 0.1 * 2**attempt
    )
    time.sleep(min(_MAX_WAIT_SECONDS, least) * random.uniform(1.0, 1.25))


def _to_json(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError) as error:
        raise BadInput(f"This cannot be sent as JSON: {error}.") from None


def _plain(value: Any) -> Any:
    """Return arrays and the like as lists, sets in an order."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _read(response: httpx.Response) -> dict[str, Any]:
    if response.status_code == 204:
        return {}
    try:
        content = response.json()
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UnreachableError(f"The server answered {response.status_code}, but not with JSON.")
    if response.is_success:
        return content
    message, hint = str(content.get("detail", "The server refused.")), str(content.get("hint", ""))
    match response.status_code:
        case 404:
            raise NotFound(message, hint)
        case 410:
            raise Gone(message, hint)
        case 409:
            raise SessionConflict(message, hint, content.get("session"))
        case 400 | 413 | 422:
            raise BadInput(message, hint)
        case 401 | 403 | 429:
            raise DeniedError(message, hint)
        case _:
            raise UnreachableError(message, hint)
