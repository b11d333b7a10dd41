"""Items, and the pages on which they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Item:
    """Something a person may look for."""

    id: str
    title: str = ""
    media: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """A slice of a session's ranking at one step.

    partial: part of the catalog could not be asked, so better items may be missing.
    """

    items: tuple[Item, ...]
    step: int
    offset: int
    limit: int
    total: int
    partial: bool = False

    @property
    def ids(self) -> list[str]:
        """The ids of the items, in their order."""
        return [item.id for item in self.items]

    def __len__(self) -> int:
        return len(self.items)
