"""Changes of single items: what they are, and what they are to a catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from seeker.catalog.attributes import PlainValue, shorten
from seeker.catalog.build.chunks import Chunk
from seeker.catalog.build.files import item_record
from seeker.catalog.build.pipeline import BuildReport
from seeker.catalog.build.source import Record, RowProblem
from seeker.catalog.item_table import ItemRecord
from seeker.types import Array, Floats

_OPEN_CHUNKS = 8


@dataclass(frozen=True, eq=False)
class ItemChange:
    """What somebody wants to be true of one item.

    what: "put" makes it just this, "patch" changes what is said of an item that is there, "merge"
    does so or makes a new one, "remove" takes it out. title, text, picture: None where nothing is
    said of them. attributes: None for no value. vectors: by view, (d,).
    """

    id: str
    what: Literal["put", "patch", "merge", "remove"]
    title: str | None = None
    text: str | None = None
    attributes: Mapping[str, PlainValue] = field(default_factory=dict)
    vectors: Mapping[str, Array] = field(default_factory=dict)
    picture: bytes | None = None

    def record(self, place: str, known: ItemRecord | None) -> Record | RowProblem:
        """Return the change as a row of a source; known: the item as it is, if it is there."""
        if known is None and self.what == "patch":
            return RowProblem(place, "no such item", shorten(self.id))
        title, text, attributes = self.title, self.text, dict(self.attributes)
        if self.what == "put":
            title, text = title or "", text or ""
            others = () if known is None else known.attributes
            attributes = {**dict.fromkeys(others), **attributes}
        vectors = dict(self.vectors)
        return Record(place, self.id, title, text, self.picture, attributes, vectors)


Verdict = Literal["new", "changed", "unchanged", "removed", "not found", "refused"]


@dataclass(frozen=True)
class ChangeResult:
    """What became of a change. problem: why it was refused, in a sentence."""

    id: str
    result: Verdict
    problem: str = ""


class ChangedItems:
    """The items of chunks, by what they are to the catalog: those it has by row, and new ones."""

    def __init__(self, report: BuildReport) -> None:
        self._report = report
        self._chunks: list[Path | Chunk] = []
        self._by_row: dict[int, tuple[int, int]] = {}
        self._new: list[tuple[int, int]] = []
        self._seen: set[str] = set()
        self.unchanged = 0
        self._load = lru_cache(_OPEN_CHUNKS)(_chunk_with_places)

    @property
    def new(self) -> int:
        """How many items the catalog did not have."""
        return len(self._new)

    @property
    def changed(self) -> int:
        """How many items of the catalog are not as they were."""
        return len(self._by_row)

    def add(self, chunk: Chunk, file: Path | None = None) -> None:
        """Take in a chunk; of several rows with the same id, the first counts.

        file: where it can be read again, so that it need not be held.
        """
        number = len(self._chunks)
        self._chunks.append(chunk if file is None else file)
        self.unchanged += chunk.unchanged
        for place, item in enumerate(chunk.items):
            if item["id"] in self._seen:
                self._report.add(RowProblem(item["place"], "duplicate id", shorten(item["id"])))
                continue
            self._seen.add(item["id"])
            if item["row"] is None:
                self._new.append((number, place))
            else:
                self._by_row[item["row"]] = number, place

    def __contains__(self, row: int) -> bool:
        return row in self._by_row

    def of_row(self, row: int) -> tuple[ItemRecord, dict[str, Floats]]:
        """Return an item of the catalog as it is now, and its new vectors by view."""
        return self._at(*self._by_row[row])

    def of_changed(self) -> Iterator[tuple[int, ItemRecord, dict[str, Floats]]]:
        """Yield the rows of changed items, the items as they are now, and their new vectors."""
        return ((row, *self._at(*where)) for row, where in self._by_row.items())

    def of_new(self) -> Iterator[tuple[ItemRecord, dict[str, Floats]]]:
        """Yield the new items with their vectors by view."""
        return (self._at(*where) for where in self._new)

    def _at(self, number: int, place: int) -> tuple[ItemRecord, dict[str, Floats]]:
        chunk, places = self._load(self._chunks[number])
        vectors = {name: chunk.vectors[name][at] for name, at in places[place].items()}
        return item_record(chunk.items[place]), vectors


def _chunk_with_places(held: Path | Chunk) -> tuple[Chunk, list[dict[str, int]]]:
    """Return a chunk, and by item where its vectors are in those of each view."""
    chunk = held if isinstance(held, Chunk) else Chunk.load(held)
    counts, places = Counter[str](), list[dict[str, int]]()
    for item in chunk.items:
        places.append({name: counts[name] for name in item["views"]})
        counts.update(item["views"])
    return chunk, places
