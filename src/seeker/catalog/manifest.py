"""The manifest, catalog.json: what a catalog folder holds, and where."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from seeker.catalog.attributes import Kind, shorten
from seeker.catalog.manifest_fields import (
    BadField,
    encode,
)
from seeker.catalog.media import FIRST_SIZES
from seeker.catalog.nofollow import OpenFolder, open_inside
from seeker.catalog.presentation import Presentation
from seeker.errors import BadInput

PathLike = str | os.PathLike[str]

SCHEMA = 5
MANIFEST_NAME = "catalog.json"
METRICS = ("euclidean", "cosine", "manhattan")

_JSON_NAMES = {"created": "made", "tombstones": "departed"}
"""What fields of the manifest are called in catalog.json, where that is not their own name."""

ID_BYTES = 16


@dataclass(frozen=True)
class FileEntry:
    """A file of the catalog: where it is in the folder, how long, and what its bytes sum up to."""

    file: str
    bytes: int
    sha256: str

    @classmethod
    def of(cls, folder: Path, file: str) -> FileEntry:
        """Measure a file."""
        with open_inside(folder, file) as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
            return cls(file, handle.tell(), digest)


def part_sha256(folder: Path, file: str, start: int, length: int) -> str:
    """Return what some bytes of a file sum up to."""
    digest = hashlib.sha256()
    with open_inside(folder, file) as handle:
        handle.seek(start)
        while length > 0 and (block := handle.read(min(length, 2**20))):
            digest.update(block)
            length -= len(block)
    return digest.hexdigest()


@dataclass(frozen=True)
class AddedEntry:
    """Vectors that updates have added at the end of a view's file, and steps at that of theirs."""

    rows: int
    vectors: str
    steps: str | None = None


@dataclass(frozen=True)
class EmbedderEntry:
    """Which embedder made a view, and what it reads: "picture", "text" or both, or "attribute".

    settings: what it was fitted to when the catalog was built, where it was.
    """

    name: str
    version: str
    reads: tuple[str, ...]
    settings: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class MapEntry:
    """How a learned view follows from others: a file with the map, (Σ d, k + 1) float32."""

    map: FileEntry
    sources: tuple[str, ...]


@dataclass(frozen=True)
class ViewEntry:
    """A view: its vectors, and what distances need to know of them.

    moments: a file with the mean and the variance of every dimension, (2, d) float64; of compact
    vectors also their centre, (3, d). steps: a file with the step of every int8 vector, (items,).
    learned: where a map of other views makes it. added: what updates have put after that. slots:
    a file that tells where in the file of vectors those of the items are, (runs, 2) int64: from
    which item on, from which row on; one after the other unless given.
    """

    vectors: FileEntry
    moments: FileEntry
    dimensions: int
    metric: str
    units: str
    scale: float
    radius: float
    dtype: str = "float32"
    steps: FileEntry | None = None
    embedder: EmbedderEntry | None = None
    learned: MapEntry | None = None
    added: AddedEntry | None = None
    slots: FileEntry | None = None

    @property
    def row_bytes(self) -> int:
        """How many bytes a vector takes."""
        return self.dimensions * {"float32": 4, "float16": 2, "int8": 1}[self.dtype]

    @property
    def added_rows(self) -> int:
        """How many vectors updates have added."""
        return 0 if self.added is None else self.added.rows


@dataclass(frozen=True)
class LearnedEntry:
    """What past searches have taught: how sessions begin that do not say otherwise.

    model: its settings as JSON. views: by which they compare items. searches: how many were
    learned from. at: when. summary: more about it, for people and for the next time.
    """

    model: Mapping[str, Any]
    views: tuple[str, ...]
    searches: int
    at: str
    summary: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """What catalog.json says.

    version counts the updates; identity tells one version from any other. about: title, licence,
    attribution and the like, for people. source: where the items came from, what the columns were
    taken for, and what was left out. learned: from past searches, if anything was. presentation:
    how people see the attributes. log: what updates have changed in the file of items: a
    write-ahead log of SQLite. removed: a file with the rows of the item table that are gone since
    it was made, (n,) int64. id: the catalog's own, in all its versions and under all its names;
    empty in one that was not changed since there are such ids. picture_sizes: into how many pixels
    each way thumbnails fit, the smallest first; empty in one from before there were several.
    """

    version: int
    count: int
    items: FileEntry
    attributes: Mapping[str, Kind]
    views: Mapping[str, ViewEntry]
    media: int
    created: str
    seeker: str
    source: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    tombstones: int = 0
    learned: LearnedEntry | None = None
    presentation: Presentation = field(default_factory=Presentation)
    log: FileEntry | None = None
    removed: FileEntry | None = None
    id: str = ""
    picture_sizes: tuple[int, ...] = ()

    @property
    def thumbnail_sizes(self) -> tuple[int, ...]:
        """In which sizes thumbnails are made, in pixels each way."""
        return self.picture_sizes or FIRST_SIZES

    @property
    def identity(self) -> str:
        """A name for exactly this content: the same files give the same name."""
        sums = [self.items.sha256, *(one.vectors.sha256 for one in self.views.values())]
        sums += [one.steps.sha256 for one in self.views.values() if one.steps is not None]
        sums += [one.sha256 for one in (self.log, self.removed) if one is not None]
        for view in self.views.values():
            sums += [view.added.vectors] if view.added is not None else []
            sums += [view.slots.sha256] if view.slots is not None else []
        return hashlib.sha256("\n".join([str(self.version), *sums]).encode()).hexdigest()[:16]

    @property
    def files(self) -> list[FileEntry]:
        """All files that have a checksum."""
        every = [
            (
                one.vectors,
                one.moments,
                one.steps,
                one.slots,
                one.learned.map if one.learned else None,
            )
            for one in self.views.values()
        ]
        files = [self.items, self.log, self.removed, *(file for some in every for file in some)]
        return [file for file in files if file is not None]

    @property
    def growing(self) -> dict[str, int]:
        """The files to which updates add, by name, and how long they are at least."""
        sizes = {}
        for one in self.views.values():
            sizes[one.vectors.file] = one.vectors.bytes + one.added_rows * one.row_bytes
            if one.steps is not None:
                sizes[one.steps.file] = one.steps.bytes + 4 * one.added_rows
        return sizes

    @property
    def made_views(self) -> dict[str, ViewEntry]:
        """The views that were not learned, by name."""
        return {name: one for name, one in self.views.items() if one.learned is None}

    def views_kept_since(self, before: Manifest) -> set[str]:
        """Return the views that are as they were in an earlier version, row by row.

        Where items came or left there are none: each view tells where the vectors of the items are,
        in files that no other version writes to.
        """
        later = self.version > before.version or self.identity == before.identity
        if not self.id or self.id != before.id or not later or self.count != before.count:
            return set()
        removed = [one.removed and one.removed.sha256 for one in (self, before)]
        if removed[0] != removed[1]:
            return set()
        return {name for name, one in self.views.items() if before.views.get(name) == one}

    def to_json(self) -> dict[str, Any]:
        """Return what is written to catalog.json."""
        fields = {_JSON_NAMES.get(name, name): value for name, value in asdict(self).items()}
        fields["presentation"] = self.presentation.to_json()
        return {"schema": SCHEMA, "identity": self.identity, **fields}

    def write(self, folder: Path) -> None:
        """Put this manifest in the place of the one that is there, at once or not at all."""
        try:
            contents = encode(self.to_json())
        except BadField as error:
            raise BadInput(f"The catalog.json to be written {error}.") from None
        with OpenFolder.at(folder) as root:
            root.write(MANIFEST_NAME, contents)


def new_id() -> str:
    """Return an id for a catalog, unlike all others."""
    return secrets.token_hex(ID_BYTES)


def path_of(value: object, what: str) -> Path:
    """Return a value as a path; what: how errors call it, as in 'the path of a catalog'."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    if not isinstance(text, str) or not text or "\0" in text:
        raise BadInput(f"{shorten(value)} is not {what}.", "Give a text or a pathlib.Path.")
    return Path(text)


def work_folder(target: Path) -> Path:
    """Return where a catalog is built: beside its place, so that a rename puts it there.

    One catalog has one such place, and one lock, by whatever links it is reached.
    """
    real = Path(os.path.realpath(target))
    return real.with_name(f"{real.name}.building")


def compaction_folder(target: Path) -> Path:
    """Return where a catalog is written anew while others may change it."""
    real = Path(os.path.realpath(target))
    return real.with_name(f"{real.name}.compacting")
