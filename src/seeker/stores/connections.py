"""Connections to a database, one for each thread that asks, for as long as it lives."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """What can be closed."""

    def close(self) -> None:
        """Let go of it."""
        ...


Connection = TypeVar("Connection", bound=Closable)


class _Held(Generic[Connection]):
    """A connection that is closed when its thread ends: servers' threads come and go."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


class Connections(Generic[Connection]):
    """Connections by thread; usable: whether one that was opened earlier still is one."""

    def __init__(
        self, open: Callable[[], Connection], usable: Callable[[Connection], bool] = lambda _: True
    ) -> None:
        self._open = open
        self._usable = usable
        self._lock = threading.Lock()
        self._local = threading.local()
        self._all: weakref.WeakSet[_Held[Connection]] = weakref.WeakSet()

    def get(self) -> Connection:
        """Return this thread's connection."""
        held: _Held[Connection] | None = getattr(self._local, "held", None)
        if held is None or not self._usable(held.connection):
            held = self._local.held = _Held(self._open())
            with self._lock:
                self._all.add(held)
        return held.connection

    def close(self) -> None:
        """Close all connections, whoever has them."""
        with self._lock:
            for held in list(self._all):
                held.connection.close()
            self._all.clear()
            self._local = threading.local()
