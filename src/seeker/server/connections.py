"""Connections on which a request must arrive in time: who dawdles is hung up on.

The body of a request has a limit of its own, at the edge, where it can be answered.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as UsualProtocol
else:
    # The quicker one of two that have the same parts, if it is installed.
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as UsualProtocol


class PunctualProtocol(UsualProtocol):
    """The usual connection, but none on which somebody begins a request and does not go on.

    A thousand of those would take all connections that a process may have.
    """

    def __init__(self, *given: Any, seconds: float, **named: Any) -> None:
        super().__init__(*given, **named)
        self._seconds = seconds
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take in what has come; whatever is begun must be complete in time."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(self._seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
