"""`seeker update` and `seeker remove`: a new version beside the old one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from seeker.catalog.attributes import shorten
from seeker.catalog.build import publish
from seeker.catalog.build.chunks import ChunkBuilder, views_recipe
from seeker.catalog.build.item_changes import ChangedItems, ChangeResult, ItemChange, Verdict
from seeker.catalog.build.known_items import KnownItems
from seeker.catalog.build.pipeline import (
    BuildProgress,
    BuildReport,
    ProgressCallback,
    make_chunks,
    prepare_work_folder,
)
from seeker.catalog.build.plan import ViewSpec, attribute_encodings, plan_views, view_name
from seeker.catalog.build.source import (
    Source,
    SourceContents,
    SourceKeywords,
    SourceOptions,
)
from seeker.catalog.build.sources.opener import open_source
from seeker.catalog.build.versions import folder_of, publish_changes, updating
from seeker.catalog.catalog import Catalog
from seeker.catalog.file_lock import WAIT_SECONDS
from seeker.catalog.manifest import Manifest, PathLike
from seeker.catalog.nofollow import real_folder
from seeker.embedders import BUILTIN, named
from seeker.embedders.attributes import AttributesEmbedder
from seeker.errors import BadInput, NotFound

if TYPE_CHECKING:
    from seeker.embedders.base import Embedder


@dataclass(frozen=True)
class UpdateReport:
    """What a change of a catalog came to, and the catalog after it.

    new, changed, unchanged: items. refused: rows that could not be taken. removed: items.
    """

    catalog: Catalog = field(repr=False)
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: int = 0
    removed: int = 0

    @property
    def sentence(self) -> str:
        """What happened, in one line for people."""
        if self.removed:
            return f"{self.removed:,} removed, {len(self.catalog):,} left."
        return (
            f"{self.new:,} new, {self.changed:,} changed, {self.unchanged:,} unchanged, "
            f"{self.refused:,} refused."
        )


def update(
    catalog: PathLike | Catalog,
    source: PathLike | Source | Any,
    *,
    embedders: Mapping[str, Embedder] | None = None,
    trust: bool = False,
    strict: bool = False,
    tell: ProgressCallback | None = None,
    progress: bool = False,
    wait: float = WAIT_SECONDS,
    **options: Unpack[SourceKeywords],
) -> UpdateReport:
    """Add the items of a source to a catalog, or change those that it has, as a new version.

    Items are told by their ids. What the source does not say of an item stays as it is: columns
    that it does not have, and pictures, texts and vectors that have not changed, which are not
    embedded again. The order of the items stays; new ones come last. The views are those that the
    catalog has. options: how the source is read, as for `build`; its columns are taken as those of
    the same names were when the catalog was built. trust: load any embedder that the catalog names,
    even if it is not one of Seeker's own. wait: for how many seconds another change may go on.
    """
    target = folder_of(catalog)
    with updating(target, wait) as (work, old, manifest):
        columns = manifest.source.get("columns")
        earlier = columns if isinstance(columns, dict) else {}
        reader = open_source(source, SourceOptions(**options, columns=earlier, updating=True))
        publish.check_writable(target, media=reader.offer.pictures)
        specs = _specs(manifest, reader.offer, embedders or {}, trust)
        report = BuildReport(strict)
        changes = ChangedItems(report)
        with BuildProgress(tell, progress) as display:
            for note in reader.notes():
                display.say(note)
            origin = json.dumps(reader.origin())
            sizes = manifest.thumbnail_sizes
            recipe = views_recipe(specs, sizes)
            if prepare_work_folder(work, f"{recipe} {origin} {manifest.identity}"):
                display.say("Resuming what was interrupted.")
            display.start(reader.count() if progress else None)
            known = KnownItems(old, specs, update=True)
            for file, chunk in make_chunks(reader, specs, work, report, display, sizes, known):
                changes.add(chunk, file)
            if changes.new or changes.changed:
                display.say("Indexing …")
                details = {"source": reader.origin(), "left out": report.to_json()}
                nothing = np.zeros(len(old), bool)
                publish_changes(work, target, old, nothing, changes, details, reader.loose)
        for line in report.lines():
            if tell is not None:
                tell(line)
    return UpdateReport(
        Catalog.open(target),
        changes.new,
        changes.changed,
        changes.unchanged,
        report.counts.total(),
    )


def apply_changes(
    catalog: PathLike | Catalog,
    changes: Sequence[ItemChange],
    *,
    wait: float = WAIT_SECONDS,
) -> tuple[int, list[ChangeResult]]:
    """Change some items of a catalog, each at most once, in one new version.

    Returns the version after it and what became of each change, in their order; when it returns,
    that is on disk. What has not changed is not embedded again, and only embedders of Seeker's own
    are loaded; they stay loaded.
    """
    target = folder_of(catalog)
    if len({one.id for one in changes}) < len(changes):
        raise BadInput("An item is changed more than once.", "Change it once after the other.")
    with updating(target, wait) as (work, old, manifest):
        known = {id: item for id, (_, item) in old.known([one.id for one in changes]).items()}
        results: dict[str, ChangeResult] = {}
        puts = [(str(n), one) for n, one in enumerate(changes) if one.what != "remove"]
        gone = np.zeros(len(old), bool)
        for one in changes:
            if one.what == "remove" and one.id in known:
                gone[old.row(one.id)] = True
                results[one.id] = ChangeResult(one.id, "removed")
            elif one.what == "remove":
                results[one.id] = ChangeResult(one.id, "not found")
        offer = SourceContents(
            any(one.picture is not None for _, one in puts),
            any(one.title is not None or one.text is not None for _, one in puts),
            {name: len(one.vectors[name]) for _, one in puts for name in one.vectors},
        )
        publish.check_writable(target, media=offer.pictures)
        specs = _specs(manifest, replace(offer, vectors={}), _loaded(manifest, offer), trust=False)
        specs = [replace(one, column=one.name) if one.input == "vectors" else one for one in specs]
        real_folder(work / "new")
        items = KnownItems(old, specs, update=True)
        builder = ChunkBuilder(
            specs, work / "new" / "media", manifest.thumbnail_sizes, items, sync=True
        )
        try:
            chunk = builder.make([one.record(place, known.get(one.id)) for place, one in puts])
        finally:
            builder.close()
        ids = {place: one.id for place, one in puts}
        for problem in chunk.problems:
            verdict: Verdict = "not found" if problem.what == "no such item" else "refused"
            detail = f" ({problem.detail})" if problem.detail else ""
            results[ids[problem.place]] = ChangeResult(
                ids[problem.place], verdict, f"{problem.what.capitalize()}{detail}."
            )
        for item in chunk.items:
            verdict = "new" if item["row"] is None else "changed"
            results[item["id"]] = ChangeResult(item["id"], verdict)
        for id in ids.values():
            results.setdefault(id, ChangeResult(id, "unchanged"))
        if gone.all():
            raise BadInput(
                "Nothing would be left of the catalog.", "Delete its folder if that is meant."
            )
        if chunk.items or gone.any():
            changed = ChangedItems(BuildReport())
            changed.add(chunk)
            publish_changes(work, target, old, gone, changed, {})
        version = manifest.version + bool(chunk.items or gone.any())
    return version, [results[one.id] for one in changes]


def _loaded(manifest: Manifest, offer: SourceContents) -> dict[str, Embedder]:
    """Return by view the embedders of Seeker's own that some changes need."""
    needed = {"picture"} if offer.pictures else set()
    needed |= {"text"} if offer.text else set()
    return {
        name: _builtin(entry.embedder.name)
        for name, entry in manifest.made_views.items()
        if entry.embedder is not None
        and entry.embedder.name in BUILTIN
        and needed & {*entry.embedder.reads}
    }


@lru_cache(len(BUILTIN))
def _builtin(name: str) -> Embedder:
    """Return an embedder of Seeker's own, loaded once."""
    return named(name, builtin_only=True)


def remove(
    catalog: PathLike | Catalog,
    *,
    ids: Iterable[str] | None = None,
    where: Mapping[str, Any] | None = None,
    wait: float = WAIT_SECONDS,
) -> UpdateReport:
    """Remove items from a catalog, by their ids or by a filter, as a new version.

    Their ids and vectors are kept for sessions in which they were judged, until `forget_removed`.
    wait: for how many seconds another change of the catalog may go on.
    """
    target = folder_of(catalog)
    if ids is None and not where:
        raise BadInput("Nothing says what to remove.", "Give ids, or a filter.")
    with updating(target, wait) as (work, old, _):
        gone = np.zeros(len(old), bool)
        if ids is not None:
            gone[_rows(old, list(ids))] = True
        if where:
            gone |= old.matching(where)
        if not gone.any():
            raise NotFound("No item of the catalog passes the filter.", "Nothing was removed.")
        if gone.all():
            raise BadInput(
                "Nothing would be left of the catalog.", "Delete its folder if that is meant."
            )
        publish_changes(work, target, old, gone, None, {})
    return UpdateReport(Catalog.open(target), removed=int(gone.sum()))


def _specs(
    manifest: Manifest, offer: SourceContents, embedders: Mapping[str, Embedder], trust: bool
) -> list[ViewSpec]:
    """Return how the views of a catalog are made of a new source.

    What the source has nothing for can be kept, but not made: such views have no embedder here.
    """
    specs = []
    columns = {view_name(column): column for column in offer.vectors}
    encodings = attribute_encodings(manifest)
    for name, entry in manifest.made_views.items():
        spec = ViewSpec(
            name,
            "vectors",
            entry.dimensions,
            entry.metric,
            embedder_entry=entry.embedder,
            dtype="float32",
        )
        if name in encodings:
            spec = replace(spec, input="attributes").with_encoding(encodings[name])
            specs.append(replace(spec, embedder=AttributesEmbedder(encodings[name])))
            continue
        if entry.embedder is None:
            column = columns.get(name, "")
            if column and offer.vectors[column] != entry.dimensions:
                raise BadInput(
                    f"View '{name}' has {entry.dimensions} dimensions in the catalog, but "
                    f"{offer.vectors[column]} in the source."
                )
            specs.append(replace(spec, column=column))
            continue
        reads = entry.embedder.reads
        pictures = "picture" in reads and (manifest.media > 0 or "text" not in reads)
        if not (offer.pictures if pictures else offer.text):
            specs.append(replace(spec, input="picture" if pictures else "text"))
            continue
        only = SourceContents(pictures, not pictures)
        view = f"{name}={entry.embedder.name}"
        (made,) = plan_views(only, [view], None, embedders, "float32", builtin_only=not trust)
        if (made.embedder_entry, made.dimensions) != (entry.embedder, entry.dimensions):
            raise BadInput(
                f"View '{name}' was made by another version of its embedder.",
                "Their vectors cannot be compared; build the catalog again.",
            )
        specs.append(replace(made, metric=entry.metric))
    return specs


def _rows(old: Catalog, ids: list[str]) -> list[int]:
    missing = [id for id in ids if id not in old]
    if missing:
        others = f", and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise NotFound(
            f"The catalog has no item {shorten(missing[0])}{others}.", "Nothing was removed."
        )
    return [old.row(id) for id in ids]
