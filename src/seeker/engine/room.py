"""How many sessions one may have."""

from __future__ import annotations

from seeker.errors import SeekerError
from seeker.stores import Store


class TooMany(SeekerError):
    """More than one may have."""

    http_status = 429
    title = "That is too much"


class Room:
    """How many sessions each API key may have; limit: 0 for any number."""

    def __init__(self, store: Store, limit: int) -> None:
        self._store = store
        self._limit = limit

    def check(self, owner: str | None, beside: int = 0) -> None:
        """Refuse if an API key has too many sessions, or would have with so many beside them."""
        if owner is not None and self._limit and self._store.count(owner) + beside > self._limit:
            raise TooMany(
                f"This API key has {self._limit:,} sessions, and may have no more.",
                "Delete some, or wait until they expire.",
            )
