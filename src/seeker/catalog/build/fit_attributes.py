"""Which columns of a table say what an item is, and how the view `attributes` encodes them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seeker.catalog.attributes import Kind, PlainValue
from seeker.embedders.attributes import (
    MAX_AXES,
    AttributeEncoding,
    ColumnKind,
    EncodedColumn,
    checked_weight,
    number_of,
    value_names,
)
from seeker.errors import BadInput

SAMPLE_ROWS = 100_000
"""How many rows, spread evenly over the table, are looked at."""

_MAX_COLUMNS = 64
_MAX_VALUE_LETTERS = 200
_MAX_TEXT_WORDS = 6.0
"""Values with more words than this on average are free text."""

_ITEMS_PER_VALUE = 2
"""As many items as this must share a value on average, or the values are names and not kinds."""

_MIN_SHARE_KNOWN = 0.01
_MOSTLY = 0.9
_MAX_DRIFT = 0.1
"""Up to which share of values an old encoding may lack, and by how much a scale may have moved."""

_KNOTS = 33

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://|www\.|data:|/|\.{1,2}/|[a-z]:\\|[^\s@]+@[^\s@]+\.\w+$", re.I
)
_FILE = re.compile(r"\S+\.(jpe?g|png|webp|gif|svg|html?|php|pdf|mp[34]|json)", re.I)

_IDS = re.compile(
    "ids?|uuid|guid|sku|asin|ean|gtin|upc|isbn(10|13)?|barcode|hash|md5|sha1|sha256|checksum|key|"
    "slug|handle|token|serial|etag"
)
_KINDS = re.compile(
    "(sub)?categor(y|ies)|cat|label|class|type|kind|group|genre|brand|maker|manufacturer|author|"
    "artist|designer|director|series|collection|department|family|style|colou?r|material|country|"
    "language|region|cluster"
)
"""Words for what a thing is: `category_id` is a category, and `label` is one even if a number."""

_COUNTERS = re.compile(
    "(in)?stock|inventory|quantity|qty|available|availability|sold|sales|orders|views|visits|"
    "clicks|likes|votes|downloads|plays|popularity|rank|ranking|position|index|row|counts?|"
    "ratings|reviews|(lager)?bestand|lager|vorrat|verfügbar(keit)?|verkauft|aufrufe|bewertungen|"
    "quantité|disponib(le|ilité)|existencias|cantidad|vendidos|estoque|quantidade|disponível|"
    "giacenza|quantità|disponibil(e|ità)|magazyn|ilość|dostępność|stok|adet|المخزون|الكمية|स्टॉक|"
    "在庫数?|在庫状況|재고|수량|库存"
)
"""How many there are, or how often something was done to them; in the page's languages."""
_RECORD_DATES = re.compile(
    "updated|modified|crawled|scraped|fetched|imported|synced|indexed|timestamp"
)
_FEW_CODES = 100
"""How many whole numbers may stand for kinds in a column with such a name."""


@dataclass(frozen=True)
class AttributeFit:
    """What became of the columns: an encoding of some, and why others were left out."""

    encoding: AttributeEncoding | None
    descriptions: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    def lines(self, view: str) -> list[str]:
        """Return in sentences what the view is made of."""
        if self.encoding is None:
            return []
        taken = ", ".join(f"{name} ({what})" for name, what in self.descriptions.items())
        lines = [f"View '{view}' ({self.encoding.dimensions}) of what the table says: {taken}."]
        reasons: dict[str, list[str]] = {}
        for name, why in self.left_out.items():
            reasons.setdefault(why, []).append(name)
        if reasons:
            others = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
            lines.append(f"  not in it: {others}. Other columns: --attributes-view NAME,…")
        return lines


@dataclass
class _ColumnSample:
    """What was seen of a column."""

    rows: int = 0
    known: int = 0
    values: Counter[str] = field(default_factory=Counter)
    items_with_values: int = 0
    numbers: list[float] = field(default_factory=list)
    dates: list[float] = field(default_factory=list)
    whole: bool = True
    words: int = 0
    long: int = 0
    addresses: int = 0

    def add(self, value: PlainValue) -> None:
        """Look at one value."""
        self.known += 1
        kind: ColumnKind = "tags" if isinstance(value, list) else "category"
        if isinstance(value, str):
            self.words += len(value.split())
            self.addresses += bool(_ADDRESS.match(value) or _FILE.fullmatch(value))
            if (day := number_of(value, "date")) is not None:
                self.dates.append(day)
        elif (number := number_of(value, "number")) is not None:
            self.numbers.append(number)
            self.whole = self.whole and number.is_integer()
        names = value_names(value, kind)
        self.items_with_values += bool(names)
        for name in names:
            if len(name) <= _MAX_VALUE_LETTERS:
                self.values[name] += 1
            else:
                self.long += 1


def fit_attributes(
    items: Iterable[Mapping[str, PlainValue]],
    kinds: Mapping[str, Kind],
    wanted: Mapping[str, float] | None = None,
) -> AttributeFit:
    """Return an encoding of the columns that say what an item is, and what was left out.

    items: attributes of items from all over the table. kinds: of every attribute. wanted: the
    columns to take, with their weights; chosen by what they hold unless given.
    """
    samples = {name: _ColumnSample() for name in kinds if wanted is None or name in wanted}
    rows = 0
    for attributes in items:
        rows += 1
        for name, value in attributes.items():
            if value is not None and name in samples:
                samples[name].add(value)
    chosen: dict[str, ColumnKind] = {}
    left_out: dict[str, str] = {}
    for name, sample in samples.items():
        sample.rows = rows
        own = _column_kind(name, kinds[name], sample)
        why = None if wanted is not None else _reason_to_leave_out(name, own, sample)
        if why is None and not sample.items_with_values:
            why = "no item has it"
        if why is None and len(chosen) == _MAX_COLUMNS:
            why = f"there are {_MAX_COLUMNS} others already"
        if why is None:
            chosen[name] = own
        else:
            left_out[name] = why
    _check_wanted(wanted, chosen, kinds)
    if not chosen:
        return AttributeFit(None, left_out=left_out)
    weights = {name: checked_weight(name, (wanted or {}).get(name, 1.0)) for name in chosen}
    listed = _listed_values({name: (own, samples[name]) for name, own in chosen.items()})
    columns, descriptions = [], {}
    for name, own in chosen.items():
        sample = samples[name]
        if own in ("category", "tags"):
            columns.append(EncodedColumn(name, own, weights[name], values=listed[name]))
            descriptions[name] = f"{len(sample.values):,} {'tags' if own == 'tags' else 'values'}"
        else:
            numbers = sample.dates if own == "date" else sample.numbers
            knots, places = _scale(numbers)
            columns.append(EncodedColumn(name, own, weights[name], knots=knots, places=places))
            descriptions[name] = f"{own}s"
        if weights[name] != 1.0:
            descriptions[name] += f", weight {weights[name]:g}"
    return AttributeFit(AttributeEncoding(tuple(columns)), descriptions, left_out)


def _check_wanted(
    wanted: Mapping[str, float] | None, chosen: Mapping[str, Any], kinds: Mapping[str, Kind]
) -> None:
    for name in wanted or ():
        if name not in chosen:
            raise BadInput(
                f"The view of attributes is to be made of '{name}', which no item has.",
                f"They have {sorted(kinds)}." if kinds else "They have no attributes at all.",
            )


def _column_kind(name: str, kind: Kind, sample: _ColumnSample) -> ColumnKind:
    """Return how a column is compared, from its kind and what is in it."""
    if kind == "tags":
        return "tags"
    if kind == "number":
        coded = sample.whole and len(sample.values) <= _FEW_CODES and _says(name, _KINDS)
        return "category" if coded or len(sample.values) <= 2 else "number"
    if kind == "text" and len(sample.dates) >= max(_MOSTLY * sample.known, 1):
        return "date"
    return "category"


def _reason_to_leave_out(name: str, own: ColumnKind, sample: _ColumnSample) -> str | None:
    """Return why a column does not say what an item is; None if it does."""
    if _says(name, _IDS) and not _says(name, _KINDS):
        return "ids"
    if _says(name, _COUNTERS):
        return "stock or a counter"
    if own == "date" and _says(name, _RECORD_DATES):
        return "about the record"
    if sample.addresses >= max(_MOSTLY * sample.known, 1):
        return "addresses"
    if sample.items_with_values < max(_MIN_SHARE_KNOWN * sample.rows, 2):
        return "hardly any item has it"
    if len(sample.values) + sample.long < 2:
        return "one value only"
    if own in ("number", "date"):
        return "a running number" if own == "number" and _runs(sample) else None
    if sample.long > sample.known // 2 or sample.words > _MAX_TEXT_WORDS * sample.known:
        return "free text"
    if sample.values.total() + sample.long < _ITEMS_PER_VALUE * (len(sample.values) + sample.long):
        return "nearly every item has its own"
    return None


def _says(name: str, words: re.Pattern[str]) -> bool:
    """Return whether one of some words is in the name of a column, as in `item_id` or `itemId`."""
    parts = [part.casefold() for part in _WORDS.findall(name)]
    return any(words.fullmatch(part) for part in [*parts, "".join(parts)])


def _runs(sample: _ColumnSample) -> bool:
    """Return whether numbers are just those of the rows, in whatever order."""
    numbers = sample.numbers
    if not sample.whole or len(set(numbers)) < len(numbers) or len(numbers) < sample.rows:
        return False
    return max(numbers) - min(numbers) < 1.5 * len(numbers)


def _listed_values(
    columns: Mapping[str, tuple[ColumnKind, _ColumnSample]],
) -> dict[str, tuple[str, ...]]:
    """Return the values that get an axis of their own: the most frequent of all columns."""
    left = MAX_AXES - sum(own in ("number", "date") for own, _ in columns.values())
    frequent = sorted(
        (-count, place, value)
        for place, (own, sample) in enumerate(columns.values())
        if own in ("category", "tags")
        for value, count in sample.values.items()
        if count > 1
    )
    names = list(columns)
    listed: dict[str, list[str]] = {name: [] for name in names}
    for _, place, value in frequent[:left]:
        listed[names[place]].append(value)
    return {name: tuple(values) for name, values in listed.items()}


def _scale(numbers: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return values in rising order, and for each the share of numbers below it.

    Numbers that are equal count half, so that a value which half of the items have lies in the
    middle of its half, and not at its edge.
    """
    rising = sorted(numbers)
    last = len(rising) - 1
    knots = sorted({rising[round(last * step / (_KNOTS - 1))] for step in range(_KNOTS)})
    places = [
        (bisect_left(rising, one) + bisect_right(rising, one)) / (2 * len(rising)) for one in knots
    ]
    return tuple(knots), tuple(places)


def still_fits(before: AttributeEncoding, fresh: AttributeEncoding) -> bool:
    """Return whether an encoding can go on in the place of one that was made of new items.

    Then vectors of items that have left, which sessions may still know, keep their meaning.
    """
    if len(before.columns) != len(fresh.columns):
        return False
    for old, new in zip(before.columns, fresh.columns, strict=True):
        if (old.name, old.kind, old.weight) != (new.name, new.kind, new.weight):
            return False
        unlisted = {*new.values} - {*old.values}
        if len(unlisted) > _MAX_DRIFT * len(new.values):
            return False
        drift = (
            abs(old.place(knot) - place) for knot, place in zip(new.knots, new.places, strict=True)
        )
        if max(drift, default=0.0) > _MAX_DRIFT:
            return False
    return True
