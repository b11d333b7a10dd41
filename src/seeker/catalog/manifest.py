"""The manifest, catalog.json: what a catalog folder holds, and where."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from seeker.catalog.attributes import KIND_NAMES, Kind, shorten
from seeker.catalog.item_writer import MAX_ATTRIBUTES
from seeker.catalog.manifest_fields import (
    MAX_BYTES,
    VIEW_NAME,
    BadField,
    Fields,
    decode,
    encode,
)
from seeker.catalog.media import FIRST_SIZES, check_sizes
from seeker.catalog.nofollow import LeadsOut, NotPlain, OpenFolder, open_inside
from seeker.catalog.presentation import Presentation
from seeker.embedders.attributes import AttributeEncoding, AttributesEmbedder
from seeker.errors import BadInput, NotFound, SeekerError
from seeker.space.packing import DTYPES

PathLike = str | os.PathLike[str]

SCHEMA = 5
MANIFEST_NAME = "catalog.json"
METRICS = ("euclidean", "cosine", "manhattan")

_JSON_NAMES = {"created": "made", "tombstones": "departed"}
"""What fields of the manifest are called in catalog.json, where that is not their own name."""

_ID_BYTES = 16

_MIN_SCALE, _MAX_SCALE = 1e-100, 1e100
"""Between these lie all mean squared distances that vectors of float32 can have."""


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


def read_manifest(folder: Path) -> Manifest:
    """Read a catalog's manifest; refuse what is no catalog, damaged, or newer than this Seeker."""
    try:
        with open_inside(folder, MANIFEST_NAME) as handle:
            contents = handle.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise _missing(folder) from None
    except LeadsOut:
        raise damaged(folder, "its catalog.json is a link that leads out of the folder") from None
    except NotPlain:
        raise damaged(folder, "its catalog.json is not a file") from None
    try:
        value = decode(contents)
        if not isinstance(value, dict) or type(value.get("schema")) is not int:
            raise BadField("does not say which schema it has")
        if value["schema"] > SCHEMA:
            raise BadInput(
                f"The catalog at '{folder}' has schema {shorten(value['schema'])}, "
                f"but this Seeker reads schemas up to {SCHEMA}.",
                "Install a newer Seeker, or build the catalog again with this one.",
            )
        return _manifest(Fields(value, "all of it"))
    except BadField as error:
        raise damaged(folder, f"its catalog.json {error}") from None


def _missing(folder: Path) -> NotFound:
    """Return the error for a place that has no catalog, with what may have been meant."""
    if folder.name == MANIFEST_NAME and folder.is_file():
        return NotFound(f"'{folder}' is part of a catalog.", f"Open its folder, '{folder.parent}'.")
    if work_folder(folder).is_dir():
        return NotFound(
            f"There is no catalog at '{folder}' yet.",
            "Its build has not come to its end; the same `seeker build` goes on with it.",
        )
    if folder.exists():
        return NotFound(
            f"'{folder}' is not a catalog.", f"Make one of it with `seeker build {folder} --out …`."
        )
    return NotFound(
        f"There is no catalog at '{folder}'.", "Make one with `seeker build SOURCE --out …`."
    )


class Damaged(BadInput):
    """A catalog that is not as Seeker writes them, by accident or on purpose."""


def damaged(folder: Path, what: str) -> Damaged:
    """Return the error for a folder that cannot be trusted."""
    return Damaged(
        f"The catalog at '{folder}' is damaged: {what}.",
        "Restore it from a copy, or build it again.",
    )


def _manifest(fields: Fields) -> Manifest:
    fields.whole("schema", 1)
    attributes = _attributes(fields.fields("attributes"))
    manifest = Manifest(
        version=fields.whole("version", 1),
        count=fields.whole("count", 1),
        items=_file_entry(fields.fields("items")),
        attributes=attributes,
        views={_view_name(name): _view_entry(view) for name, view in fields.fields("views").each()},
        media=fields.whole("media", 0),
        created=fields.text("made"),
        seeker=fields.text("seeker"),
        source=_source(fields.fields("source")),
        about=fields.fields("about").value,
        tombstones=fields.whole("departed", 0),
        learned=_learned_entry(fields.optional("learned")),
        presentation=_presentation(fields.optional("presentation"), attributes),
        log=_optional_file(fields.optional("log")),
        removed=_optional_file(fields.optional("removed")),
        id=_id(fields),
        picture_sizes=_picture_sizes(fields.value.get("picture_sizes", [])),
    )
    if manifest.log is not None and manifest.log.file != f"{manifest.items.file}-wal":
        raise BadField("names a log that is not beside the file of items")
    if not manifest.made_views:
        raise BadField("names no views")
    for name, view in manifest.views.items():
        if view.learned is not None and not {*view.learned.sources} <= {*manifest.made_views}:
            raise BadField(f"has a learned view '{name}' of views that it does not name")
    if manifest.learned is not None and not {*manifest.learned.views} <= {*manifest.views}:
        raise BadField("says that something was learned about views that it does not name")
    if fields.text("identity") != manifest.identity:
        raise BadField("has an identity that is not that of its version and checksums")
    return manifest


def new_id() -> str:
    """Return an id for a catalog, unlike all others."""
    return secrets.token_hex(_ID_BYTES)


def _id(fields: Fields) -> str:
    if "id" not in fields.value:
        return ""
    id = fields.text("id")
    if id and not re.fullmatch(f"[0-9a-f]{{{2 * _ID_BYTES}}}", id):
        raise BadField(f"has an id that is not {2 * _ID_BYTES} digits")
    return id


def _picture_sizes(sizes: object) -> tuple[int, ...]:
    if not sizes:
        return ()
    try:
        return check_sizes(sizes if isinstance(sizes, list) else [])
    except BadInput as error:
        raise BadField(f"has picture_sizes that are none: {error.message}") from None


def _presentation(entry: Fields | None, kinds: Mapping[str, Kind]) -> Presentation:
    if entry is None:
        return Presentation()
    only = entry.optional("only")
    try:
        presentation = Presentation.of(
            entry.fields("attributes").value, None if only is None else only.value
        )
        presentation.check(kinds)
    except SeekerError as error:
        raise BadField(f"has a presentation that is none: {error.message}") from None
    return presentation


def _attributes(entries: Fields) -> dict[str, Kind]:
    if len(entries.value) > MAX_ATTRIBUTES:
        raise BadField(f"names more than {MAX_ATTRIBUTES:,} attributes")
    return {name: cast(Kind, entries.one_of(name, KIND_NAMES)) for name in entries.value}


def _source(entries: Fields) -> dict[str, Any]:
    """Return where the items came from; what of it is used again is checked."""
    entries.objects("updates")
    left_out = entries.optional("left out")
    for _, one in () if left_out is None else left_out.each():
        one.whole("count", 0)
    return entries.value


def _view_name(name: str) -> str:
    if not VIEW_NAME.fullmatch(name):
        raise BadField(f"names a view {shorten(name)}; names are made of letters, digits, - and _")
    return name


def _learned_entry(entry: Fields | None) -> LearnedEntry | None:
    if entry is None:
        return None
    views = entry.texts("views")
    if not views or len({*views}) < len(views):
        raise BadField("says that something was learned about no views, or about one twice")
    return LearnedEntry(
        model=entry.fields("model").value,
        views=views,
        searches=entry.whole("searches", 0),
        at=entry.text("at"),
        summary=entry.fields("summary").value,
    )


def _map_entry(entry: Fields | None) -> MapEntry | None:
    if entry is None:
        return None
    sources = entry.texts("sources")
    if not sources or len({*sources}) < len(sources):
        raise BadField("has a learned view of no others, or of one twice")
    return MapEntry(_file_entry(entry.fields("map")), sources)


def _view_entry(entry: Fields) -> ViewEntry:
    embedder, steps = entry.optional("embedder"), entry.optional("steps")
    units = entry.one_of("units", ("unit", "raw"))
    scale = entry.number("scale", _MIN_SCALE, _MAX_SCALE)
    if units == "raw" and scale != 1.0:
        raise BadField(f"gives a view in raw units the scale {scale:g} instead of 1")
    dtype = entry.one_of("dtype", DTYPES)
    dimensions = entry.whole("dimensions", 1)
    if (dtype == "int8") != (steps is not None):
        raise BadField("gives steps to a view that has none, or none to one of int8")
    return ViewEntry(
        vectors=_file_entry(entry.fields("vectors")),
        moments=_file_entry(entry.fields("moments")),
        dimensions=dimensions,
        metric=entry.one_of("metric", METRICS),
        units=units,
        scale=scale,
        radius=entry.number("radius", 0.0, _MAX_SCALE),
        dtype=dtype,
        steps=None if steps is None else _file_entry(steps),
        embedder=None if embedder is None else _embedder_entry(embedder, dimensions),
        learned=_map_entry(entry.optional("learned")),
        added=_added_entry(entry.optional("added"), dtype),
        slots=_optional_file(entry.optional("slots")),
    )


def _added_entry(entry: Fields | None, dtype: str) -> AddedEntry | None:
    if entry is None:
        return None
    steps = entry.sha256("steps") if dtype == "int8" else None
    return AddedEntry(entry.whole("rows", 1), entry.sha256("vectors"), steps)


def _optional_file(entry: Fields | None) -> FileEntry | None:
    return None if entry is None else _file_entry(entry)


def _embedder_entry(entry: Fields, dimensions: int) -> EmbedderEntry:
    name, settings = entry.text("name"), entry.optional("settings")
    if name == AttributesEmbedder.name:
        try:
            encoding = AttributeEncoding.from_json(entry.fields("settings").value)
        except ValueError as error:
            raise BadField(f"has settings of a view of attributes that are none: {error}") from None
        if encoding.dimensions != dimensions:
            raise BadField(
                "gives a view of attributes dimensions that are not those of its columns"
            )
    return EmbedderEntry(
        name,
        entry.text("version"),
        entry.texts("reads"),
        None if settings is None else settings.value,
    )


def _file_entry(entry: Fields) -> FileEntry:
    return FileEntry(entry.file("file"), entry.whole("bytes", 0), entry.sha256("sha256"))


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
