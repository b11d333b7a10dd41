"""Facets: how the values of an attribute are spread over the items that pass a filter."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from seeker.catalog.values import Kind


@dataclass(frozen=True)
class Facet:
    """One attribute's values.

    known: how many items have a value. values: the most frequent ones, with how many items have
    them; empty for numbers, which have a low and a high instead. distinct: how many there are.
    """

    name: str
    kind: Kind
    known: int
    distinct: int
    values: tuple[tuple[str | bool, int], ...] = ()
    low: float | None = None
    high: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the facet as plain JSON values."""
        return {
            **asdict(self),
            "values": [{"value": value, "count": count} for value, count in self.values],
        }
