"""The next version of a catalog: what changes is written beside what is there, or all anew."""

from __future__ import annotations

import datetime
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from seeker.catalog.attributes import shorten
from seeker.catalog.build import publish, segments
from seeker.catalog.build.files import AssembledFiles, Assembly
from seeker.catalog.build.item_changes import ChangedItems
from seeker.catalog.build.plan import ViewSpec
from seeker.catalog.catalog import Catalog
from seeker.catalog.file_lock import WAIT_SECONDS, clear, file_lock
from seeker.catalog.manifest import Manifest, PathLike, compaction_folder, path_of, work_folder
from seeker.catalog.manifest_fields import cleaned
from seeker.catalog.manifest_reader import read_manifest
from seeker.catalog.nofollow import remove_tree
from seeker.errors import BadInput, SeekerError
from seeker.space import packing
from seeker.types import Floats
from seeker.validation import check_whole

MAX_UPDATES = 1000
"""How many of the last updates catalog.json tells of."""

SINGLE_UPDATES = 100
"""So many of these one by one; of those before, what was changed on one day is one update."""

_COUNTS = ("new", "changed", "removed")

MAX_DAYS = 36_500

_COPY_ROWS = 8192


def folder_of(catalog: PathLike | Catalog) -> Path:
    """Return the folder of a catalog that is given by its path, or open."""
    if not isinstance(catalog, Catalog):
        return path_of(catalog, "the path of a catalog")
    if catalog.folder is None:
        raise BadInput(
            "This catalog is in memory only, so it cannot be updated.", "Make it anew instead."
        )
    return catalog.folder


@contextmanager
def updating(target: Path, wait: float) -> Iterator[tuple[Path, Catalog, Manifest]]:
    """Hold a catalog's lock and give (work folder, catalog, manifest); clear up after success."""
    read_manifest(target)
    publish.check_writable(target, media=False)
    work = work_folder(target)
    with file_lock(work / "lock", f"'{target}' is being changed", wait):
        try:
            old = Catalog.open(target)
            if old.manifest is None:
                raise BadInput(f"'{target}' is no catalog.")
            yield work, old, old.manifest
        except BaseException:
            # Chunks are what an interrupted update goes on with; there is nothing else to keep.
            remove_tree(work / "merged")
            if not (work / "chunks").exists():
                clear(work)
            raise
        clear(work)


def publish_changes(
    work: Path,
    target: Path,
    old: Catalog,
    gone: NDArray[np.bool_],
    changes: ChangedItems | None,
    details: Mapping[str, Any],
    loose: bool = False,
) -> None:
    """Make a version with some items gone, changed or added: what changes is written, or all anew.

    details: what catalog.json says of it beside the numbers.
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
    what = {**{name: count for name, count in counts.items() if count}, **details}
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


def compact_aside(path: PathLike, wait: float = WAIT_SECONDS) -> bool:
    """Do what `compact` does without holding up changes; return whether it came to anything.

    If the catalog is changed meanwhile, what was written is thrown away. wait: for how many seconds
    a change may go on when all is written.
    """
    target = folder_of(path)
    aside = compaction_folder(target)
    with file_lock(aside / "lock", f"'{target}' is being compacted"):
        try:
            old = Catalog.open(target)
            if old.manifest is None or old.manifest.log is None:
                return False
            for left in (aside / "merged", aside / "new"):
                remove_tree(left)
            nothing = np.zeros(len(old), bool)
            try:
                files, tombstones = _merge(aside / "merged", target, old, nothing, None)
            except (SeekerError, OSError, sqlite3.Error):
                if not old.changed():
                    raise
                return False  # files that it read were of a version that is gone by now
            with updating(target, wait) as (_, _, manifest):
                if manifest.identity != old.manifest.identity:
                    return False
                _switch(target, aside, manifest, files, tombstones, compacted=True)
            return True
        finally:
            clear(aside)


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
        assembly.complete_items()
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
        picture_sizes=manifest.picture_sizes,
    )
    _take_media(work)
    publish.publish(updated, work, target)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def next_updates(manifest: Manifest, **what: Any) -> list[Mapping[str, Any]]:
    """Return what catalog.json tells of the updates, with the one to come; what: was done."""
    at = _now()
    update = {"version": manifest.version + 1, "at": at, **what}
    updates = [*manifest.source.get("updates", []), update]
    place = len(updates) - SINGLE_UPDATES - 1
    if place > 0 and _same_day(updates[place - 1], updates[place]):
        one, other = updates[place - 1 : place + 1]
        counts = {name: one.get(name, 0) + other.get(name, 0) for name in _COUNTS}
        merged = {**other, **{name: count for name, count in counts.items() if count}}
        updates[place - 1 : place + 1] = [merged]
    return updates[-MAX_UPDATES:]


def _same_day(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two updates are of one day, and nothing but numbers is told of them."""
    plain = all({*update} <= {"version", "at", *_COUNTS} for update in (one, other))
    days = [str(update.get("at", ""))[: len("2000-01-01")] for update in (one, other)]
    numbers = all(isinstance(update.get(n, 0), int) for update in (one, other) for n in _COUNTS)
    return plain and numbers and days[0] != "" and days[0] == days[1]
