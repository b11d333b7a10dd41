"""Filters over attributes, as conditions of SQL, and facets: how values are spread."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seeker.catalog.attributes import KIND_NAMES, Kind, PlainValue, clean_text, shorten
from seeker.errors import BadInput, NotFound

_MAX_FLOAT = sys.float_info.max
_MAX_VALUES = 10_000
"""So many values, the most frequent, are compared with one that may be misspelt."""
_COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}


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


@dataclass(frozen=True)
class Attribute:
    """What can be filtered by: number is the attribute's column."""

    name: str
    kind: Kind
    number: int


@dataclass(frozen=True)
class SqlCondition:
    """A condition over the rows of `known`, with its values."""

    sql: str
    values: tuple[Any, ...]


NO_CONDITION = SqlCondition("1", ())


class FilteredItems(Protocol):
    """Items of which those that pass a filter can be told, and how values are spread over them."""

    def matching(self, filter: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Return which items pass a filter, (items,)."""
        ...

    def facets(self, filter: Mapping[str, Any] | None = None, limit: int = 20) -> dict[str, Facet]:
        """Return how the values of every attribute are spread over the items that pass."""
        ...


def unknown_value(
    items: FilteredItems, filter: Mapping[str, Any] | None, hidden: Collection[str] = ()
) -> tuple[str, str] | None:
    """Return what is wrong with a filter that asks for a text no item has, and what was meant.

    Such texts are misspelt more often than not. hidden: attributes whose values are not told.
    """
    for name, condition in (filter or {}).items():
        if isinstance(condition, Mapping) or name in hidden:
            continue
        for value in _listed(condition):
            if not isinstance(value, str) or items.matching({name: value}).any():
                continue
            values = [str(one) for one, _ in items.facets(limit=_MAX_VALUES)[name].values]
            folded = {one.casefold(): one for one in reversed(values)}
            near = get_close_matches(value.casefold(), folded, n=3)
            meant = " or ".join(repr(folded[one]) for one in near)
            frequent = ", ".join(repr(one) for one in values[:5])
            hint = f"Did you mean {meant}?" if near else f"Frequent are {frequent}."
            return f"No item has {shorten(value)} as {name!r}.", hint
    return None


def sql_condition(filter: object, attributes: Mapping[str, Attribute]) -> SqlCondition:
    """Return a filter as a condition, checked against the attributes that there are.

    A filter maps names to a value, a list of values, or bounds such as {"ge": 10, "lt": 50}; all
    of it must hold. An attribute of tags passes if any of its tags does; None stands for items
    that have no value.
    """
    if filter is None:
        return NO_CONDITION
    if not isinstance(filter, Mapping):
        raise BadInput(
            "The filter is not a mapping of attributes to conditions.",
            'Write it like {"price": {"lt": 50}}.',
        )
    conditions = []
    for name, condition in filter.items():
        if name not in attributes:
            raise NotFound(
                f"The catalog has no attribute {shorten(name)}.", f"It has {sorted(attributes)}."
            )
        conditions.append(_condition(attributes[name], condition))
    if not conditions:
        return NO_CONDITION
    return SqlCondition(
        " AND ".join(f"({one.sql})" for one in conditions),
        tuple(value for one in conditions for value in one.values),
    )


def _condition(attribute: Attribute, condition: object) -> SqlCondition:
    if isinstance(condition, Mapping):
        return _bounds(attribute, condition)
    allowed = [_value(attribute, value) for value in _listed(condition)]
    present = [value for value in allowed if value is not None]
    column = f"known.a{attribute.number}"
    either, values = [], list[Any]()
    if present:
        marks = ", ".join("?" * len(present))
        if attribute.kind == "tags":
            either.append(
                f"known.row IN (SELECT row FROM tags WHERE attribute = {attribute.number} "
                f"AND value IN ({marks}))"
            )
        else:
            either.append(f"{column} IN ({marks})")
        values += present
    if len(present) < len(allowed):
        either.append(f"{column} IS NULL")
    return SqlCondition(" OR ".join(either) or "0", tuple(values))


def _listed(condition: object) -> list[Any]:
    """Return the values that may pass, of a condition that is one of them or several."""
    many = isinstance(condition, list | tuple | set | frozenset | np.ndarray)
    return list(condition) if many else [condition]  # type: ignore[call-overload]


def _bounds(attribute: Attribute, bounds: Mapping[Any, Any]) -> SqlCondition:
    if not bounds or any(key not in _COMPARE for key in bounds):
        raise BadInput(
            f"The bounds on {attribute.name!r} are {shorten(dict(bounds))}.",
            f"Use one or more of {sorted(_COMPARE)}.",
        )
    if attribute.kind in ("boolean", "tags"):
        raise BadInput(
            f"The attribute {attribute.name!r} holds {KIND_NAMES[attribute.kind]}, "
            "which has no order.",
            "Give the values that may pass instead of bounds.",
        )
    values = [_value(attribute, bound) for bound in bounds.values()]
    if any(value is None for value in values):
        raise BadInput(f"A bound on {attribute.name!r} is empty.")
    column = f"known.a{attribute.number}"
    return SqlCondition(
        " AND ".join(f"{column} {_COMPARE[key]} ?" for key in bounds), tuple(values)
    )


def _value(attribute: Attribute, value: object) -> PlainValue:
    """Return a value that a filter asks for, if it is one that this attribute can have."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match attribute.kind:
        case "number" if number and value == value:  # NaN alone differs from itself
            return _within_reach(value)  # type: ignore[arg-type]
        case "boolean" if isinstance(value, bool) or value in (0, 1):
            return int(value)
        case "text" | "tags" if isinstance(value, str):
            return clean_text(value)
    raise BadInput(
        f"The attribute {attribute.name!r} holds {KIND_NAMES[attribute.kind]}, "
        f"but the filter asks for {shorten(value)}.",
    )


def _within_reach(value: float) -> float:
    """Return a number as SQLite knows it: whole ones beyond 64 bits exist only in Python."""
    if abs(value) < 2**63:
        return value
    return float(min(max(value, -_MAX_FLOAT), _MAX_FLOAT))
