"""Publishes what was learned from past searches as a new version of a catalog, and takes it back.

Items and the views that were made from their source stay as they are, in the files in which they
are; a version brings its learned views, and says how sessions begin. The learned views of the
version before are kept, too, so that searches under way go on as they began.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seeker import __version__, models
from seeker.catalog.build import publish
from seeker.catalog.build.files import VectorFile, finish_view, fsync_file
from seeker.catalog.build.plan import ViewSpec
from seeker.catalog.build.versions import next_updates, updating
from seeker.catalog.catalog import Catalog
from seeker.catalog.file_lock import WAIT_SECONDS
from seeker.catalog.manifest import (
    FileEntry,
    LearnedEntry,
    Manifest,
    MapEntry,
    PathLike,
    ViewEntry,
    path_of,
)
from seeker.catalog.manifest_fields import cleaned
from seeker.catalog.nofollow import new_file, real_folder, remove_tree
from seeker.catalog.view_map import LinearMap, learned_name, map_to_array
from seeker.errors import Conflict
from seeker.models import Model

_BLOCK_ROWS = 8192


def publish_learned(
    path: PathLike,
    maps: Sequence[LinearMap],
    views: Sequence[str],
    model: Model,
    searches: int,
    summary: Mapping[str, Any],
    tell: Callable[[int], None] = lambda rows: None,
    wait: float = WAIT_SECONDS,
) -> Catalog:
    """Make what was learned the version of a catalog that counts, and open it.

    maps: of the views that were learned. views: those that sessions compare items by beside the
    learned ones. model: how sessions begin, with weights for these views and, after them, the
    learned ones in their order. tell: told of rows that are done, (items × maps) in all. wait: for
    how many seconds another change of the catalog may go on.
    """
    target = path_of(path, "the path of a catalog")
    with updating(target, wait) as (work, old, manifest):
        _check_views(manifest, maps, views)
        names = [learned_name(one.name, manifest.version + 1) for one in maps]
        folder, prefix = real_folder(_emptied(work / "merged")), publish.prefix(target)
        real_folder(folder / "views")
        new = {
            name: _write_view(folder, old, name, one, prefix, tell)
            for name, one in zip(names, maps, strict=True)
        }
        together = (*views, *names)
        model.grid(together)
        at = _now()
        entry = LearnedEntry(models.to_json(model), together, searches, at, cleaned(dict(summary)))
        _switch(target, work, manifest, new, entry, prefix, {"learned": searches})
    return Catalog.open(target)


def forget_learned(path: PathLike, wait: float = WAIT_SECONDS) -> int:
    """Take back what was learned: new sessions begin as if nothing had been.

    Return from how many searches it was; 0 if there was nothing. Learned views stay in the catalog
    for searches under way, until something is learned again or this is called once more.
    """
    target = path_of(path, "the path of a catalog")
    with updating(target, wait) as (work, old, manifest):
        learned = manifest.learned
        if learned is None and not old.maps:
            return 0
        searches = 0 if learned is None else learned.searches
        real_folder(_emptied(work / "merged"))
        _switch(target, work, manifest, {}, None, publish.prefix(target), {"unlearned": searches})
    return searches


def _check_views(manifest: Manifest, maps: Sequence[LinearMap], views: Sequence[str]) -> None:
    """Refuse what was learned of other views than the catalog has by now."""
    made = manifest.made_views
    inputs = [(part.view, len(part.centre)) for one in maps for part in one.inputs]
    for name in (*views, *(view for view, _ in inputs)):
        if name not in made:
            raise Conflict(f"The catalog has no view '{name}' any more.", "Learn again.")
    for name, dimensions in inputs:
        if made[name].dimensions != dimensions:
            raise Conflict(f"The view '{name}' has other dimensions by now.", "Learn again.")


def _write_view(
    folder: Path,
    old: Catalog,
    name: str,
    view_map: LinearMap,
    prefix: str,
    tell: Callable[[int], None],
) -> ViewEntry:
    """Write the vectors of a learned view, block by block, and its map."""
    sources = tuple(part.view for part in view_map.inputs)
    file = VectorFile(new_file(folder / "views" / f"{name}.npy"), view_map.dimensions)
    try:
        for start in range(0, len(old), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            some = {view: old.views[view].rows(block) for view in sources}
            file.append(view_map.apply(some))
            tell(min(_BLOCK_ROWS, len(old) - start))
        file.finish()
    finally:
        file.close()
    matrix = f"views/{name}.map.npy"
    with new_file(folder / matrix) as handle:
        np.save(handle, map_to_array(view_map), allow_pickle=False)
    fsync_file(folder / matrix)
    stored = replace(FileEntry.of(folder, matrix), file=f"{prefix}{matrix}")
    dtype = old.views[sources[0]].dtype
    spec = ViewSpec(name, "vectors", view_map.dimensions, "euclidean", dtype=dtype)  # type: ignore[arg-type]
    entry = finish_view(folder, spec, len(old), prefix)
    return replace(entry, learned=MapEntry(stored, sources))


def _switch(
    target: Path,
    work: Path,
    manifest: Manifest,
    new: Mapping[str, ViewEntry],
    learned: LearnedEntry | None,
    prefix: str,
    update: Mapping[str, Any],
) -> None:
    """Publish a version with other learned views; those that sessions begin with now are kept."""
    kept = manifest.learned.views if manifest.learned else ()
    views = {n: one for n, one in manifest.views.items() if one.learned is None or n in kept}
    changed = replace(
        manifest,
        version=manifest.version + 1,
        created=_now(),
        seeker=__version__,
        views={**views, **new},
        learned=learned,
        source={**manifest.source, "updates": next_updates(manifest, **update)},
    )
    remove_tree(work / "new")
    (work / "merged").rename(work / "new")
    publish.switch(changed, work, target, Path(prefix).name)


def _emptied(folder: Path) -> Path:
    remove_tree(folder)
    return folder


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
