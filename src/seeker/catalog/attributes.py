"""Attributes of items: their values, their kinds, and checks of what is given in memory."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from seeker.errors import BadInput
from seeker.space import Metric, View
from seeker.space.metric import check as check_metric
from seeker.space.packing import check_dtype
from seeker.space.view import Scale, check_scale
from seeker.types import Array

Kind = Literal["number", "text", "boolean", "tags"]
PlainValue = None | bool | int | float | str | list[str]

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?")
_WHOLE = 2**63


def plain_value(value: object) -> PlainValue:
    """Return a value as one that can be kept: a number, a text, a boolean, tags, or None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        value = float(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_attributes(value) or None
    if isinstance(value, int):
        return (
            value
            if -_WHOLE <= value < _WHOLE
            else float(value)
            if abs(value) < 2**1000
            else str(value)
        )
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        parts = [clean_attributes(str(part)) for part in value]
        if isinstance(value, set | frozenset):
            parts.sort()
        return list(dict.fromkeys(part for part in parts if part)) or None
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return clean_attributes(str(value)) if _is_known(value) else None


def _is_known(value: object) -> bool:
    """Return whether a value equals itself: what data frames put in empty cells does not."""
    try:
        return bool(value == value)
    except TypeError:
        return False


def clean_attributes(text: str) -> str:
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


KIND_NAMES: Mapping[str, str] = {
    "number": "a number",
    "text": "a text",
    "boolean": "true or false",
    "tags": "tags",
}
"""How the kinds are called in a sentence."""


def shorten(value: Any, length: int = 60) -> str:
    """Return a value as one short line for a message, whatever it holds."""
    shown = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    shown = shown if shown.isprintable() else " ".join(shown.split())
    return shown if len(shown) <= length else f"{shown[: length - 1]}…"


def check_views(
    views: Mapping[str, Array | Sequence[Sequence[float]]],
    count: int,
    metric: Metric | Mapping[str, Metric],
    scale: Scale,
    dtype: str = "float32",
) -> dict[str, View]:
    """Return the views if each has one vector per item."""
    if not isinstance(views, Mapping) or not views:
        raise BadInput("The catalog has no views.", "Give at least one: {'name': vectors}.")
    unknown = [name for name in metric if name not in views] if isinstance(metric, Mapping) else []
    if unknown:
        raise BadInput(
            f"There is a metric for view {unknown[0]!r}, which the catalog has not.",
            f"It has {list(views)}.",
        )
    check_scale(scale)
    stored = check_dtype(dtype)
    made = {}
    for name, vectors in views.items():
        if not isinstance(name, str) or not name:
            raise BadInput(f"{name!r} is not a name for a view.", "Use a text, such as 'image'.")
        chosen = metric.get(name, "euclidean") if isinstance(metric, Mapping) else metric
        made[name] = View.from_vectors(name, _rows(vectors), check_metric(chosen), scale, stored)
        if len(made[name]) != count:
            raise BadInput(
                f"View '{name}' has {len(made[name])} rows, but there are {count} ids.",
                "Every view needs one row per item, in the order of the ids.",
            )
    return made


def _rows(vectors: Any) -> Any:
    """Return vectors as a list where they are a column of them, as a data frame may have."""
    kind = getattr(getattr(vectors, "dtype", None), "kind", "")
    return list(vectors) if kind == "O" and vectors.ndim == 1 else vectors


def check_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Return the ids if they are different texts, at least one."""
    names = one_per_item("ids", ids)
    if not names:
        raise BadInput("The catalog is empty.", "Give at least one item.")
    for place, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise BadInput(
                f"The id at place {place} is {shorten(name)}.",
                "Every id must be a text that is not empty, such as str(number).",
            )
    if len(set(names)) < len(names):
        seen: set[str] = set()
        double = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise BadInput(f"The id {double!r} is there more than once.", "Ids must be different.")
    return tuple(map(str, names))


def check_titles(titles: Iterable[str] | None, ids: Sequence[str]) -> tuple[str, ...] | None:
    """Return the titles if there is one text per item."""
    if titles is None:
        return None
    given = one_per_item("titles", titles)
    if len(given) != len(ids):
        raise BadInput(f"There are {len(given)} titles, but {len(ids)} ids.")
    for place, title in enumerate(given):
        if not isinstance(title, str):
            raise BadInput(
                f"The title at place {place} is {shorten(title)}.", "Titles must be texts."
            )
    return given


def one_per_item(name: str, given: object) -> tuple[Any, ...]:
    """Return what was given as a list; a single text would be one of letters."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadInput(f"{name} is {shorten(given)}.", "Give a list with one value per item.")
    return tuple(given)


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
