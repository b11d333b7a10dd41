"""Event stores: where sessions live. Memory, SQLite and PostgreSQL keep one contract."""

from seeker.stores.base import (
    ClockReading,
    DamagedSession,
    IdempotencyKey,
    IdempotencyRecord,
    StaleWriteError,
    Store,
    StoredSession,
    StoreError,
    StoreFull,
    Timeouts,
    pseudonym,
)
from seeker.stores.memory import MemoryStore
from seeker.stores.opening import open_existing, open_store

__all__ = [
    "ClockReading",
    "DamagedSession",
    "IdempotencyKey",
    "IdempotencyRecord",
    "MemoryStore",
    "StaleWriteError",
    "Store",
    "StoreError",
    "StoreFull",
    "StoredSession",
    "Timeouts",
    "open_existing",
    "open_store",
    "pseudonym",
]
