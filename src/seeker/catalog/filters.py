"""Filters over attributes, as conditions of SQL, and facets: how values are spread."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from seeker.catalog.attributes import KIND_NAMES, Kind, PlainValue, clean_text, shorten
from seeker.errors import BadInput, NotFound

_MAX_FLOAT = sys.float_info.max
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
    many = isinstance(condition, list | tuple | set | frozenset | np.ndarray)
    allowed = [_value(attribute, value) for value in (condition if many else [condition])]  # type: ignore[attr-defined]
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
