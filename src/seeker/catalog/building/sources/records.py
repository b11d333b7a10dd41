"""Records that a program makes itself, as a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from seeker.catalog.building.record import Offer, Problem, Record


class Records:
    """Items from a function that yields them anew, and in the same order, each time it is called.

    offer: what views can be made of. origin: what catalog.json says about where they come from.
    """

    loose = False

    def __init__(
        self,
        records: Callable[[], Iterable[Record | Problem]],
        offer: Offer,
        origin: Mapping[str, Any],
        count: int | None = None,
    ) -> None:
        self._records = records
        self._origin = dict(origin)
        self._count = count
        self.offer = offer

    def origin(self) -> dict[str, Any]:
        """Return where the items come from."""
        return dict(self._origin)

    def notes(self) -> list[str]:
        """Return nothing: nothing was guessed."""
        return []

    def count(self) -> int | None:
        """Return how many records there are, if that was said."""
        return self._count

    def records(self) -> Iterator[Record | Problem]:
        """Yield everything in order."""
        return iter(self._records())
