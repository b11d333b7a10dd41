"""Attributes of items, and filters over them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seeker.errors import BadInput, NotFound

_COMPARE = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}


class Attributes:
    """What is known of the items beside their vectors: by name, one value per item or None."""

    def __init__(self, columns: Mapping[str, Sequence[Any]], count: int) -> None:
        self._columns = columns
        self._count = count

    @classmethod
    def of(cls, given: object, ids: Sequence[str]) -> Attributes:
        """Check attributes given as one mapping per item or as one column per name."""
        if given is None:
            return cls({}, len(ids))
        if isinstance(given, Mapping):
            columns = {name: list(column) for name, column in given.items()}
            for name, column in columns.items():
                if len(column) != len(ids):
                    raise BadInput(
                        f"The attribute {name!r} has {len(column)} values for {len(ids)} items."
                    )
        elif isinstance(given, Sequence) and all(isinstance(one, Mapping) for one in given):
            if len(given) != len(ids):
                raise BadInput(f"There are attributes for {len(given)} items, but {len(ids)} ids.")
            names = dict.fromkeys(name for one in given for name in one)
            columns = {name: [one.get(name) for one in given] for name in names}
        else:
            raise BadInput(
                "The attributes are not in a form that can be read.",
                "Give one mapping per item, or one list of values per name.",
            )
        for name in columns:
            if not isinstance(name, str):
                raise BadInput(f"{name!r} is not a name for an attribute.", "Use a text.")
        return cls(columns, len(ids))

    def at(self, row: int) -> dict[str, Any]:
        """Return the attributes of one item."""
        return {
            name: column[row] for name, column in self._columns.items() if column[row] is not None
        }

    def matching(self, filter: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Return which items pass all conditions of a filter, (items,).

        A condition is a value, a list of values, or bounds such as {"ge": 10, "lt": 50}.
        """
        if not isinstance(filter, Mapping):
            raise BadInput("The filter is not a mapping of attributes to conditions.")
        passing = np.ones(self._count, bool)
        for name, condition in filter.items():
            if name not in self._columns:
                raise NotFound(
                    f"The catalog has no attribute {name!r}.", f"It has {sorted(self._columns)}."
                )
            passing &= _passing(name, self._columns[name], condition)
        return passing


def _passing(name: str, column: Sequence[Any], condition: object) -> NDArray[np.bool_]:
    if isinstance(condition, Mapping):
        unknown = [key for key in condition if key not in _COMPARE]
        if unknown or not condition:
            raise BadInput(
                f"The bounds on {name!r} are {dict(condition)!r}.",
                f"Use one or more of {sorted(_COMPARE)}.",
            )
        try:
            return np.array(
                [
                    value is not None
                    and all(_COMPARE[key](value, bound) for key, bound in condition.items())
                    for value in column
                ],
                bool,
            )
        except TypeError:
            raise BadInput(
                f"The attribute {name!r} cannot be compared with {dict(condition)!r}."
            ) from None
    wanted = condition if isinstance(condition, list | tuple | set | frozenset) else [condition]
    return np.array([value in wanted for value in column], bool)
