"""Requests of one session take turns before they take a thread, so that others find one free.

So do changes of one catalog.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from seeker.engine import Busy

_MOST = 32


class Gate:
    """One turn per session or catalog; for one event loop."""

    def __init__(self) -> None:
        self._turns: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def turn(
        self, key: str, what: str = "this session", wait: float | None = None
    ) -> AsyncIterator[None]:
        """Wait for a turn; Busy if too many wait already, or after `wait` seconds.

        key: whose turn; what: said of it.
        """
        lock, users = self._turns.get(key, (asyncio.Lock(), 0))
        if users >= _MOST:
            raise Busy(f"Too many requests wait for {what}.")
        self._turns[key] = (lock, users + 1)
        try:
            try:
                async with asyncio.timeout(wait):
                    await lock.acquire()
            except TimeoutError:
                raise Busy(f"Other requests for {what} take long.") from None
            try:
                yield
            finally:
                lock.release()
        finally:
            lock, users = self._turns.pop(key)
            if users > 1:
                self._turns[key] = (lock, users - 1)
