"""The `attributes` embedder: what a table says of items becomes one view.

Every column adds a squared distance between 0 and 1, times its weight. Two values of a category
are 0 apart if they are the same and 1 if not; lists of tags are 1 apart if they share none;
numbers and dates are compared by the share of items that lie between them. A missing value is
like no other: in a category it is as far from everything as another value would be, among numbers
as far as two items are on average.

An item's vector depends on the item and on the encoding alone. The encoding is made once, when a
catalog is built, and kept with the view, so that items which come or change later find their
place by the same rule. Values that it lists have an axis of their own. All others, and what is
missing, are directions of signs in the last 64 axes, taken from a SHA-256: the same for ever, and
about at right angles to each other.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from seeker.embedders.base import ATTRIBUTE, Embedder
from seeker.errors import BadInput
from seeker.types import Floats

ColumnKind = Literal["category", "tags", "number", "date"]
COLUMN_KINDS: tuple[ColumnKind, ...] = ("category", "tags", "number", "date")

HASHED_AXES = 64
"""How many axes are shared by values that have none of their own, and by missing ones."""

MAX_AXES = 192
"""How many values and numbers may have an axis of their own."""

MAX_WEIGHT = 1e6
_LARGEST = 1e300
"""Numbers up to this have differences that are numbers, too."""

_HALF = math.sqrt(0.5)
"""Two directions at right angles, each as long as this, are 1 apart in squared distance."""

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")
_UNKNOWN = frozenset({"", "-", "?", "unknown", "none", "null", "n/a", "nan"})


@dataclass(frozen=True)
class EncodedColumn:
    """How the values of one column become part of a vector.

    values: of a category or tags, those that have an axis of their own. knots, places: of numbers
    and dates, some values in rising order, and for each the share of items below it.
    """

    name: str
    kind: ColumnKind
    weight: float = 1.0
    values: tuple[str, ...] = ()
    knots: tuple[float, ...] = ()
    places: tuple[float, ...] = ()

    @property
    def axes(self) -> int:
        """How many axes the column has for itself."""
        return len(self.values) if self.kind in ("category", "tags") else 1

    def place(self, number: float) -> float:
        """Return where on the column's scale a number lies, from 0 to 1."""
        # In Python's own arithmetic, which no processor fuses: the same bits everywhere.
        after = bisect_right(self.knots, number)
        if after == 0:
            return self.places[0]
        if after == len(self.knots):
            return self.places[-1]
        low, high = self.knots[after - 1], self.knots[after]
        share = (number - low) / (high - low)
        return self.places[after - 1] + share * (self.places[after] - self.places[after - 1])


@dataclass(frozen=True)
class AttributeEncoding:
    """How attributes of items become vectors: the columns in their order."""

    columns: tuple[EncodedColumn, ...]

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return sum(one.axes for one in self.columns) + HASHED_AXES

    def to_json(self) -> dict[str, Any]:
        """Return the encoding as plain JSON values."""
        return {"columns": [_column_json(one) for one in self.columns]}

    @classmethod
    def from_json(cls, value: Any) -> AttributeEncoding:
        """Return the encoding that `to_json` wrote; ValueError for anything else."""
        if not isinstance(value, Mapping) or set(value) != {"columns"}:
            raise ValueError("an encoding of attributes is an object with columns")
        if not isinstance(value["columns"], list) or not value["columns"]:
            raise ValueError("an encoding of attributes has a list of columns")
        encoding = cls(tuple(_column_from_json(one) for one in value["columns"]))
        if encoding.dimensions > MAX_AXES + HASHED_AXES:
            raise ValueError(f"an encoding of attributes has more than {MAX_AXES} axes")
        if len({one.name for one in encoding.columns}) < len(encoding.columns):
            raise ValueError("an encoding of attributes names no column twice")
        return encoding


class AttributesEmbedder(Embedder):
    """Makes vectors of what is said of items, by one encoding."""

    version = "columns/1"
    metric = "euclidean"
    reads = frozenset({ATTRIBUTE})
    name = "attributes"

    def __init__(self, encoding: AttributeEncoding) -> None:
        self.encoding = encoding
        self.dimensions = encoding.dimensions
        self._axes: list[dict[str, int]] = []
        start = 0
        for column in encoding.columns:
            self._axes.append({value: start + axis for axis, value in enumerate(column.values)})
            start += column.axes
        self._starts = np.cumsum([0, *(one.axes for one in encoding.columns)]).tolist()

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the vectors of items, each an id and a mapping of attributes, (n, d) float32."""
        vectors = np.zeros((len(batch), self.dimensions))
        hashed: list[tuple[int, float, bytes]] = []
        for row, (id, attributes) in enumerate(batch):
            for number, column in enumerate(self.encoding.columns):
                value = attributes.get(column.name)
                root = math.sqrt(column.weight)
                if column.kind in ("category", "tags"):
                    length = root * _HALF
                    names = value_names(value, column.kind)
                    each = length / math.sqrt(len(names)) if names else length
                    for name in names:
                        axis = self._axes[number].get(name)
                        if axis is None:
                            hashed.append((row, each, _digest("value", column.name, name)))
                        else:
                            vectors[row, axis] = each
                    if not names:
                        hashed.append((row, length, _digest("missing", column.name, id)))
                    continue
                known = number_of(value, column.kind)
                if known is None:
                    # Two random places are 1/6 apart on average, and any from the middle 1/12.
                    vectors[row, self._starts[number]] = root * 0.5
                    spread = root * math.sqrt(1.0 / 12.0)
                    hashed.append((row, spread, _digest("missing", column.name, id)))
                else:
                    vectors[row, self._starts[number]] = root * column.place(known)
        self._add_hashed(vectors, hashed)
        return vectors.astype(np.float32)

    def _add_hashed(self, vectors: Any, hashed: Sequence[tuple[int, float, bytes]]) -> None:
        if not hashed:
            return
        bits = np.frombuffer(b"".join(digest for _, _, digest in hashed), np.uint8)
        signs = np.unpackbits(bits).reshape(len(hashed), HASHED_AXES) * 2.0 - 1.0
        lengths = np.array([length / math.sqrt(HASHED_AXES) for _, length, _ in hashed])
        rows = np.array([row for row, _, _ in hashed])
        np.add.at(vectors[:, -HASHED_AXES:], rows, signs * lengths[:, None])


def value_names(value: Any, kind: ColumnKind) -> list[str]:
    """Return the values of a cell in a form in which they can be compared; none if it is empty.

    Upper and lower case are one, and so are numbers however they are written.
    """
    parts = value if kind == "tags" and isinstance(value, list | tuple) else [value]
    names = (_canonical(one) for one in parts)
    return [name for name in dict.fromkeys(names) if name not in _UNKNOWN]


def number_of(value: Any, kind: ColumnKind) -> float | None:
    """Return a cell as a number, a date as its days since 1970; None for what is none."""
    if kind == "date":
        return _days(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _LARGEST else None


def _days(value: Any) -> float | None:
    if not isinstance(value, str) or not _DATE.fullmatch(value.strip()):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / 86_400.0


def _canonical(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value).strip().casefold()
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text)
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def _digest(*parts: str) -> bytes:
    key = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(key).digest()[: HASHED_AXES // 8]


def _column_json(column: EncodedColumn) -> dict[str, Any]:
    known = {"name": column.name, "kind": column.kind, "weight": column.weight}
    if column.kind in ("category", "tags"):
        return {**known, "values": list(column.values)}
    return {**known, "knots": list(column.knots), "places": list(column.places)}


def _column_from_json(value: Any) -> EncodedColumn:
    if not isinstance(value, Mapping) or value.get("kind") not in COLUMN_KINDS:
        raise ValueError("a column of attributes says of which kind it is")
    kind: ColumnKind = value["kind"]
    listed = ("values",) if kind in ("category", "tags") else ("knots", "places")
    if set(value) != {"name", "kind", "weight", *listed} or not isinstance(value["name"], str):
        raise ValueError("a column of attributes has a name, a kind, a weight and its values")
    if any(not isinstance(value[key], list) for key in listed):
        raise ValueError("a column of attributes has lists of values")
    weight = value["weight"]
    if not _is_weight(weight):
        raise ValueError(f"the weight of a column is a number above 0 and up to {MAX_WEIGHT:g}")
    weight = float(weight)
    if kind in ("category", "tags"):
        values = value["values"]
        if any(not isinstance(one, str) for one in values) or len(set(values)) < len(values):
            raise ValueError("the values of a column are different texts")
        return EncodedColumn(value["name"], kind, weight, values=tuple(values))
    knots, places = _rising(value["knots"]), _rising(value["places"])
    if not knots or len(knots) != len(places) or places[0] < 0.0 or places[-1] > 1.0:
        raise ValueError("the scale of a column has a place from 0 to 1 for every knot")
    return EncodedColumn(value["name"], kind, weight, knots=knots, places=places)


def _rising(numbers: list[Any]) -> tuple[float, ...]:
    for one in numbers:
        if isinstance(one, bool) or not isinstance(one, int | float) or not abs(one) < _LARGEST:
            raise ValueError("the scale of a column is made of numbers")
    rising = tuple(map(float, numbers))
    if any(not low < high for low, high in itertools.pairwise(rising)):
        raise ValueError("the scale of a column rises")
    return rising


def _is_weight(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0.0 < value <= MAX_WEIGHT


def checked_weight(name: str, weight: Any) -> float:
    """Return the weight of a column if it can be one."""
    if not _is_weight(weight):
        raise BadInput(
            f"The weight of the attribute {name!r} is {weight!r}.",
            f"Give a number above 0 and up to {MAX_WEIGHT:g}; 1 is the usual one.",
        )
    return float(weight)
