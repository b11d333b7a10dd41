"""Attributes of items: their values, and the kinds of these."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from seeker.errors import BadInput

Kind = Literal["number", "text", "boolean", "tags"]
PlainValue = None | bool | int | float | str | list[str]

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?")
_INT64 = 2**63

KIND_NAMES: Mapping[str, str] = {
    "number": "a number",
    "text": "a text",
    "boolean": "true or false",
    "tags": "tags",
}
"""How the kinds are called in a sentence."""


def plain_value(value: object) -> PlainValue:
    """Return a value as one that can be kept: a number, a text, a boolean, tags, or None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        value = float(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(value) or None
    if isinstance(value, int):
        return (
            value
            if -_INT64 <= value < _INT64
            else float(value)
            if abs(value) < 2**1000
            else str(value)
        )
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        parts = [clean_text(str(part)) for part in value]
        if isinstance(value, set | frozenset):
            parts.sort()
        return list(dict.fromkeys(part for part in parts if part)) or None
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return clean_text(str(value)) if _equals_itself(value) else None


def _equals_itself(value: object) -> bool:
    """Return whether a value equals itself: what data frames put in empty cells does not."""
    try:
        return bool(value == value)
    except TypeError:
        return False


def clean_text(text: str) -> str:
    """Return a text that can be written as UTF-8; what cannot becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def is_unicode(text: str) -> bool:
    """Return whether a text can be written as UTF-8; SQLite and JSON hold no other."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def kind_of(value: PlainValue, loose: bool) -> Kind | None:
    """Return the kind of one value; loose: texts may stand for numbers and booleans, as in CSV."""
    match value:
        case None:
            return None
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case list():
            return "tags"
    if loose:
        if value.lower() in ("true", "false"):
            return "boolean"
        if _NUMBER.fullmatch(value) and math.isfinite(float(value)):
            return "number"
    return "text"


def common_kind(kinds: set[Kind]) -> Kind:
    """Return the kind of an attribute whose values are of these kinds."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return "tags" if "tags" in kinds else "text"


def fit_kind(name: str, value: PlainValue, kind: Kind, loose: bool) -> PlainValue:
    """Return a value as one of the attribute's kind; BadInput where it is not."""
    own = kind_of(value, loose)
    if own is None:
        return None
    if own == kind:
        if isinstance(value, str) and kind == "number":
            number = float(value)
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
        if isinstance(value, str) and kind == "boolean":
            return value.lower() == "true"
        return value
    if kind == "tags" and own != "tags":
        return [as_text(value)]
    if kind == "text" and own != "tags":
        return as_text(value)
    raise BadInput(
        f"{name!r} is {shorten(value)}, but the catalog keeps it as {KIND_NAMES[kind]}.",
    )


def as_text(value: PlainValue) -> str:
    """Return a value as it reads in a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def shorten(value: Any, length: int = 60) -> str:
    """Return a value as one short line for a message, whatever it holds."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    text = text if text.isprintable() else " ".join(text.split())
    return text if len(text) <= length else f"{text[: length - 1]}…"
