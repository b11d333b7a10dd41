"""Event stores: where sessions live. Memory, SQLite and PostgreSQL keep one contract."""

from seeker.stores.base import (
    ClockReading,
    DamagedSession,
    Kept,
    Key,
    Remembered,
    Stale,
    Store,
    StoreFailed,
    StoreFull,
    Timeouts,
)
from seeker.stores.memory import MemoryStore
from seeker.stores.opening import open_existing, open_store

__all__ = [
    "ClockReading",
    "DamagedSession",
    "Kept",
    "Key",
    "MemoryStore",
    "Remembered",
    "Stale",
    "Store",
    "StoreFailed",
    "StoreFull",
    "Timeouts",
    "open_existing",
    "open_store",
]
