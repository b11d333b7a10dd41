"""Stores by their address."""

from __future__ import annotations

from seeker.stores.base import Store
from seeker.stores.memory import MemoryStore

MEMORY = "memory:"


def open_store(address: str) -> Store:
    """Open a store: "memory:", the address of a PostgreSQL database, or a file for SQLite."""
    if address == MEMORY:
        return MemoryStore()
    if address.startswith(("postgresql://", "postgres://")):
        from seeker.stores.postgres import PostgresStore

        return PostgresStore(address)
    from seeker.stores.sqlite import SqliteStore

    return SqliteStore(address.removeprefix("sqlite:///"))
