"""Filters as people type them: label=Dress, price<50, or a JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from seeker.errors import BadInput, NotFound

_CONDITION = re.compile(r"(.+?)\s*(<=|>=|=|<|>)\s*(.*)", re.DOTALL)
_NAMES = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def filter_of(conditions: Sequence[str], kinds: Mapping[str, str]) -> dict[str, Any] | None:
    """Return a filter of what was typed; kinds: of the catalog's attributes.

    The same name with = again means 'or'; bounds on the same name all hold.
    """
    found: dict[str, Any] = {}
    for condition in conditions:
        if condition.lstrip().startswith("{"):
            found.update(_json(condition))
            continue
        match = _CONDITION.fullmatch(condition.strip())
        if match is None:
            raise BadInput(
                f"{condition!r} is not a condition.", "Write label=Dress, price<50, or JSON."
            )
        name, sign, typed = match.groups()
        if name not in kinds:
            raise NotFound(f"The catalog has no attribute {name!r}.", f"It has {sorted(kinds)}.")
        value = _value(name, typed, kinds[name])
        if sign == "=":
            listed = found.setdefault(name, [])
            if not isinstance(listed, list):
                raise BadInput(f"{name!r} has both values and bounds.", "Use one of them.")
            listed.append(value)
        else:
            bounds = found.setdefault(name, {})
            if not isinstance(bounds, dict):
                raise BadInput(f"{name!r} has both values and bounds.", "Use one of them.")
            bounds[_NAMES[sign]] = value
    return found or None


def _json(condition: str) -> dict[str, Any]:
    try:
        return dict(json.loads(condition))
    except (ValueError, TypeError, RecursionError):
        raise BadInput(f"{condition!r} begins like JSON, but is not.") from None


def _value(name: str, typed: str, kind: str) -> str | float | bool | None:
    if typed == "":
        return None
    if kind == "number":
        try:
            return float(typed)
        except ValueError:
            raise BadInput(f"{name!r} holds numbers, and {typed!r} is none.") from None
    if kind == "boolean":
        if typed.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise BadInput(f"{name!r} is true or false, and {typed!r} is neither.")
        return typed.lower() in ("true", "yes", "1")
    return typed
