"""Requests of one session take turns before they take a thread, so that others find one free."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from seeker.engine import Busy

_MOST = 32


class Gate:
    """One turn per session; for one event loop."""

    def __init__(self) -> None:
        self._turns: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def turn(self, session: str) -> AsyncIterator[None]:
        """Wait for the session's turn; Busy if too many wait already."""
        lock, users = self._turns.get(session, (asyncio.Lock(), 0))
        if users >= _MOST:
            raise Busy("Too many requests wait for this session.")
        self._turns[session] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._turns.pop(session)
            if users > 1:
                self._turns[session] = (lock, users - 1)
