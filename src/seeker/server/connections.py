"""Connections: answers leave in one piece, and nobody can hold a connection for nothing.

A request must arrive in time, an answer must be taken in time, there are no more connections than
the process has descriptors for, and who is refused while still sending gets to read why. The body
of a request has a limit of its own, in the middleware, where it can be answered.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from seeker.server.errors import MEDIA_TYPE, problem_response
from seeker.server.logging import LOGGER, LogThrottle
from seeker.server.placement import receive, this_worker

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as UsualProtocol
else:
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
    except ImportError:
        from uvicorn.protocols.http.h11_impl import H11Protocol as UsualProtocol
    else:

        class UsualProtocol(HttpToolsProtocol):
            """The quicker of two parsers, with what the other one sees to by itself.

            The head of a request has a limit, and what it says of the host is not lost where it
            asks for a whole address.
            """

            _head_bytes = 0

            def on_message_begin(self) -> None:
                super().on_message_begin()
                self._head_bytes = 0

            def on_headers_complete(self) -> None:
                self._head_bytes = None
                whole = not self.url.startswith(b"/")
                if whole and self.url.count(b"/") == 2:
                    self.url += b"/"  # http://host means http://host/
                super().on_headers_complete()
                if whole:
                    self.scope["raw_path"] = self.url.partition(b"?")[0]

            def data_received(self, data: bytes) -> None:
                super().data_received(data)
                if self._head_bytes is not None:
                    self._head_bytes += len(data)
                    if self._head_bytes > _MAX_HEAD_BYTES:
                        self.send_400_response("The head of this request is too long.")


BACKLOG = 2048
_MAX_DESCRIPTORS = 65_536
"""How many descriptors are asked for; the usual 1,024 are few for people who keep connections."""
_OTHER_DESCRIPTORS = 64
"""For files and databases that are opened later."""
_MAX_HEAD_BYTES = 65_536
_MAX_BATCH_BYTES = 65_536
_MAX_DISCARDED_BYTES = 64_000_000
"""How much of a request that is refused already is read on, so that its sender reads why."""
_FULL_BODY = problem_response(
    503, "The service has as many connections as it can.", "Try again in a second."
).body
_FULL = b"".join(
    [
        b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n",
        f"Content-Type: {MEDIA_TYPE}\r\nContent-Length: {len(_FULL_BODY)}\r\n\r\n".encode(),
        _FULL_BODY,
    ]
)
"""What is said to who comes when there is no room: it takes no request to say that."""


class ConnectionLimit:
    """How many connections a process may have; who comes beyond is told so, and the log once.

    closing: whether the server has stopped. It ends the connections that it knows then, and waits
    for them: one that was accepted just before would be served on until nobody waits any longer.
    """

    def __init__(self, most: int, spare: int) -> None:
        self.most = most
        self.closing = False
        self._known: set[Any] | None = None
        self._spare = spare
        self._throttle = LogThrottle()

    def join(self, connections: set[Any]) -> None:
        """Be told of the stop like the connections themselves."""
        if self._known is None:
            self._known = connections
            connections.add(self)

    def shutdown(self) -> None:
        """Take the stop in: as all connections do, but nobody has to wait for this."""
        self.closing = True
        if self._known is not None:
            self._known.discard(self)

    def reached(self, count: int) -> bool:
        """Return whether the last of so many connections is one too many."""
        if count <= self.most:
            return False
        if self._throttle.due():
            LOGGER.warning("too many connections", extra={"fields": {"connections": self.most}})
        return True

    def passed(self, count: int) -> bool:
        """Return whether there is not even room to say so."""
        return count > self.most + self._spare


def connection_room() -> tuple[int, int]:
    """Return how many connections a process may have, and how many may be accepted at once.

    The descriptors that the system gives a process are for files and databases, too, and a process
    that has none left can neither answer nor say so.
    """
    try:
        import resource
    except ImportError:
        return _MAX_DESCRIPTORS, BACKLOG
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MAX_DESCRIPTORS)
    if soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    room = soft - len(os.listdir("/dev/fd")) - _OTHER_DESCRIPTORS
    backlog = max(1, min(BACKLOG, room // 16))
    # Connections are accepted before they can be counted and closed a little after they are turned
    # away: up to four turns of the event loop, a backlog in each, and those that are told why.
    return max(1, room - 5 * backlog), backlog


class AnswerTransport(asyncio.Transport):
    """A transport for answers: in one piece, to those who take them, and to the end.

    What is written in one turn of the event loop, head and body of an answer, is one call of the
    system and one packet. Who takes in nothing for some seconds is hung up on. And a connection on
    which the other side is still sending is closed for writing first: if it were closed as a whole,
    the answer would be lost to whoever does not read before having sent all.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        seconds: float,
        still_sending: Callable[[], bool],
    ) -> None:
        super().__init__()
        self.lingering = False
        self._transport = transport
        self._loop = loop
        self._seconds = seconds
        self._still_sending = still_sending
        self._batch: list[bytes | bytearray | memoryview] = []
        self._batch_bytes = 0
        self._written_bytes = 0
        self._taken_bytes = 0
        self._discarded_bytes = 0
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send something, with what else is written before the loop's next turn."""
        if not data or self.lingering:
            return
        if not self._batch:
            self._loop.call_soon(self.flush)
        self._batch.append(data)
        self._batch_bytes += len(data)
        if self._batch_bytes > _MAX_BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send now what was written."""
        if self._batch:
            data = b"".join(self._batch)
            self._batch, self._batch_bytes = [], 0
            self._transport.write(data)
            self._written_bytes += len(data)
            self._watch()

    def close(self) -> None:
        """Hang up when all is sent, and when the other side has sent all."""
        if self.lingering:
            return
        if self._still_sending() and not self._transport.is_closing():
            self.linger()
        else:
            self.hang_up()

    def hang_up(self) -> None:
        """Hang up when all is sent, whatever the other side does."""
        self.flush()
        self._transport.close()

    def linger(self) -> None:
        """Say that nothing more will be said, and let the other side finish, within bounds."""
        self.flush()
        self.lingering = True
        self._timers["linger"] = self._loop.call_later(self._seconds, self.abort)
        try:
            self._transport.write_eof()
            self._transport.resume_reading()
        except OSError:
            self.abort()  # They have left meanwhile.

    def discard(self, data: bytes) -> None:
        """Take in what nobody will read; not without end."""
        self._discarded_bytes += len(data)
        if self._discarded_bytes > _MAX_DISCARDED_BYTES:
            self.abort()

    def abort(self) -> None:
        """Hang up at once, and let the system forget what was not taken in yet."""
        self._batch, self._batch_bytes = [], 0
        with suppress(OSError):
            connected = self._transport.get_extra_info("socket")
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def forget(self) -> None:
        """Wait for nothing any longer: the connection is gone."""
        for timer in self._timers.values():
            timer.cancel()

    def _watch(self) -> None:
        """Look after some seconds whether anything was taken in, as long as something is to be."""
        if "watch" not in self._timers and self._transport.get_write_buffer_size():
            self._timers["watch"] = self._loop.call_later(self._seconds, self._look)

    def _look(self) -> None:
        del self._timers["watch"]
        left = self._transport.get_write_buffer_size()
        taken = self._written_bytes - left
        if left and taken == self._taken_bytes:
            self.abort()
            return
        self._taken_bytes = taken
        self._watch()

    def is_closing(self) -> bool:
        """Return whether it is hung up, or about to be."""
        return self.lingering or self._transport.is_closing()

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


class TimeoutProtocol(UsualProtocol):
    """The usual connection, but none on which somebody begins something and does not go on.

    A thousand of those would take all connections that a process may have. Where there are other
    workers, one with a request for a session of theirs is handed to them. passed: what another has
    read of a connection that it has handed to this process.
    """

    _answering: AnswerTransport

    def __init__(
        self, *args: Any, seconds: float, limit: ConnectionLimit, passed: bytes = b"", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._seconds = seconds
        self._limit = limit
        self._passed = passed
        self._worker = this_worker()
        self._deadline: asyncio.TimerHandle | None = None
        self._unreadable = False
        self._surplus_bytes = 0
        limit.join(self.connections)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a first request."""
        # The event loop does this only for sockets that were made with the number of TCP, which
        # ours are not. Without it, the end of an answer waits until its beginning was acknowledged,
        # and the other side acknowledges no sooner than after 40 ms.
        connected = transport.get_extra_info("socket")
        if self._worker is not None and connected.family == socket.AF_UNIX:
            self._receive(transport)
            return
        if connected.family in (socket.AF_INET, socket.AF_INET6):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answering = AnswerTransport(
            transport, self.loop, self._seconds, self._is_still_sending
        )
        super().connection_made(self._answering)
        if self._limit.closing:
            self._answering.hang_up()
        elif self._limit.reached(len(self.connections) - 1):  # the limit itself is one of them
            self._turn_away()
        else:
            self._wait()
            if self._passed:
                self._take_in(self._passed)

    def data_received(self, data: bytes) -> None:
        """Take in what has come, or leave it to the worker it is for."""
        if self._answering.lingering:
            self._answering.discard(data)
        elif not self._pass_on(data):
            self._take_in(data)

    def _take_in(self, data: bytes) -> None:
        """Take in what has come; whatever is begun must be complete in time."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
            self._surplus_bytes = 0
            return
        if self._deadline is None:
            self._wait()
        # The rest of a request that was answered before it was read to its end.
        self._surplus_bytes += len(data)
        if self._surplus_bytes > _MAX_DISCARDED_BYTES:
            self._answering.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; who sends more of it may finish that."""
        self._unreadable = True
        super().send_400_response(msg)

    def on_response_complete(self) -> None:
        """Send the answer without waiting for the loop's next turn."""
        self._answering.flush()
        super().on_response_complete()

    def shutdown(self) -> None:
        """End with the server; who was answered already is waited for no longer."""
        if self._answering.lingering:
            self._answering.abort()
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        self._answering.forget()
        super().connection_lost(exc)

    def _receive(self, transport: asyncio.Transport) -> None:
        """Take over, from another worker, a connection that comes by this one."""
        transport.pause_reading()
        way = socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno()))
        transport.set_protocol(asyncio.Protocol())
        transport.close()
        receive(self.loop, way, self._adopt)

    def _adopt(self, connection: socket.socket, data: bytes) -> None:
        def protocol() -> TimeoutProtocol:
            return TimeoutProtocol(
                self.config,
                self.server_state,
                self.app_state,
                seconds=self._seconds,
                limit=self._limit,
                passed=data,
            )

        async def adopt() -> None:
            with suppress(OSError):  # They may have left meanwhile.
                await self.loop.connect_accepted_socket(protocol, connection)

        connection.setblocking(False)
        task = self.loop.create_task(adopt())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def _pass_on(self, data: bytes) -> bool:
        """Hand this connection to the worker that a request is for; return whether it is gone."""
        if self._worker is None or self._surplus_bytes or self._unreadable:
            return False
        if self.cycle is not None and (self.cycle.more_body or not self.cycle.response_complete):
            return False
        slot = self._worker.elsewhere(data)
        if slot is None or self._answering.get_write_buffer_size():
            return False
        connected = self._answering.get_extra_info("socket")
        if not self._worker.pass_on(slot, connected.fileno(), data):
            return False
        # Only this process lets go of it: the other has a descriptor of its own.
        self._answering.hang_up()
        return True

    def _is_still_sending(self) -> bool:
        return self._unreadable or (self.cycle is not None and self.cycle.more_body)

    def _turn_away(self) -> None:
        if self._limit.passed(len(self.connections) - 1):
            self._answering.abort()
        else:
            self._answering.write(_FULL)
            self._answering.linger()

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(self._seconds, self._answering.hang_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
