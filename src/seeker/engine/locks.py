"""One lock per session, for as long as somebody wants it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Locks:
    """Locks by name; those that nobody holds or waits for take no memory."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """Wait for a lock and hold it."""
        with self._guard:
            lock, users = self._locks.get(name, (threading.Lock(), 0))
            self._locks[name] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._locks.pop(name)
                if users > 1:
                    self._locks[name] = (lock, users - 1)

    def wanted(self, name: str) -> bool:
        """Return whether somebody holds or waits for a lock."""
        return name in self._locks
