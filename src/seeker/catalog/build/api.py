"""`seeker.build`: from a folder, a table or arrays to a catalog."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.catalog.attributes import Kind, plain_value
from seeker.catalog.build import publish
from seeker.catalog.build.chunks import views_recipe
from seeker.catalog.build.known_items import KnownItems
from seeker.catalog.build.pipeline import (
    BuildProgress,
    BuildReport,
    EmptySourceError,
    prepare_work_folder,
    run_build,
)
from seeker.catalog.build.plan import (
    AttributesView,
    ViewSpec,
    attribute_encodings,
    check_attributes,
    language_notice,
    plan_views,
    text_embedder,
)
from seeker.catalog.build.source import (
    Record,
    RecordSource,
    Source,
    SourceContents,
    SourceOptions,
    check_list,
)
from seeker.catalog.build.sources.opener import open_source
from seeker.catalog.catalog import Catalog
from seeker.catalog.file_lock import clear, file_lock
from seeker.catalog.item_writer import ItemWriter
from seeker.catalog.manifest import MANIFEST_NAME, PathLike, path_of, work_folder
from seeker.catalog.manifest_fields import BadField, check_plain, cleaned
from seeker.catalog.media import DEFAULT_SIZES, check_sizes
from seeker.catalog.presentation import NO_PRESENTATION, Presentation
from seeker.errors import BadInput, Conflict
from seeker.space.packing import check_dtype

if TYPE_CHECKING:
    from seeker.embedders.base import Embedder


def build(
    source: PathLike | Source | Any,
    out: PathLike,
    *,
    views: Sequence[str] | None = None,
    images: PathLike | None = None,
    id: str | None = None,
    title: str | None = None,
    text: Sequence[str] | None = None,
    picture: str | None = None,
    attributes: Sequence[str] | None = None,
    vectors: Sequence[str] | None = None,
    ids: PathLike | None = None,
    table: PathLike | None = None,
    encoding: str = "utf-8-sig",
    decimal: str | None = None,
    metric: str | Mapping[str, str] | None = None,
    dtype: str = "auto",
    embedders: Mapping[str, Embedder] | None = None,
    attributes_view: AttributesView = None,
    presentation: Mapping[str, Mapping[str, Any]] | None = None,
    only: Mapping[str, Any] | None = None,
    picture_sizes: Sequence[int] | None = None,
    about: Mapping[str, Any] | None = None,
    strict: bool = False,
    replace: bool = False,
    tell: Callable[[str], None] | None = None,
    progress: bool = False,
) -> Catalog:
    """Build a catalog from a source and open it.

    source: a folder of pictures; a .csv, .tsv, .jsonl or .parquet table; .npy or .npz arrays; the
    address of a PostgreSQL database; a table in memory, of pandas, polars, Arrow or Hugging
    Face's datasets; or an object with the methods of `Source`. out: the folder to make. It is
    made aside and put in place at the end; a build that was interrupted goes on where it was.

    views: which to make, such as ["image", "colour", "attributes", "kind=attributes:label"]; chosen
    from what the source has unless given. id, title, picture (one column each), text, attributes,
    vectors (several): what the columns of a table are; guessed unless given. images: the folder
    that a table's picture paths are in. ids: a file with the ids of arrays. table: which table of a
    database; for a folder, a file that says more about its pictures. encoding, decimal: of a CSV
    file; decimal="," reads 12,50 as a number, and "." leaves it a text. metric: how ready-made
    vectors are compared, for all or by view. dtype: how vectors are stored, "float32", "float16" or
    "int8"; "auto" is float32 up to 2 GB a view, float16 up to 8 GB, then int8.
    embedders: by name of a view, embedders of your own; `views` says which are used.
    attributes_view: the columns that the view `attributes` is made of, as a list, or as a mapping
    to their weights; chosen by what is in them unless given; False for no such view.
    presentation: how people see attributes, such as {"price": {"currency": "EUR", "card": True},
    "stock": {"hidden": True}, "address": {"link": True}}. only: a filter that every search keeps
    to, such as {"stock": {"gt": 0}}. picture_sizes: in which sizes pictures are kept for screens,
    in pixels each way; (320, 512) unless given; none is made larger than it is. With `replace`, all
    three stay as they were unless given.
    about: title, licence, attribution and the like. strict: refuse bad rows instead of leaving
    them out. replace: make a new version of a catalog that is there; pictures and texts that have
    not changed are not embedded again. tell: called with what was
    guessed and what was left out. progress: show a bar.
    """
    options = SourceOptions(
        images, id, title, text, picture, attributes, vectors, ids, table, encoding, decimal
    )
    check_list("views", views)
    target = path_of(out, "the path of a catalog")
    _check_place(target, replace)
    _check_about(about)
    reader = open_source(source, options)
    specs = plan_views(
        reader.offer,
        views,
        metric,
        embedders or {},
        check_dtype(dtype),
        attributes_view=attributes_view,
        text_embedder=text_embedder(reader, views),
    )
    shown = Presentation.of(presentation or {}, only)
    sizes = None if picture_sizes is None else check_sizes(picture_sizes)
    check_attributes(specs, reader, list(shown.names()))
    if (target / MANIFEST_NAME).exists():
        publish.check_writable(target, media=reader.offer.pictures)
    report = BuildReport(strict)
    work = work_folder(target)
    work.parent.mkdir(parents=True, exist_ok=True)
    with (
        file_lock(work / "lock", f"'{target}' is being built"),
        BuildProgress(tell, progress) as display,
    ):
        for note in reader.notes():
            display.say(note)
        names = [f"{one.name} ({one.dimensions})" for one in specs if one.input != "attributes"]
        if names:
            display.say(f"Views: {', '.join(names)}")
        if warning := language_notice(reader, specs, views is None):
            display.say(warning)
        before = Catalog.open(target) if (target / MANIFEST_NAME).exists() else None
        earlier = before.manifest.picture_sizes if before is not None and before.manifest else ()
        sizes = sizes or earlier or DEFAULT_SIZES
        recipe = f"{views_recipe(specs, sizes)} {json.dumps(reader.origin())}"
        if prepare_work_folder(work, recipe):
            display.say("Resuming the build that was interrupted.")
        display.start(reader.count() if progress else None)
        known = None if before is None else KnownItems(before, specs, update=False)
        tombstones = 0

        def write_tombstones(writer: ItemWriter, final_specs: Sequence[ViewSpec]) -> None:
            nonlocal tombstones
            if before is not None:
                tombstones = publish.write_tombstones(writer, before, final_specs)

        prefix = publish.prefix(target)
        try:
            files = run_build(
                reader,
                specs,
                work,
                report,
                display,
                sizes,
                prefix,
                known,
                on_complete=write_tombstones,
                encodings=attribute_encodings(before.manifest) if before is not None else None,
            )
        except EmptySourceError:
            clear(work)
            raise
        manifest = publish.make_manifest(
            files,
            presentation=_presentation(
                shown, presentation, only, before, files.attributes
            ).with_currencies(reader.offer.currencies, files.attributes),
            version=publish.next_version(target),
            source={**reader.origin(), "left out": report.to_json()},
            about=dict(about or {}),
            tombstones=tombstones,
            id=before.id if before is not None else "",
            picture_sizes=sizes,
        )
        publish.publish(manifest, work, target)
        clear(work)
    for line in [*files.notes, *report.lines()]:
        if tell is not None:
            tell(line)
    return Catalog.open(target)


def _presentation(
    shown: Presentation,
    presentation: object,
    only: object,
    before: Catalog | None,
    kinds: Mapping[str, Kind],
) -> Presentation:
    """Return how people see a new version: as was said, and else as before."""
    old = NO_PRESENTATION if before is None else before.presentation.of_known(kinds)
    new = Presentation(
        old.attributes if presentation is None else shown.attributes,
        old.only if only is None else shown.only,
    )
    new.check(kinds)
    return new


def save(catalog: Catalog, out: PathLike) -> Catalog:
    """Write a catalog of arrays to a folder and open it there."""
    if catalog.folder is not None:
        raise BadInput(f"The catalog is in '{catalog.folder}' already.", "Copy that folder.")
    for name, view in catalog.views.items():
        if callable(view.metric) or view.units == "raw":
            raise BadInput(
                f"View '{name}' has a metric of your own or raw distances, which are not kept.",
                "Use 'euclidean', 'cosine' or 'manhattan' in units.",
            )

    def records() -> Iterator[Record]:
        for start in range(0, len(catalog), _SAVED_ROWS):
            rows = range(start, min(start + _SAVED_ROWS, len(catalog)))
            vectors = {n: view.rows(np.array(rows)) for n, view in catalog.views.items()}
            for place, item in enumerate(catalog.items(rows)):
                values = {n: plain_value(value) for n, value in item.attributes.items()}
                own = {n: some[place].astype(np.float32) for n, some in vectors.items()}
                yield Record(f"row {start + place}", item.id, item.title, "", None, values, own)

    views = {name: view.dimensions for name, view in catalog.views.items()}
    source = RecordSource(records, SourceContents(vectors=views), {"kind": "arrays"}, len(catalog))
    metrics = {name: str(view.metric) for name, view in catalog.views.items()}
    dtypes = {view.dtype for view in catalog.views.values()}
    return build(
        source,
        out,
        views=list(views),
        metric=metrics,
        dtype=dtypes.pop() if len(dtypes) == 1 else "auto",
        strict=True,
    )


_SAVED_ROWS = 4096


def _check_place(target: Path, replace: bool) -> None:
    """Refuse a place that something else has."""
    if (target / MANIFEST_NAME).exists():
        if not replace:
            raise Conflict(
                f"There is a catalog at '{target}' already.",
                "Put a new one in its place with --replace (replace=True), or use `seeker update`.",
            )
    elif target.exists() and not _is_empty(target):
        raise Conflict(
            f"'{target}' is there already and is no catalog.", "Choose another place for it."
        )


def _check_about(about: Mapping[str, Any] | None) -> None:
    """Refuse what cannot be written to catalog.json, before any work is done."""
    try:
        check_plain(cleaned(dict(about or {})))
    except BadField as error:
        raise BadInput(f"What is said about the catalog {error}.") from None


def _is_empty(folder: Path) -> bool:
    try:
        return not any(folder.iterdir())
    except NotADirectoryError:
        return False
