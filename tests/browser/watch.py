"""What must not happen in a browser: errors in the console, blocked content, failed requests."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, ConsoleMessage, Request, Response, WebError

_LEFT = ("net::ERR_ABORTED", "NS_BINDING_ABORTED")
"""How browsers call a request that they gave up themselves, because the page went elsewhere."""


class Watch:
    """Notes every trouble in the windows it looks at; a test may say which it asks for."""

    def __init__(self) -> None:
        self._troubles: list[str] = []
        self._asked_for: list[re.Pattern[str]] = []

    def over(self, context: BrowserContext) -> None:
        """Look at every page of a context from now on."""
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("requestfailed", self._failed)
        context.on("response", self._response)

    def allow(self, pattern: str) -> None:
        """Do not mind troubles whose words match: this test brings them about."""
        self._asked_for.append(re.compile(pattern))

    @property
    def troubles(self) -> list[str]:
        """All that happened and was not asked for."""
        return [
            one
            for one in self._troubles
            if not any(pattern.search(one) for pattern in self._asked_for)
        ]

    def _console(self, message: ConsoleMessage) -> None:
        # A violation of the content security policy is an error in the console, too.
        if message.type == "error":
            place = message.location.get("url", "")
            self._troubles.append(f"console: {message.text} ({place})")

    def _error(self, error: WebError) -> None:
        self._troubles.append(f"script: {error.error}")

    def _failed(self, request: Request) -> None:
        if request.failure not in _LEFT:
            self._troubles.append(f"request: {request.method} {request.url}: {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            method = response.request.method
            self._troubles.append(f"answer: {method} {response.url}: {response.status}")
