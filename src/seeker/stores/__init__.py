"""Event stores: where sessions live. Memory, SQLite and PostgreSQL keep one contract."""

from seeker.stores.base import Kept, Key, Remembered, Stale, Store, StoreFailed
from seeker.stores.memory import MemoryStore
from seeker.stores.opening import open_existing, open_store

__all__ = [
    "Kept",
    "Key",
    "MemoryStore",
    "Remembered",
    "Stale",
    "Store",
    "StoreFailed",
    "open_existing",
    "open_store",
]
