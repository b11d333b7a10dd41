"""What the columns of a table are, inferred from their names and a few rows."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seeker.catalog.build.source import SourceOptions
from seeker.catalog.build.sources.folder import EXTENSIONS, SafeRoot
from seeker.errors import BadInput, SeekerError
from seeker.types import Array

_SEPARATORS = re.compile(r"[\s,;]+")
_BLANKS = re.compile(r"[\s-]+")

IDS = ("id", "item_id", "_id", "uuid", "guid", "sku", "asin")
NUMBERS = (
    *("nr", "nr.", "artikelnr", "artikelnr.", "artikelnummer", "produktnummer"),
    *("référence", "referencia", "referência", "código", "codice", "codice_articolo", "kod"),
    *("ürün_kodu", "رقم_المنتج", "क्रमांक", "品番", "商品番号", "상품번호", "编号", "商品编号"),
)
"""What else a column of ids may be called, if every row has its own."""
TITLES = (
    *("title", "name", "headline", "product_name", "display_name", "productdisplayname"),
    *("titel", "bezeichnung", "produktname", "artikelname", "titre", "nom", "título", "nombre"),
    *("nome", "titolo", "tytuł", "nazwa", "başlık", "adı", "ürün_adı", "العنوان", "الاسم"),
    *("शीर्षक", "नाम", "タイトル", "名前", "商品名", "제목", "이름", "상품명", "标题", "名称"),
)
TEXTS = (
    *("text", "description", "summary", "abstract", "overview", "plot", "synopsis"),
    *("definition", "caption", "body", "content", "lyrics"),
    *("beschreibung", "texte", "texto", "descripción", "descrição", "testo", "descrizione"),
    *("tekst", "opis", "metin", "açıklama", "النص", "الوصف", "विवरण", "説明", "설명", "描述"),
)
_USUAL_ID_SHARE, _LIKELY_ID_SHARE, _VECTOR_SHARE = 0.5, 0.95, 0.8
"""Which share of the rows must have ids of their own, or vectors, for a column to hold these."""

PICTURES = ("image", "picture", "photo", "img", "thumbnail", "file", "filename", "path")


@dataclass(frozen=True)
class InferredColumns:
    """Which column is what; attributes is None where all the others are."""

    id: str | None
    title: str | None
    text: Sequence[str]
    picture: str | None
    attributes: Sequence[str] | None
    vectors: Mapping[str, int]

    def notes(self, all_columns: Sequence[str], updating: bool = False) -> list[str]:
        """Return the guesses in sentences; updating: what the source has not stays as it is."""
        used = {self.id, self.title, self.picture, *self.text, *self.vectors}
        rest = [name for name in all_columns if name not in used]
        attributes = list(self.attributes) if self.attributes is not None else rest
        vectors = [f"{name} ({dimensions})" for name, dimensions in self.vectors.items()]
        missing = "as before" if updating else "none"
        return [
            f"  id          {self.id or 'none: the number of the row'}",
            f"  title       {self.title or ('as before' if updating else 'none: the id')}",
            f"  text        {', '.join(self.text) or missing}",
            f"  picture     {self.picture or missing}",
            f"  vectors     {', '.join(vectors) or missing}",
            f"  attributes  {', '.join(attributes) or 'none'}",
        ]


def infer(
    columns: Sequence[str],
    sample: Sequence[Mapping[str, Any]],
    options: SourceOptions,
    root: SafeRoot | None,
) -> InferredColumns:
    """Return what the columns are: as the options say, and otherwise as it looks."""
    named = (options.id, options.title, options.picture, *(options.text or ()))
    for name in (*named, *(options.attributes or ()), *(options.vectors or ())):
        if name is not None and name not in columns:
            raise BadInput(f"There is no column {name!r}.", f"The columns are {list(columns)}.")
    options = _with_earlier(options, columns)
    vectors = _vectors(columns, sample, options)
    free = [name for name in columns if name not in vectors]
    picture = options.picture or (_picture(free, sample, root) if root else None)
    # An update need not name the pictures again: columns that it does not have stay as they are.
    named_before = options.updating and options.columns.get("picture") is not None
    if picture is None and options.images is not None and root is not None and not named_before:
        raise _no_pictures(free, sample, root)
    id = options.id or _id(free, sample, picture)
    title = options.title or _title(free, {id, picture})
    text = options.text
    if text is None:
        text = tuple(
            name
            for usual in TEXTS
            for name in free
            if _key(name) == usual and name not in (id, picture, title)
        )
    return InferredColumns(id, title, text, picture, options.attributes, vectors)


def _with_earlier(options: SourceOptions, columns: Sequence[str]) -> SourceOptions:
    """Return the options with columns named that are called as in an earlier source."""
    earlier: dict[str, Any] = {}
    for part in ("id", "title", "picture"):
        name = options.columns.get(part)
        if getattr(options, part) is None and isinstance(name, str) and name in columns:
            earlier[part] = name
    names = options.columns.get("text")
    if options.text is None and isinstance(names, list):
        earlier["text"] = [name for name in names if name in columns] or None
    return replace(options, **earlier)


def _vectors(
    columns: Sequence[str], sample: Sequence[Mapping[str, Any]], options: SourceOptions
) -> dict[str, int]:
    dimensions = {}
    for name in options.vectors if options.vectors is not None else columns:
        cells = [row[name] for row in sample if row.get(name) not in (None, "")]
        sizes = [size for size in map(_size if options.vectors else vector_length, cells) if size]
        # A few rows may be broken; they are bad rows, not a reason to take the column for another.
        if sizes and (options.vectors or len(sizes) >= _VECTOR_SHARE * len(cells)):
            dimensions[name] = max(sorted(set(sizes)), key=sizes.count)
        elif options.vectors:
            raise BadInput(
                f"The column {name!r} holds no vectors.", "They look like [0.1, 0.2, 0.3]."
            )
    return dimensions


def _size(cell: object) -> int | None:
    try:
        return parse_vector(cell).size
    except BadInput:
        return None


def _picture(
    columns: Sequence[str], sample: Sequence[Mapping[str, Any]], root: SafeRoot
) -> str | None:
    likely = sorted(
        (name for name in columns if any(word in name.lower() for word in PICTURES)),
        key=lambda name: (name.lower() not in PICTURES, columns.index(name)),
    )
    for name in likely:
        cells = [row[name] for row in sample if row.get(name)]
        if cells and sum(_is_picture(one, root) for one in cells) * 2 >= len(cells):
            return name
    # Whatever language the others are called in: files that are there, and called like pictures.
    for name in columns:
        cells = [row[name] for row in sample if row.get(name)]
        named = [one for one in cells if isinstance(one, str) and _names_picture(one)]
        if cells and sum(_is_picture(one, root) for one in named) * 2 >= len(cells):
            return name
    return None


def _no_pictures(
    columns: Sequence[str], sample: Sequence[Mapping[str, Any]], root: SafeRoot
) -> BadInput:
    """Return the error for a folder of pictures that no column names pictures in."""
    for name in columns:
        cells = (row.get(name) for row in sample)
        file = next((one for one in cells if isinstance(one, str) and _names_picture(one)), None)
        if file is not None:
            return BadInput(
                f"The column {name!r} names pictures such as '{file}', which are not in "
                f"'{root.root}'.",
                "Give the folder that such paths begin in with --images.",
            )
    return BadInput(
        f"No column names pictures in '{root.root}'.",
        "Say which one does with --picture, or leave out --images.",
    )


def _names_picture(value: str) -> bool:
    return value.lower().endswith(EXTENSIONS) and "://" not in value


def _is_picture(value: object, root: SafeRoot) -> bool:
    if isinstance(value, bytes) or (isinstance(value, dict) and value.get("bytes")):
        return True
    try:
        return isinstance(value, str) and root.find(value).is_file()
    except SeekerError:
        return False


def _id(
    columns: Sequence[str], sample: Sequence[Mapping[str, Any]], picture: str | None
) -> str | None:
    usual = [name for id in IDS for name in columns if name.lower() == id]
    likely = [name for name in columns if name.lower().endswith("_id") and name not in usual]
    likely += [name for number in NUMBERS for name in columns if _key(name) == number]
    likely += [name for name in (picture,) if name and name not in likely]
    for name in (*usual, *likely):
        different = len({str(row[name]) for row in sample if row.get(name) not in (None, "")})
        # A few doubled or missing ids are bad rows; many mean that this is not the id.
        if different >= (_USUAL_ID_SHARE if name in usual else _LIKELY_ID_SHARE) * len(sample):
            return name
    return None


def _title(columns: Sequence[str], used: set[str | None]) -> str | None:
    usual = [name for title in TITLES for name in columns if _key(name) == title]
    likely = [name for name in columns if name.lower().endswith("title")]
    return next((name for name in (*usual, *likely) if name not in used), None)


def _key(column: str) -> str:
    """Return a column's name as the lists above write it: small letters, no blanks."""
    return _BLANKS.sub("_", unicodedata.normalize("NFC", column).strip().casefold())


def parse_vector(cell: object) -> Array:
    """Return the numbers in a cell, (d,): a list, or a text such as "[0.1, 0.2]" or "0.1 0.2"."""
    if isinstance(cell, str):
        cell = _numbers(cell)
    try:
        numbers = np.asarray(cell, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadInput("it is not a list of numbers") from None
    if numbers.ndim != 1 or not numbers.size:
        raise BadInput("it is not a list of numbers")
    return numbers


def vector_length(cell: object) -> int | None:
    """Return how many numbers a cell holds if it is plainly a vector: a list of two or more."""
    if isinstance(cell, str):
        if not (cell.startswith("[") and cell.endswith("]")):
            return None
    elif not isinstance(cell, list | tuple | np.ndarray) or any(
        isinstance(one, str | bool) for one in cell
    ):
        return None
    try:
        numbers = parse_vector(cell)
    except BadInput:
        return None
    return numbers.size if numbers.size > 1 else None


def _numbers(cell: str) -> object:
    if cell.startswith("["):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            pass
    parts = _SEPARATORS.split(cell.strip().strip("[](){}").strip())
    try:
        return [float(part) for part in parts if part]
    except ValueError:
        raise BadInput("it is not a list of numbers") from None
