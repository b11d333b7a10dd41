"""Which worker process has a session, and how the connections of its people get there.

All workers accept connections at one address, so anybody's request may come to any of them. What is
known of a session should be in the memory of one. So its id tells a slot, a worker has that slot,
and a connection with a request for the session of another is handed to it, with what was read of it
already. From then on that connection is the other's. Nobody has to be asked for this and nothing is
waited for: where a worker cannot be reached, the request is answered where it is, from the store.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
import struct
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

from seeker.catalog.file_lock import file_lock
from seeker.errors import Conflict

_REQUEST = re.compile(
    rb"(?:POST [^ ?]*/v1/sessions(?P<start>[ ?])"
    rb"|[A-Z]+ [^ ?]*/v1/(?:sessions|shared)/(?P<id>[A-Za-z0-9_-]+)[/? ])"
)
"""The beginning of a request that starts a session, or that is about one."""

_MAX_HEAD_BYTES = 4096
"""How much of a request is looked at."""
_MAX_PASSED_BYTES = 65_536
"""A request of which more has come is answered where it is: it might not be sent on at once."""
_MAX_PATH_BYTES = 100
"""The address of a socket may have little more on any system."""
_LENGTH = struct.Struct("!I")


class WorkerSlot:
    """The slot of this process among those of a service, and the way to the others.

    folder: which all workers know for their figures, and nobody else may enter. number: None as
    long as all slots are taken, which is so while one worker replaces another. passed: how many
    connections were handed to others.
    """

    def __init__(self, folder: Path, workers: int) -> None:
        self.number: int | None = None
        self.passed = 0
        self._folder = folder
        self._workers = workers
        self._starts = cycle(range(workers))
        self._locks = ExitStack()
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._new_path = str(folder / f"{secrets.token_hex(8)}.new")
        self.listening.bind(self._new_path)
        self.claim()

    def claim(self) -> None:
        """Take a slot that is free, unless this process has one; the system frees it at its end."""
        for number in range(self._workers if self.number is None else 0):
            try:
                self._locks.enter_context(
                    file_lock(self._folder / f"{number}.lock", "This slot is taken")
                )
            except Conflict:
                continue
            os.replace(self._new_path, self._path(number))
            self.number = number
            holder = self._folder / f"{number}.pid"
            if holder.exists():
                # What it had in memory is nowhere now.
                dead = int(holder.read_text())
                mark_process_dead(dead, str(self._folder))  # type: ignore[no-untyped-call]
            holder.write_text(str(os.getpid()))
            return

    def close(self) -> None:
        """Be reached by nobody, and leave the slot to another."""
        self.listening.close()
        self._locks.close()
        self.number = None

    def owns(self, id: str) -> bool:
        """Return whether a session with this id is one of this process."""
        return self.number is None or self._slot(id.encode()) == self.number

    def elsewhere(self, data: bytes) -> int | None:
        """Return the slot in which a request should be answered; None: here.

        data: the beginning of the request. Sessions are dealt out in turn when they start.
        """
        match = _REQUEST.match(data, 0, _MAX_HEAD_BYTES)
        if match is None or len(data) > _MAX_PASSED_BYTES:
            return None
        slot = next(self._starts) if match["start"] else self._slot(match["id"])
        return None if slot == self.number else slot

    def pass_on(self, slot: int, descriptor: int, data: bytes) -> bool:
        """Hand a connection to the worker in a slot; return whether it is that one's now.

        data: what was read of it already.
        """
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as way:
            way.setblocking(False)
            message = _LENGTH.pack(len(data)) + data
            try:
                way.connect(self._path(slot))
                sent = socket.send_fds(way, [message], [descriptor])
            except OSError:
                return False  # It is not there, or has more to do than it can.
        if sent < len(message):
            return False
        self.passed += 1
        return True

    def _slot(self, id: bytes) -> int:
        return zlib.crc32(id) % self._workers

    def _path(self, slot: int) -> str:
        return str(self._folder / f"{slot}.socket")


_this_worker: WorkerSlot | None = None


def this_worker() -> WorkerSlot | None:
    """Return the slot of this process; None if there are no other workers."""
    return _this_worker


class SlotListener:
    """What becomes, in a worker process that is given it, the socket by which others reach that."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._arguments = (folder, workers)

    @staticmethod
    def possible(folder: Path) -> bool:
        """Return whether connections can be handed over here."""
        return hasattr(socket, "send_fds") and len(os.fsencode(folder)) < _MAX_PATH_BYTES - 16

    def __reduce__(self) -> tuple[Callable[[Path, int], socket.socket], tuple[Path, int]]:
        return _open_slot, self._arguments


def _open_slot(folder: Path, workers: int) -> socket.socket:
    global _this_worker
    _this_worker = WorkerSlot(folder, workers)
    return _this_worker.listening


def receive(
    loop: asyncio.AbstractEventLoop,
    way: socket.socket,
    adopt: Callable[[socket.socket, bytes], None],
) -> None:
    """Take in a connection that another worker hands over, and what that has read of it.

    way: from that worker, and closed in the end. adopt: called with both, if they have come whole.
    """
    way.setblocking(False)
    message = bytearray()
    connections: list[socket.socket] = []

    def read() -> bool:
        """Take in what is there; return whether that was all there will be."""
        try:
            part, descriptors, _, _ = socket.recv_fds(way, _MAX_PASSED_BYTES, 1)
        except BlockingIOError:
            return False
        except OSError:
            part, descriptors = b"", []
        message.extend(part)
        connections.extend(socket.socket(fileno=one) for one in descriptors)
        missing = _missing_bytes(message)
        if part and missing:
            return False
        loop.remove_reader(way)
        way.close()
        if len(connections) == 1 and not missing:
            adopt(connections[0], bytes(message[_LENGTH.size :]))
        else:
            # Whoever began to hand it over is gone, or answers by itself.
            for one in connections:
                one.close()
        return True

    # Mostly all of it is there already.
    if not read():
        loop.add_reader(way, read)


def _missing_bytes(message: bytearray) -> int:
    """Return how many bytes, at least, a message does not have yet that begins with its length."""
    if len(message) < _LENGTH.size:
        return _LENGTH.size - len(message)
    length: int = _LENGTH.unpack_from(message)[0]
    return max(0, length + _LENGTH.size - len(message))
