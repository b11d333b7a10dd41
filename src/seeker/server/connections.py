"""Connections: answers leave in one piece and at once, and a request must arrive in time.

The body of a request has a limit of its own, at the edge, where it can be answered.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as UsualProtocol
else:
    # The quicker one of two that have the same parts, if it is installed.
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as UsualProtocol

_LARGEST_BATCH_BYTES = 65_536


class CoalescingTransport(asyncio.Transport):
    """A transport that sends what is written in one turn of the event loop in one piece.

    Head and body of an answer are written one after the other; in one piece they are one call of
    the system and one packet.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._batch: list[bytes | bytearray | memoryview] = []
        self._batch_bytes = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send something, with what else is written before the loop's next turn."""
        if not data:
            return
        if not self._batch:
            self._loop.call_soon(self.flush)
        self._batch.append(data)
        self._batch_bytes += len(data)
        if self._batch_bytes > _LARGEST_BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send now what was written."""
        if self._batch:
            data = b"".join(self._batch)
            self._batch, self._batch_bytes = [], 0
            self._transport.write(data)

    def close(self) -> None:
        """Hang up when all is sent."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Hang up at once."""
        self._batch, self._batch_bytes = [], 0
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether it is hung up, or about to be."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return what is known of the connection."""
        return self._transport.get_extra_info(name, default)

    def get_write_buffer_size(self) -> int:
        """Return how many bytes are not yet sent."""
        return self._batch_bytes + self._transport.get_write_buffer_size()

    def is_reading(self) -> bool:
        """Return whether what comes is taken in."""
        return self._transport.is_reading()

    def pause_reading(self) -> None:
        """Leave what comes where it is."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Take in what comes."""
        self._transport.resume_reading()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Give the connection to another protocol."""
        self._transport.set_protocol(protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return who is told of what comes."""
        return self._transport.get_protocol()


class PunctualProtocol(UsualProtocol):
    """The usual connection, but none on which somebody begins a request and does not go on.

    A thousand of those would take all connections that a process may have.
    """

    def __init__(self, *given: Any, seconds: float, **named: Any) -> None:
        super().__init__(*given, **named)
        self._seconds = seconds
        self._deadline: asyncio.TimerHandle | None = None
        self._coalescing: CoalescingTransport | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a first request."""
        # The event loop does this only for sockets that were made with the number of TCP, which
        # ours are not. Without it, the end of an answer waits until its beginning was acknowledged,
        # and the other side acknowledges no sooner than after 40 ms.
        connected = transport.get_extra_info("socket")
        if connected.family in (socket.AF_INET, socket.AF_INET6):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._coalescing = CoalescingTransport(transport, self.loop)
        super().connection_made(self._coalescing)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take in what has come; whatever is begun must be complete in time."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def on_response_complete(self) -> None:
        """Send the answer without waiting for the loop's next turn."""
        if self._coalescing is not None:
            self._coalescing.flush()
        super().on_response_complete()

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
