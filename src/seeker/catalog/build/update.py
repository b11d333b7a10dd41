"""`seeker add` and `seeker remove`: a new version beside the old one."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from seeker.catalog.attributes import shorten
from seeker.catalog.build import publish
from seeker.catalog.build.chunks import views_recipe
from seeker.catalog.build.files import AssembledFiles, Assembly
from seeker.catalog.build.pipeline import (
    BuildProgress,
    BuildReport,
    ProgressCallback,
    prepare_work_folder,
    run_build,
)
from seeker.catalog.build.plan import ViewSpec, attribute_encodings, plan_views, view_name
from seeker.catalog.build.source import Source, SourceContents, SourceOptions
from seeker.catalog.build.sources.opener import open_source
from seeker.catalog.catalog import Catalog
from seeker.catalog.file_lock import WAIT_SECONDS, clear, file_lock
from seeker.catalog.item_table import FileConnections, ItemTable
from seeker.catalog.manifest import Manifest, PathLike, path_of, work_folder
from seeker.catalog.nofollow import real_folder, remove_tree
from seeker.catalog.view_map import with_mapped
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


def add(
    path: PathLike,
    source: PathLike | Source,
    *,
    options: SourceOptions | None = None,
    embedders: Mapping[str, Embedder] | None = None,
    trust: bool = False,
    strict: bool = False,
    tell: ProgressCallback | None = None,
    progress: bool = False,
    wait: float = WAIT_SECONDS,
) -> Catalog:
    """Add the items of a source to a catalog as a new version, and open it.

    The views are those that the catalog has. Items whose id is there already are left out. trust:
    load any embedder that the catalog names, even if it is not one of Seeker's own. wait: for how
    many seconds another change of the catalog may go on.
    """
    target = path_of(path, "the path of a catalog")
    with updating(target, wait) as (work, old, manifest):
        reader = open_source(source, options or SourceOptions())
        publish.check_writable(target, media=reader.offer.pictures)
        specs = _same_specs(manifest, reader.offer, embedders or {}, trust)
        report = BuildReport(strict)
        with BuildProgress(tell, progress) as display:
            for note in reader.notes():
                display.say(note)
            origin = json.dumps(reader.origin())
            if prepare_work_folder(work, f"{views_recipe(specs)} {origin} {manifest.identity}"):
                display.say("Resuming what was interrupted.")
            display.start(reader.count() if progress else None)
            run_build(
                reader,
                specs,
                work,
                report,
                display,
                kinds=manifest.attributes,
                is_taken=lambda id: id in old,
            )
            display.say("Putting old and new together …")
            fresh = work / "new"
            nothing = np.zeros(len(old), bool)
            files, tombstones = _merge(work / "merged", target, old, nothing, fresh)
            real_folder(fresh / "media").rename(work / "merged" / "media")
        added = {**reader.origin(), "left out": report.to_json()}
        _switch(target, work, manifest, files, tombstones, added=added)
        for line in report.lines():
            if tell is not None:
                tell(line)
    return Catalog.open(target)


def remove(
    path: PathLike,
    *,
    ids: Iterable[str] | None = None,
    where: Mapping[str, Any] | None = None,
    wait: float = WAIT_SECONDS,
) -> Catalog:
    """Remove items, by their ids or by a filter, as a new version, and open it.

    Their ids and vectors are kept for sessions in which they were judged, until `forget_removed`.
    wait: for how many seconds another change of the catalog may go on.
    """
    target = path_of(path, "the path of a catalog")
    if ids is None and not where:
        raise BadInput("Nothing says what to remove.", "Give ids, or a filter.")
    with updating(target, wait) as (work, old, manifest):
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
        files, tombstones = _merge(work / "merged", target, old, gone, None)
        _switch(target, work, manifest, files, tombstones, removed=int(gone.sum()))
    return Catalog.open(target)


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
            # Chunks are what an interrupted `add` goes on with; there is nothing else to keep.
            remove_tree(work / "merged")
            if not (work / "chunks").exists():
                clear(work)
            raise
        clear(work)


def _same_specs(
    manifest: Manifest, offer: SourceContents, embedders: Mapping[str, Embedder], trust: bool
) -> list[ViewSpec]:
    """Return how the views of a catalog are made of a new source."""
    ready = {view_name(column) for column in offer.vectors}
    views = []
    for name, entry in manifest.made_views.items():
        if entry.embedder is None and name not in ready:
            raise BadInput(
                f"The catalog has a view '{name}' of ready-made vectors, which the source lacks.",
                f"Name their column {name!r}.",
            )
        views.append(name if entry.embedder is None else f"{name}={entry.embedder.name}")
    # New items are made in full precision; the version that holds old and new packs them all.
    specs = plan_views(offer, views, None, embedders, "float32", builtin_only=not trust)
    encodings = attribute_encodings(manifest)
    specs = [
        one.with_encoding(encodings[one.name]) if one.name in encodings else one for one in specs
    ]
    specs = [replace(one, metric=manifest.views[one.name].metric) for one in specs]
    for one in specs:
        entry = manifest.views[one.name]
        if one.dimensions != entry.dimensions:
            raise BadInput(
                f"View '{one.name}' has {entry.dimensions} dimensions in the catalog, but "
                f"{one.dimensions} in the source."
            )
        if one.embedder_entry != entry.embedder:
            raise BadInput(
                f"View '{one.name}' was made by another version of its embedder.",
                "Their vectors cannot be compared; build the catalog again.",
            )
    return specs


def _merge(
    folder: Path, target: Path, old: Catalog, gone: Any, fresh: Path | None, since: int = 0
) -> tuple[AssembledFiles, int]:
    """Write a version of what stays of the old one and what is new; return it and its tombstones.

    since: those that had left before this version are forgotten.
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
    assembly = Assembly(folder, specs, loose=False)
    try:
        for name, kind in manifest.attributes.items():
            assembly.writer.add_attribute(name, kind)
        _copy(assembly, old, gone)
        if fresh is not None:
            _copy_new(assembly, fresh, old)
        assembly.settle()
        tombstones = publish.write_tombstones(assembly.writer, old, specs, since)
        centres = {n: view.centre for n, view in old.views.items() if view.centre is not None}
        files = assembly.finish(publish.prefix(target), centres)
        # The maps of learned views stay where they are: they are the same for all items.
        views = {n: replace(v, learned=manifest.views[n].learned) for n, v in files.views.items()}
        return replace(files, views=views), tombstones
    finally:
        assembly.close()


def _copy(assembly: Assembly, old: Catalog, gone: Any) -> None:
    for row, item in enumerate(old.walk()):
        if not gone[row] and not assembly.writer.add(*item):
            raise _damaged(f"it has two items {shorten(item[0])}")
    for start in range(0, len(old), _COPY_ROWS):
        stays = ~gone[start : start + _COPY_ROWS]
        vectors = {}
        for name, view in old.views.items():
            with np.errstate(invalid="ignore", over="ignore"):
                vectors[name] = view.rows(slice(start, start + _COPY_ROWS))[stays].astype(
                    np.float32
                )
            if not np.isfinite(vectors[name]).all():
                raise _damaged(f"view '{name}' holds numbers that are not finite")
        assembly.append(vectors)


def _damaged(what: str) -> BadInput:
    return BadInput(
        f"The catalog is damaged: {what}.", "Check it with `seeker verify`, or build it again."
    )


def _copy_new(assembly: Assembly, fresh: Path, old: Catalog) -> None:
    vectors: dict[str, Floats] = {}
    for name in old.views:
        if name not in old.maps:
            file = fresh / "views" / f"{name}.npy"
            vectors[name] = np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    count = len(next(iter(vectors.values())))
    for item in ItemTable(FileConnections(fresh / "items.sqlite"), count).walk():
        assembly.writer.add(*item)
    for start in range(0, count, _COPY_ROWS):
        some = {name: one[start : start + _COPY_ROWS] for name, one in vectors.items()}
        assembly.append(with_mapped(some, old.maps))


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
    )
    remove_tree(work / "new")
    (work / "merged").rename(work / "new")
    publish.publish(updated, work, target)


def next_updates(manifest: Manifest, **what: Any) -> list[Mapping[str, Any]]:
    """Return what catalog.json tells of the updates, with the one to come; what: was done."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
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
