"""A table as a source: each row an item."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from seeker.catalog.attributes import as_text, plain_value, shorten
from seeker.catalog.build.pipeline import BuildReport
from seeker.catalog.build.source import (
    OTHER_ENCODING,
    Picture,
    Record,
    RowProblem,
    SourceContents,
    SourceOptions,
)
from seeker.catalog.build.sources import infer_columns
from seeker.catalog.build.sources.folder import EXTENSIONS, SafeRoot
from seeker.catalog.build.sources.infer_columns import infer
from seeker.errors import BadInput, NotFound
from seeker.types import Array

_SAMPLE_ROWS = 200
_MAX_ID_CHARACTERS = 4096
_EMPTY_CELLS = {"nan", "n/a", "#n/a"}
_COMMA_NUMBER = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?")
"""A number as it is written with a comma before its fraction, and with points between thousands."""

_CODES = "AUD BRL CAD CHF CNY CZK DKK EUR GBP HUF INR JPY KRW NOK PLN SEK TRY USD"
_CURRENCIES = {code: code for code in _CODES.split()} | {
    "€": "EUR",
    "£": "GBP",
    "$": "USD",
    "US$": "USD",
    "R$": "BRL",
    "¥": "JPY",
    "₩": "KRW",
    "₹": "INR",
    "₺": "TRY",
    "TL": "TRY",
    "zł": "PLN",
    "Fr.": "CHF",
}
"""What amounts of money are written with, and the code of the currency."""
_SIGN = "|".join(re.escape(one) for one in sorted(_CURRENCIES, key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?P<minus>[-−]?)\s*(?P<before>{_SIGN})?\s*(?P<number>[-−]?\d.*?)\s*(?P<after>{_SIGN})?"
)
_MAX_AMOUNT_CHARACTERS = 40
_AMOUNT_NUMBERS = {
    ".": re.compile(r"-?(\d{1,3}([,'’\s]\d{3})+|\d+)(\.\d{1,2})?"),
    ",": re.compile(r"-?(\d{1,3}([.'’\s]\d{3})+|\d+)(,\d{1,2})?"),
}
"""How the number in an amount is written, by what stands before its fraction."""

MAX_CELL_CHARACTERS = 2**20
"""A text with more characters than this is not about one item."""


class Rows(Protocol):
    """The rows of a table. columns: as far as they are known beforehand."""

    columns: list[str]
    loose: bool

    def origin(self) -> dict[str, Any]:
        """Return where the rows come from."""
        ...

    def count(self) -> int:
        """Return about how many rows there are."""
        ...

    def rows(self) -> Iterator[tuple[str, dict[str, Any] | RowProblem]]:
        """Yield each row with its place."""
        ...


@dataclass(frozen=True)
class MoneyColumn:
    """How a column writes amounts of money, such as 12,50 €: its currency and decimal sign."""

    currency: str
    decimal: str

    @classmethod
    def from_json(cls, entry: object) -> MoneyColumn | None:
        """Return what a catalog says of a column; None for what it cannot have said."""
        match entry:
            case {"currency": str(currency), "decimal": "." | "," as decimal}:
                return cls(currency, decimal)
        return None

    def number(self, cell: str) -> str | None:
        """Return an amount as a plain number; None for what is none in this currency."""
        currency, number = _amount(cell)
        form = _AMOUNT_NUMBERS[self.decimal]
        if currency not in ("", self.currency) or not form.fullmatch(number):
            return None
        whole, _, fraction = number.partition(self.decimal)
        return re.sub(r"[^-\d]", "", whole) + (f".{fraction}" if fraction else "")


def _amount(cell: str) -> tuple[str, str]:
    """Return the code of the currency in a cell and its number; empty where there is none."""
    found = _AMOUNT.fullmatch(cell.strip()) if len(cell) <= _MAX_AMOUNT_CHARACTERS else None
    if found is None or (found["before"] and found["after"]):
        return "", ""
    sign = found["before"] or found["after"] or ""
    return _CURRENCIES.get(sign, ""), (found["minus"] + found["number"]).replace("−", "-")


def _money_column(cells: Sequence[str], decimal: str | None) -> MoneyColumn | None:
    """Return how cells write amounts of money; None if some are none, or most name no currency."""
    named = [currency for currency, _ in map(_amount, cells) if currency]
    if len(set(named)) != 1 or len(named) * 2 < len(cells):
        return None
    columns = (MoneyColumn(named[0], one) for one in ((decimal,) if decimal else _AMOUNT_NUMBERS))
    return next((one for one in columns if all(map(one.number, cells))), None)


class TableSource:
    """Makes items of rows; images: the folder in which pictures may be."""

    def __init__(self, rows: Rows, options: SourceOptions, images: Path | None) -> None:
        self._rows = rows
        self._updating = options.updating
        self._safe_root = None if images is None else SafeRoot(images)
        self.loose = rows.loose
        first = [row for _, row in islice(rows.rows(), _SAMPLE_ROWS)]
        sample = [row for row in first if not isinstance(row, RowProblem)]
        path = rows.origin().get("path", "the source")
        _check_encoding(path, first, sample)
        if not sample:
            raise _unreadable(path, first)
        self._all = list(dict.fromkeys([*rows.columns, *(name for row in sample for name in row)]))
        self._columns = infer(self._all, sample, options, self._safe_root)
        # A source that is known by now is read as it was before.
        self._decimal = options.decimal or options.columns.get("decimal")
        self._money = self._money_columns(sample, options) if self.loose else {}
        if self.loose and self._decimal is None:
            self._check_decimals(sample)
        named = [str(row.get(self._columns.picture or "", "")).lower() for row in sample]
        self._has_endings = any(name.endswith(EXTENSIONS) for name in named)
        self.offer = SourceContents(
            pictures=self._columns.picture is not None,
            text=self._columns.title is not None or bool(self._columns.text),
            vectors=self._columns.vectors,
            currencies={name: one.currency for name, one in self._money.items()},
        )

    @property
    def names_have_endings(self) -> bool:
        """Whether paths of pictures are given with their endings, such as .jpg."""
        return self._has_endings

    def origin(self) -> dict[str, Any]:
        """Return where the items come from and what the columns were taken for."""
        inferred = self._columns
        columns = {
            "id": inferred.id,
            "title": inferred.title,
            "text": list(inferred.text),
            "picture": inferred.picture,
            "vectors": list(inferred.vectors),
            **({"decimal": self._decimal} if self._decimal else {}),
            **(
                {"money": {n: asdict(one) for n, one in self._money.items()}} if self._money else {}
            ),
        }
        return {**self._rows.origin(), "columns": columns}

    def notes(self) -> list[str]:
        """Return what the columns were taken for."""
        money = ", ".join(f"{name} ({one.currency})" for name, one in self._money.items())
        notes = ["Columns:", *self._columns.notes(self._all, self._updating)]
        return [*notes, f"  money       {money}"] if money else notes

    def count(self) -> int:
        """Return about how many rows there are."""
        return self._rows.count()

    def records(self) -> Iterator[Record | RowProblem]:
        """Yield an item, or what is wrong, for each row."""
        for number, (place, row) in enumerate(self._rows.rows()):
            yield row if isinstance(row, RowProblem) else self._record(place, number, row)

    def _record(self, place: str, number: int, row: Mapping[str, Any]) -> Record | RowProblem:
        largest = max((len(one) for one in row.values() if isinstance(one, str)), default=0)
        if largest > MAX_CELL_CHARACTERS:
            return RowProblem(place, "cell that is too large", f"{largest:,} characters")
        columns = self._columns
        id = str(number) if columns.id is None else self._text(row.get(columns.id)).strip()
        if not id:
            return RowProblem(place, "no id")
        if len(id) > _MAX_ID_CHARACTERS:
            return RowProblem(place, "id that is too long", f"{len(id):,} characters")
        picture: Picture | None = None
        if columns.picture is not None and (row.get(columns.picture) or not self._updating):
            cell = self._picture(place, row.get(columns.picture))
            if isinstance(cell, RowProblem):
                return cell
            picture = cell
        vectors: dict[str, Array | str] = {}
        for name in columns.vectors:
            if row.get(name) not in (None, ""):
                try:
                    vectors[name] = infer_columns.parse_vector(row[name])
                except BadInput as error:
                    vectors[name] = error.message
        return Record(
            place,
            id,
            None if columns.title not in row else self._text(row.get(columns.title or "")),
            "\n".join(filter(None, (self._text(row.get(name)) for name in columns.text)))
            if any(name in row for name in columns.text)
            else None,
            picture,
            self._attributes(row),
            vectors,
        )

    def _attribute_names(self, row: Mapping[str, Any]) -> list[str]:
        """Return the columns of a row that are attributes."""
        columns = self._columns
        if columns.attributes is not None:
            return [name for name in columns.attributes if name in row]
        used = {columns.id, columns.title, columns.picture, *columns.text, *columns.vectors}
        return [name for name in row if name not in used and isinstance(name, str)]

    def _attributes(self, row: Mapping[str, Any]) -> dict[str, Any]:
        names = self._attribute_names(row)
        values = {}
        for name in names:
            value = plain_value(row[name])
            if self.loose and isinstance(value, str):
                money = self._money.get(name)
                if value.lower() in _EMPTY_CELLS:
                    value = None
                elif money is not None:
                    value = money.number(value) or value
                elif self._decimal == "," and _COMMA_NUMBER.fullmatch(value.strip()):
                    value = value.strip().replace(".", "").replace(",", ".")
            values[name] = value
        return values

    def _money_columns(
        self, sample: Sequence[Mapping[str, Any]], options: SourceOptions
    ) -> dict[str, MoneyColumn]:
        """Return the attributes that are amounts of money: as before, or as the cells look."""
        names = self._attribute_names(dict.fromkeys(self._all))
        if options.updating:
            # What the catalog has kept as texts stays so.
            known = options.columns.get("money")
            earlier = known if isinstance(known, Mapping) else {}
            columns = {name: MoneyColumn.from_json(earlier.get(name)) for name in names}
        else:
            columns = {name: _money_column(_cells(sample, name), self._decimal) for name in names}
        return {name: one for name, one in columns.items() if one is not None}

    def _check_decimals(self, sample: Sequence[Mapping[str, Any]]) -> None:
        """Refuse numbers that would be taken for texts because of their comma."""
        for name in self._attribute_names(dict.fromkeys(self._all)):
            cells = [] if name in self._money else _cells(sample, name)
            commas = [one for one in cells if _COMMA_NUMBER.fullmatch(one) and "," in one]
            numbers = [one for one in cells if _COMMA_NUMBER.fullmatch(one)]
            if commas and len(numbers) == len(cells):
                raise BadInput(
                    f"The column {name!r} holds {shorten(commas[0])} and the like: numbers with a "
                    "comma, or texts?",
                    "Say --decimal , (decimal=',') for numbers, --decimal . for texts.",
                )

    def _picture(self, place: str, cell: object) -> Picture | RowProblem:
        if isinstance(cell, dict):
            cell = cell.get("bytes") or cell.get("path")
        if isinstance(cell, bytes):
            return cell
        if not isinstance(cell, str) or not cell or self._safe_root is None:
            return RowProblem(place, "no picture")
        try:
            return self._safe_root.find(cell)
        except NotFound:
            return RowProblem(place, "no picture", f"no file {shorten(cell)}")
        except BadInput as error:
            return RowProblem(
                place, "picture outside the source", f"{shorten(cell)}: {error.message}"
            )

    @staticmethod
    def _text(cell: object) -> str:
        value = plain_value(cell)
        if value is None:
            return ""
        return ", ".join(value) if isinstance(value, list) else as_text(value)


def _cells(sample: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """Return what stands in a column's cells, but for those that say nothing."""
    cells = (str(row[name]).strip() for row in sample if row.get(name) is not None)
    return [one for one in cells if one and one.lower() not in _EMPTY_CELLS]


def _check_encoding(path: str, first: list[Any], sample: list[Any]) -> None:
    """Refuse a table in another encoding, which would lose every row with a letter like é.

    One in the right encoding has rows with such letters that can be read; single ones that cannot
    are bad rows.
    """
    strange = [one for one in first if isinstance(one, RowProblem) and one.what == OTHER_ENCODING]
    if not strange or any(not str(cell).isascii() for row in sample for cell in row.values()):
        return
    raise BadInput(
        f"'{path}' is in another encoding: {strange[0].place} and {len(strange) - 1:,} more of the "
        f"first {len(first):,} rows cannot be read.",
        "Name it, often --encoding cp1252 (Windows) or --encoding latin-1.",
    )


def _unreadable(path: str, first: list[Any]) -> BadInput:
    """Return the error for a table without a single row that can be read."""
    if not first:
        return BadInput(f"There are no rows in '{path}'.", "An item needs a row.")
    report = BuildReport()
    for problem in first:
        report.add(problem)
    return BadInput(f"No row of '{path}' can be read.", report.sentence())
