"""`seeker update` and `seeker remove`: a new version beside the old one."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from seeker.catalog.attributes import shorten
from seeker.catalog.build import publish, segments
from seeker.catalog.build.chunks import ChunkBuilder, views_recipe
from seeker.catalog.build.files import AssembledFiles, Assembly
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
from seeker.catalog.catalog import Catalog
from seeker.catalog.file_lock import WAIT_SECONDS, clear, file_lock
from seeker.catalog.manifest import Manifest, PathLike, path_of, work_folder
from seeker.catalog.manifest_fields import cleaned
from seeker.catalog.nofollow import real_folder, remove_tree
from seeker.embedders import BUILTIN, named
from seeker.embedders.attributes import AttributesEmbedder
from seeker.errors import BadInput, NotFound
from seeker.space import packing
from seeker.types import Floats
from seeker.validation import check_whole

if TYPE_CHECKING:
    from seeker.embedders.base import Embedder

MAX_UPDATES = 1000
"""How many of the last updates catalog.json tells of."""

MAX_DAYS = 36_500

_COPY_ROWS = 8192


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
            if prepare_work_folder(work, f"{views_recipe(specs)} {origin} {manifest.identity}"):
                display.say("Resuming what was interrupted.")
            display.start(reader.count() if progress else None)
            known = KnownItems(old, specs, update=True)
            for file, chunk in make_chunks(reader, specs, work, report, display, known):
                changes.add(chunk, file)
            if changes.new or changes.changed:
                display.say("Indexing …")
                told = {"source": reader.origin(), "left out": report.to_json()}
                nothing = np.zeros(len(old), bool)
                _publish(work, target, old, nothing, changes, told, reader.loose)
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
        builder = ChunkBuilder(specs, work / "new" / "media", items, sync=True)
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
            _publish(work, target, old, gone, changed, {})
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
        _publish(work, target, old, gone, None, {})
    return UpdateReport(Catalog.open(target), removed=int(gone.sum()))


def folder_of(catalog: PathLike | Catalog) -> Path:
    """Return the folder of a catalog that is given by its path, or open."""
    if not isinstance(catalog, Catalog):
        return path_of(catalog, "the path of a catalog")
    if catalog.folder is None:
        raise BadInput(
            "This catalog is in memory only, so it cannot be updated.", "Make it anew instead."
        )
    return catalog.folder


def forget_removed(path: PathLike, days: int = 0, wait: float = WAIT_SECONDS) -> int:
    """Forget items that were removed `days` or more ago; return how many.

    What was kept of them for sessions, their ids and vectors, is left out of a new version.
    Sessions in which they were judged can then no longer be reader. Where it is not known when an
    item was removed, it counts as removed at the first moment after that of which it is known.
    """
    target = path_of(path, "the path of a catalog")
    days = min(check_whole("days", days, 0), MAX_DAYS)
    with updating(target, wait) as (work, old, manifest):
        since = _first_remembered(manifest, days)
        gone = {id for id, _, version, _ in old.walk_tombstones() if version < since}
        if gone:
            nothing = np.zeros(len(old), bool)
            files, tombstones = _merge(work / "merged", target, old, nothing, None, since)
            _switch(target, work, manifest, files, tombstones, forgotten=len(gone))
    return len(gone)


def _first_remembered(manifest: Manifest, days: int) -> int:
    """Return the first version whose removed items left less than `days` ago."""
    if not days:
        return manifest.version
    until = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days)
    updates = [
        *manifest.source.get("updates", []),
        {"version": manifest.version, "at": manifest.created},
    ]
    # What was last in version n left with version n + 1.
    before = (one["version"] for one in updates if _is_before(one, until))
    return max((version for version in before if version <= manifest.version), default=0)


def _is_before(update: Mapping[str, Any], moment: datetime.datetime) -> bool:
    """Return whether an update is known to have been at some moment or before it."""
    try:
        at = datetime.datetime.fromisoformat(update["at"])
        return isinstance(update["version"], int) and at <= moment
    except (KeyError, TypeError, ValueError):
        return False


@contextmanager
def updating(target: Path, wait: float) -> Iterator[tuple[Path, Catalog, Manifest]]:
    """Hold a catalog's lock and give (work folder, catalog, manifest); clear up after success."""
    Catalog.open(target)
    publish.check_writable(target, media=False)
    work = work_folder(target)
    with file_lock(work / "lock", f"'{target}' is being changed", wait):
        old = Catalog.open(target)
        if old.manifest is None:
            raise BadInput(f"'{target}' is no catalog.")
        try:
            yield work, old, old.manifest
        except BaseException:
            # Chunks are what an interrupted update goes on with; there is nothing else to keep.
            remove_tree(work / "merged")
            if not (work / "chunks").exists():
                clear(work)
            raise
        clear(work)


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


def _publish(
    work: Path,
    target: Path,
    old: Catalog,
    gone: NDArray[np.bool_],
    changes: ChangedItems | None,
    told: Mapping[str, Any],
    loose: bool = False,
) -> None:
    """Make a version with some items gone, changed or added: what changes is written, or all anew.

    told: what catalog.json says of it beside the numbers.
    """
    manifest = old.manifest
    if manifest is None:
        raise BadInput("A catalog of arrays cannot be updated in place.")
    removed = int(gone.sum())
    counts = {
        "new": 0 if changes is None else changes.new,
        "changed": 0 if changes is None else changes.changed,
        "removed": removed,
    }
    what = {**{name: count for name, count in counts.items() if count}, **told}
    merged = work / "merged"
    if segments.fits_segment(target, manifest, sum(counts.values())):
        remove_tree(merged)
        prefix, rows = publish.prefix(target), np.flatnonzero(gone)
        updated = segments.write_segment(merged, prefix, old, rows, changes, loose)
        source = {**manifest.source, "updates": next_updates(manifest, **what)}
        updated = replace(updated, created=_now(), source=cleaned(source))
        _take_media(work)
        publish.switch(updated, work, target, Path(prefix).name)
        return
    files, tombstones = _merge(merged, target, old, gone, changes, loose=loose)
    _switch(target, work, manifest, files, tombstones, **what)


def _take_media(work: Path) -> None:
    """Make the merged files those to be published, with the thumbnails that are new."""
    if (work / "new" / "media").exists():
        (work / "new" / "media").rename(work / "merged" / "media")
    remove_tree(work / "new")
    (work / "merged").rename(work / "new")


def compact(catalog: PathLike | Catalog, wait: float = WAIT_SECONDS) -> Catalog:
    """Write what updates have changed and what they have left into one, as a new version.

    Searches show the same; the folder takes no more than it needs. wait: for how many seconds
    another change of the catalog may go on.
    """
    target = folder_of(catalog)
    with updating(target, wait) as (work, old, manifest):
        if manifest.log is not None or any(view.slots for view in manifest.views.values()):
            nothing = np.zeros(len(old), bool)
            files, tombstones = _merge(work / "merged", target, old, nothing, None)
            _switch(target, work, manifest, files, tombstones, compacted=True)
    return Catalog.open(target)


def _merge(
    folder: Path,
    target: Path,
    old: Catalog,
    gone: Any,
    changes: ChangedItems | None,
    since: int = 0,
    loose: bool = False,
) -> tuple[AssembledFiles, int]:
    """Write a version of what stays of the old one and what is new; return it and its tombstones.

    since: those that had left before this version are forgotten. loose: texts of attributes that
    are new may stand for numbers.
    """
    manifest = old.manifest
    if manifest is None:
        raise BadInput("A catalog of arrays cannot be updated in place.")
    remove_tree(folder)
    specs = [
        ViewSpec(
            name,
            "vectors",
            entry.dimensions,
            entry.metric,
            embedder_entry=entry.embedder,
            dtype=cast(packing.StoredVectors, entry.dtype),
        )
        for name, entry in manifest.views.items()
    ]
    assembly = Assembly(folder, specs, loose)
    try:
        for name, kind in manifest.attributes.items():
            assembly.writer.add_attribute(name, kind)
        _copy(assembly, old, gone, changes)
        for item, vectors in () if changes is None else changes.of_new():
            assembly.writer.add(*item)
            assembly.append({name: vector[None] for name, vector in vectors.items()})
        assembly.settle()
        tombstones = publish.write_tombstones(assembly.writer, old, specs, since)
        centres = {n: view.centre for n, view in old.views.items() if view.centre is not None}
        files = assembly.finish(publish.prefix(target), centres)
        # The maps of learned views stay where they are: they are the same for all items.
        views = {n: replace(v, learned=manifest.views[n].learned) for n, v in files.views.items()}
        return replace(files, views=views), tombstones
    finally:
        assembly.close()


def _copy(assembly: Assembly, old: Catalog, gone: Any, changes: ChangedItems | None) -> None:
    updated: dict[str, dict[int, Floats]] = {name: {} for name in old.views}
    for row, item in enumerate(old.walk()):
        if changes is not None and row in changes:
            item, new = changes.of_row(row)
            for name, vector in new.items():
                updated[name][row] = vector
        if not gone[row] and not assembly.writer.add(*item):
            raise _damaged(f"it has two items {shorten(item.id)}")
    for start in range(0, len(old), _COPY_ROWS):
        stays = ~gone[start : start + _COPY_ROWS]
        vectors = {}
        for name, view in old.views.items():
            with np.errstate(invalid="ignore", over="ignore"):
                some = view.rows(slice(start, start + _COPY_ROWS)).astype(np.float32)
            for row in range(start, min(start + _COPY_ROWS, len(old))):
                if row in updated[name]:
                    some[row - start] = updated[name][row]
            vectors[name] = some[stays]
            if not np.isfinite(vectors[name]).all():
                raise _damaged(f"view '{name}' holds numbers that are not finite")
        assembly.append(vectors)


def _damaged(what: str) -> BadInput:
    return BadInput(
        f"The catalog is damaged: {what}.", "Check it with `seeker verify`, or build it again."
    )


def _switch(
    target: Path,
    work: Path,
    manifest: Manifest,
    files: AssembledFiles,
    tombstones: int,
    **what: Any,
) -> None:
    """Make the merged files the version that counts."""
    updated = publish.make_manifest(
        files,
        version=manifest.version + 1,
        source={**manifest.source, "updates": next_updates(manifest, **what)},
        about=manifest.about,
        tombstones=tombstones,
        learned=manifest.learned,
        presentation=manifest.presentation,
        id=manifest.id,
    )
    _take_media(work)
    publish.publish(updated, work, target)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def next_updates(manifest: Manifest, **what: Any) -> list[Mapping[str, Any]]:
    """Return what catalog.json tells of the updates, with the one to come; what: was done."""
    at = _now()
    update = {"version": manifest.version + 1, "at": at, **what}
    return [*manifest.source.get("updates", []), update][-MAX_UPDATES:]


def _rows(old: Catalog, ids: list[str]) -> list[int]:
    missing = [id for id in ids if id not in old]
    if missing:
        others = f", and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise NotFound(
            f"The catalog has no item {shorten(missing[0])}{others}.", "Nothing was removed."
        )
    return [old.row(id) for id in ids]
