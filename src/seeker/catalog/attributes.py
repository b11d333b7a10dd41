"""Attributes of items, as they are given in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seeker.catalog.given import one_per_item
from seeker.errors import BadInput


class Attributes:
    """What is known of the items beside their vectors: by name, one value per item or None."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._columns = columns

    @classmethod
    def of(cls, given: Any, ids: Sequence[str]) -> Attributes:
        """Check attributes given as one mapping per item, or as one column per name."""
        if given is None:
            return cls({})
        if hasattr(given, "keys"):
            # What dict() takes, too: a mapping, or a data frame.
            columns = {
                name: one_per_item(f"The attribute {name!r}", column)
                for name, column in dict(given).items()
            }
            for name, column in columns.items():
                if len(column) != len(ids):
                    raise BadInput(
                        f"The attribute {name!r} has {len(column)} values for {len(ids)} items."
                    )
        elif isinstance(given, Sequence) and all(isinstance(one, Mapping) for one in given):
            if len(given) != len(ids):
                raise BadInput(f"There are attributes for {len(given)} items, but {len(ids)} ids.")
            names = dict.fromkeys(name for one in given for name in one)
            columns = {name: tuple(one.get(name) for one in given) for name in names}
        else:
            raise BadInput(
                "The attributes are not in a form that can be read.",
                "Give one mapping per item, or one list of values per name.",
            )
        for name in columns:
            if not isinstance(name, str):
                raise BadInput(f"{name!r} is not a name for an attribute.", "Use a text.")
        return cls(columns)

    @property
    def names(self) -> list[str]:
        """The names of the attributes."""
        return list(self._columns)

    def at(self, row: int) -> dict[str, Any]:
        """Return the attributes of one item."""
        return {
            name: column[row] for name, column in self._columns.items() if column[row] is not None
        }
