"""Event stores: where sessions live. Memory, SQLite and PostgreSQL keep one contract."""

from __future__ import annotations

from pathlib import Path

from seeker.errors import NotFound
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

MEMORY = "memory:"


def open_store(address: str, timeouts: Timeouts | None = None) -> Store:
    """Open a store: "memory:", the address of a PostgreSQL database, or a file for SQLite."""
    timeouts = timeouts or Timeouts()
    if address == MEMORY:
        return MemoryStore()
    if address.startswith(("postgresql://", "postgres://")):
        from seeker.stores.postgres import PostgresStore

        return PostgresStore(address, timeouts)
    from seeker.stores.sqlite import SqliteStore

    return SqliteStore(address.removeprefix("sqlite:///"), timeouts)


def open_existing(address: str) -> Store:
    """Open a store that is there; looking at one must not make one."""
    if "://" not in address and not Path(address).is_file():
        raise NotFound(f"There is no store '{address}'.", "Name it with --store.")
    return open_store(address)


__all__ = [
    "MEMORY",
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
