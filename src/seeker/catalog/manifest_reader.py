"""Reading a catalog's manifest, which nobody vouches for: every field is checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from seeker.catalog.attributes import KIND_NAMES, Kind, shorten
from seeker.catalog.item_writer import MAX_ATTRIBUTES
from seeker.catalog.manifest import (
    ID_BYTES,
    MANIFEST_NAME,
    METRICS,
    SCHEMA,
    AddedEntry,
    EmbedderEntry,
    FileEntry,
    LearnedEntry,
    Manifest,
    MapEntry,
    ViewEntry,
    work_folder,
)
from seeker.catalog.manifest_fields import (
    MAX_BYTES,
    VIEW_NAME,
    BadField,
    Fields,
    decode,
)
from seeker.catalog.media import check_sizes
from seeker.catalog.nofollow import LeadsOut, NotPlain, open_inside
from seeker.catalog.presentation import Presentation
from seeker.embedders.attributes import AttributeEncoding, AttributesEmbedder
from seeker.errors import BadInput, NotFound, SeekerError
from seeker.space.packing import DTYPES

_MIN_SCALE, _MAX_SCALE = 1e-100, 1e100
"""Between these lie all mean squared distances that vectors of float32 can have."""


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


def _id(fields: Fields) -> str:
    if "id" not in fields.value:
        return ""
    id = fields.text("id")
    if id and not re.fullmatch(f"[0-9a-f]{{{2 * ID_BYTES}}}", id):
        raise BadField(f"has an id that is not {2 * ID_BYTES} digits")
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
