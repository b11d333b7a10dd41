"""Puts a version in its place, at once, and removes what old versions have left."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from seeker import __version__
from seeker.catalog.build.files import AssembledFiles
from seeker.catalog.build.known_items import views_made_alike
from seeker.catalog.build.plan import ViewSpec
from seeker.catalog.catalog import Catalog
from seeker.catalog.file_lock import WAIT_SECONDS, clear, file_lock
from seeker.catalog.item_writer import ItemWriter
from seeker.catalog.manifest import (
    MANIFEST_NAME,
    LearnedEntry,
    Manifest,
    compaction_folder,
    new_id,
    work_folder,
)
from seeker.catalog.manifest_fields import cleaned
from seeker.catalog.manifest_reader import read_manifest
from seeker.catalog.media import media_files
from seeker.catalog.nofollow import LinkInside, OpenFolder
from seeker.catalog.presentation import NO_PRESENTATION, Presentation
from seeker.catalog.sqlite_connections import FileConnections
from seeker.errors import Conflict, NotFound

MEDIA_FOLDER = "media"
VERSIONS_FOLDER = "versions"

KEPT_SEGMENTS = 8
"""So many of the last small updates stay as they were, for those who have not yet gone on."""

_TOMBSTONE_ROWS = 4096


def next_version(target: Path) -> int:
    """Return the number of the version to come."""
    try:
        current = read_manifest(target).version
    except NotFound:
        return 1
    return current + 1


def prefix(target: Path) -> str:
    """Return what stands before the names of the files of the version to come."""
    if not (target / MANIFEST_NAME).exists():
        return ""
    return f"{VERSIONS_FOLDER}/{_version_folder(target)}/"


def _version_folder(target: Path) -> int:
    """Return a number for a folder of files that is not taken by a version or a leftover."""
    number = next_version(target)
    while os.path.lexists(target / VERSIONS_FOLDER / str(number)):
        number += 1
    return number


def check_writable(target: Path, media: bool) -> None:
    """Refuse a catalog whose next version would have to be written behind a link.

    media: whether it has new thumbnails. To be asked before any work is done.
    """
    with OpenFolder.at(target) as root:
        for name in (VERSIONS_FOLDER, *((MEDIA_FOLDER,) if media else ())):
            try:
                with root.folder(name):
                    pass
            except FileNotFoundError:
                continue


def make_manifest(
    files: AssembledFiles,
    version: int,
    source: Mapping[str, Any],
    about: Mapping[str, Any],
    tombstones: int = 0,
    learned: LearnedEntry | None = None,
    presentation: Presentation = NO_PRESENTATION,
    id: str = "",
    picture_sizes: Sequence[int] = (),
) -> Manifest:
    """Return the manifest of a version whose files have just been made.

    picture_sizes: of its thumbnails. id: of the catalog, if it has one; else it gets one.
    """
    return Manifest(
        version=version,
        count=files.count,
        items=files.items,
        attributes=files.attributes,
        views=files.views,
        media=files.media,
        created=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        seeker=__version__,
        source=cleaned(dict(source)),
        about=cleaned(dict(about)),
        tombstones=tombstones,
        learned=learned,
        presentation=presentation,
        id=id or new_id(),
        picture_sizes=tuple(picture_sizes),
    )


def write_tombstones(
    writer: ItemWriter, old: Catalog, specs: Sequence[ViewSpec], since: int = 0
) -> int:
    """Write the vectors of items that the old version had and the new one lacks; return how many.

    Only views that are made in the same way in both are kept: vectors of others would mean
    nothing, and those of learned views follow from their maps. What had left before stays, unless
    it was last there before version `since`.
    """
    manifest = old.manifest
    if manifest is None:
        return 0
    same = sorted(views_made_alike(manifest, specs))
    if not same:
        return 0
    ids = set()
    sizes = {name: 4 * manifest.views[name].dimensions for name in same}
    for id, view, version, vector in old.walk_tombstones():
        fits = isinstance(vector, bytes) and len(vector) == sizes.get(view)
        if version >= since and fits and not writer.has(id):
            writer.add_tombstone(id, view, version, vector)
            ids.add(id)
    for start in range(0, len(old), _TOMBSTONE_ROWS):
        for row, id in enumerate(old.ids[start : start + _TOMBSTONE_ROWS], start):
            if writer.has(id):
                continue
            ids.add(id)
            for name in same:
                exact = old.views[name].rows(np.array([row]))[0].astype("<f4")
                writer.add_tombstone(id, name, manifest.version, exact.tobytes())
    return len(ids)


def publish(manifest: Manifest, work: Path, target: Path) -> None:
    """Move the files in work/new to the catalog and make them the version that counts."""
    new = work / "new"
    _sweep_media(new, _media_names(new / Path(manifest.items.file).name))
    if not (target / MANIFEST_NAME).exists():
        manifest.write(new)
        # The place itself may be a link that its owner has put there.
        real = Path(os.path.realpath(target))
        if real.exists():
            real.rmdir()
        new.rename(real)
        with OpenFolder.at(real.parent) as parent:
            parent.sync()
        return
    switch(manifest, work, target, Path(manifest.items.file).parent.name)


def switch(manifest: Manifest, work: Path, target: Path, place: str) -> None:
    """Move the files in work/new to a catalog's versions and make a manifest the one that counts.

    place: the name of their folder. They may be a part of the version: the others stay in place.
    """
    before = read_manifest(target)
    with OpenFolder.at(target) as root, OpenFolder.at(work) as aside:
        with aside.folder("new") as files:
            _move_media(files, root)
        with root.folder(VERSIONS_FOLDER, make=True) as versions:
            versions.take(aside, "new", place)
            versions.sync()
    manifest.write(target)
    _remove_unnamed(target, {one.file for one in before.files})


def tidy_catalog(target: Path, wait: float = WAIT_SECONDS) -> int:
    """Leave only the present version in a catalog; return how many bytes were freed.

    Nothing behind a link is touched; if there are links where files of a catalog should be, the
    rest is tidied and Conflict says so. wait: seconds for which others may go on changing it.
    """
    Catalog.open(target)
    work = work_folder(target)
    links: list[Path] = []
    with file_lock(work / "lock", f"'{target}' is being changed", wait):
        freed = _remove_unnamed(target, links=links)
        if not (work / "chunks").exists():
            clear(work)
    # What a killed compaction has left; one that goes on is left alone.
    with suppress(Conflict), file_lock(compaction_folder(target) / "lock", "it is compacted"):
        clear(compaction_folder(target))
    if links:
        raise Conflict(
            f"'{links[0]}' is a link, so what lies behind it was left alone; {freed:,} bytes were "
            "freed elsewhere.",
            "Tidy up by hand where it leads, or put a real folder in its place.",
        )
    return freed


def _remove_unnamed(target: Path, also: Iterable[str] = (), links: list[Path] | None = None) -> int:
    """Remove files that the present version does not name; return how many bytes they had.

    also: files to keep, such as those of the version before, which may be in use. Thumbnails are
    removed only if nothing is kept besides the present version. links: gets the links that were
    met and not followed.
    """
    manifest = read_manifest(target)
    present = {one.file for one in manifest.files}
    keep = present | set(also)
    met: list[Path] = [] if links is None else links
    with OpenFolder.at(target) as root:
        freed = _sweep_version(root, "", keep, met)
        for versions in _folders(root, [VERSIONS_FOLDER], met):
            numbers = [name for name in versions.names() if name.isascii() and name.isdigit()]
            recent = sorted(map(int, numbers))[-KEPT_SEGMENTS:] if keep != present else []
            for one in _folders(versions, numbers, met):
                if int(one.path.name) in recent and one.look("items.sqlite-wal") is not None:
                    continue
                freed += _sweep_version(one, f"{VERSIONS_FOLDER}/{one.path.name}/", keep, met)
            for name in numbers:
                versions.remove_if_empty(name)
    if keep == present:
        freed += _sweep_media(
            target, _media_names(target / manifest.items.file, manifest.log is not None), met
        )
    return freed


def _folders(folder: OpenFolder, names: Iterable[str], links: list[Path]) -> Iterator[OpenFolder]:
    """Yield the folders of some names, each held open for its turn; links are only noted."""
    for name in names:
        try:
            with folder.folder(name) as inner:
                yield inner
        except FileNotFoundError:
            continue
        except LinkInside:
            links.append(folder.path / name)


def _sweep_version(folder: OpenFolder, prefix: str, keep: set[str], links: list[Path]) -> int:
    """Remove the files of a version that nobody keeps; return how many bytes they had."""
    freed = 0
    for name in ("items.sqlite", "items.sqlite-wal", "removed.npy"):
        if f"{prefix}{name}" not in keep:
            freed += folder.remove(name)
    for views in _folders(folder, ["views"], links):
        for name in views.names():
            if name.endswith(".npy") and f"{prefix}views/{name}" not in keep:
                freed += views.remove(name)
    if prefix:
        folder.remove_if_empty("views")
    return freed


def _media_names(items: Path, log: bool = False) -> set[str]:
    """Return the files of the thumbnails that a table names; log: whether one is beside it."""
    with FileConnections(items, log).use() as connection:
        rows = connection.execute("SELECT DISTINCT media FROM items WHERE media IS NOT NULL")
        return {file for (media,) in rows for file in media_files(str(media))}


def _sweep_media(target: Path, keep: set[str], links: list[Path] | None = None) -> int:
    """Remove thumbnails that nothing names; return how many bytes they had."""

    def sweep(folder: OpenFolder, prefix: str) -> int:
        freed = 0
        for name in folder.names():
            if f"{prefix}/{name}" in keep:
                continue
            status = folder.look(name)
            if status is not None and stat.S_ISDIR(status.st_mode):
                freed += sum(
                    sweep(one, f"{prefix}/{name}") for one in _folders(folder, [name], met)
                )
            else:
                freed += folder.remove(name)
        return freed

    met: list[Path] = [] if links is None else links
    with OpenFolder.at(target) as root:
        return sum(sweep(media, MEDIA_FOLDER) for media in _folders(root, [MEDIA_FOLDER], met))


def _move_media(new: OpenFolder, root: OpenFolder) -> None:
    """Move thumbnails to those of the catalog; the same name is the same picture."""

    def move(source: OpenFolder, target: OpenFolder) -> None:
        for name in source.names():
            status = source.look(name)
            if status is not None and stat.S_ISDIR(status.st_mode):
                with source.folder(name) as inner, target.folder(name, make=True) as place:
                    move(inner, place)
                source.remove_if_empty(name)
            else:
                target.take(source, name)
        target.sync()

    if new.look(MEDIA_FOLDER) is None:
        return
    with new.folder(MEDIA_FOLDER) as source:
        if source.names():
            with root.folder(MEDIA_FOLDER, make=True) as target:
                move(source, target)
    new.remove_if_empty(MEDIA_FOLDER)
