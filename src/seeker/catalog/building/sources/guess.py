"""Guesses what the columns of a table are, from their names and a few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seeker.catalog.building.inside import Inside
from seeker.catalog.building.sources import cells
from seeker.catalog.building.sources.choose import Options
from seeker.errors import BadInput, SeekerError

IDS = ("id", "item_id", "_id", "uuid", "guid", "sku", "asin")
TITLES = ("title", "name", "headline", "product_name", "display_name", "productdisplayname")
TEXTS = (
    "text",
    "description",
    "summary",
    "abstract",
    "overview",
    "plot",
    "synopsis",
    "definition",
    "caption",
    "body",
    "content",
    "lyrics",
)
_SAID, _UNIQUE, _VECTORS = 0.5, 0.95, 0.8
PICTURES = ("image", "picture", "photo", "img", "thumbnail", "file", "filename", "path")


@dataclass(frozen=True)
class Columns:
    """Which column is what; attributes is None where all the others are."""

    id: str | None
    title: str | None
    text: tuple[str, ...]
    picture: str | None
    attributes: tuple[str, ...] | None
    vectors: Mapping[str, int]

    def notes(self, all_columns: Sequence[str]) -> list[str]:
        """Return the guesses in sentences."""
        used = {self.id, self.title, self.picture, *self.text, *self.vectors}
        rest = [name for name in all_columns if name not in used]
        kept = list(self.attributes) if self.attributes is not None else rest
        vectors = [f"{name} ({dimensions})" for name, dimensions in self.vectors.items()]
        return [
            f"  id          {self.id or 'none: the number of the row'}",
            f"  title       {self.title or 'none: the id'}",
            f"  text        {', '.join(self.text) or 'none'}",
            f"  picture     {self.picture or 'none'}",
            f"  vectors     {', '.join(vectors) or 'none'}",
            f"  attributes  {', '.join(kept) or 'none'}",
        ]


def guess(
    columns: Sequence[str],
    sample: Sequence[Mapping[str, Any]],
    options: Options,
    inside: Inside | None,
) -> Columns:
    """Return what the columns are: as the options say, and otherwise as it looks."""
    asked = (options.id, options.title, options.picture, *(options.text or ()))
    for name in (*asked, *(options.attributes or ()), *(options.vectors or ())):
        if name is not None and name not in columns:
            raise BadInput(f"There is no column {name!r}.", f"The columns are {list(columns)}.")
    vectors = _vectors(columns, sample, options)
    free = [name for name in columns if name not in vectors]
    picture = options.picture or (_picture(free, sample, inside) if inside else None)
    named = options.id or _id(free, sample, picture)
    title = options.title or _title(free, {named, picture})
    text = options.text
    if text is None:
        text = tuple(
            name
            for wanted in TEXTS
            for name in free
            if name.lower() == wanted and name not in (named, picture, title)
        )
    return Columns(named, title, text, picture, options.attributes, vectors)


def _vectors(
    columns: Sequence[str], sample: Sequence[Mapping[str, Any]], options: Options
) -> dict[str, int]:
    found = {}
    for name in options.vectors if options.vectors is not None else columns:
        given = [row[name] for row in sample if row.get(name) not in (None, "")]
        sizes = [size for size in map(_size if options.vectors else cells.length, given) if size]
        # A few rows may be broken; they are bad rows, not a reason to take the column for another.
        if sizes and (options.vectors or len(sizes) >= _VECTORS * len(given)):
            found[name] = max(sorted(set(sizes)), key=sizes.count)
        elif options.vectors:
            raise BadInput(
                f"The column {name!r} holds no vectors.", "They look like [0.1, 0.2, 0.3]."
            )
    return found


def _size(cell: object) -> int | None:
    try:
        return cells.vector(cell).size
    except BadInput:
        return None


def _picture(
    columns: Sequence[str], sample: Sequence[Mapping[str, Any]], inside: Inside
) -> str | None:
    likely = sorted(
        (name for name in columns if any(word in name.lower() for word in PICTURES)),
        key=lambda name: (name.lower() not in PICTURES, columns.index(name)),
    )
    for name in likely:
        given = [row[name] for row in sample if row.get(name)]
        if given and sum(_is_picture(one, inside) for one in given) * 2 >= len(given):
            return name
    return None


def _is_picture(value: object, inside: Inside) -> bool:
    if isinstance(value, bytes) or (isinstance(value, dict) and value.get("bytes")):
        return True
    try:
        return isinstance(value, str) and inside.find(value).is_file()
    except SeekerError:
        return False


def _id(
    columns: Sequence[str], sample: Sequence[Mapping[str, Any]], picture: str | None
) -> str | None:
    said = [name for wanted in IDS for name in columns if name.lower() == wanted]
    likely = [name for name in columns if name.lower().endswith("_id") and name not in said]
    likely += [name for name in (picture,) if name and name not in likely]
    for name in (*said, *likely):
        different = len({str(row[name]) for row in sample if row.get(name) not in (None, "")})
        # A few doubled or missing ids are bad rows; many mean that this is not the id.
        if different >= (_SAID if name in said else _UNIQUE) * len(sample):
            return name
    return None


def _title(columns: Sequence[str], taken: set[str | None]) -> str | None:
    said = [name for wanted in TITLES for name in columns if name.lower() == wanted]
    likely = [name for name in columns if name.lower().endswith("title")]
    return next((name for name in (*said, *likely) if name not in taken), None)
