"""`seeker verify`: reads a whole catalog and says what is wrong with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from seeker.catalog.catalog import Catalog
from seeker.catalog.manifest import Manifest, ViewEntry, part_sha256
from seeker.catalog.manifest_reader import Damaged
from seeker.catalog.media import is_media_name, media_digest, media_files
from seeker.catalog.sqlite_connections import connect
from seeker.errors import SeekerError
from seeker.space import View

_BATCH_ROWS = 16_384
_TOLERANCE = 1e-6
"""By how much what was measured may differ on another machine, as a part of the whole."""


def find_problems(path: str | Path) -> list[str]:
    """Return what is wrong with a catalog, in sentences; none if it is whole.

    A folder that is no catalog, or one of a newer Seeker, is an error, as it is for everybody else.
    """
    folder = Path(path)
    try:
        catalog = Catalog.open(folder)
    except Damaged as error:
        return [error.message]
    if catalog.manifest is None:
        return []
    return list(_problems(folder, catalog, catalog.manifest))


def _problems(folder: Path, catalog: Catalog, manifest: Manifest) -> Iterator[str]:
    for entry in manifest.files:
        if part_sha256(folder, entry.file, 0, entry.bytes) != entry.sha256:
            yield f"'{entry.file}' is not what was written: its checksum is another."
    for name, entry_of in manifest.views.items():
        if entry_of.added is not None and not _added_is_whole(folder, entry_of):
            yield f"What updates have added to view '{name}' is not what was written."
    try:
        with closing(connect(folder / manifest.items.file, manifest.log is not None)) as connection:
            yield from _item_problems(connection, folder, manifest)
    except sqlite3.Error as error:
        yield f"'{manifest.items.file}' cannot be read: {error}."
    try:
        for _ in catalog.walk():
            pass
    except SeekerError as error:
        yield error.message
    for name, view in catalog.views.items():
        with np.errstate(invalid="ignore", over="ignore"):
            yield from _view_problems(name, view)


def _added_is_whole(folder: Path, view: ViewEntry) -> bool:
    """Return whether the vectors that updates have added sum up to what was written."""
    added, size = view.added, view.added_rows * view.row_bytes
    if added is None or view.steps is None:
        steps = None
    else:
        steps = part_sha256(folder, view.steps.file, view.steps.bytes, 4 * added.rows)
    sums = part_sha256(folder, view.vectors.file, view.vectors.bytes, size), steps
    return added is None or sums == (added.vectors, added.steps)


def _view_problems(name: str, view: View) -> Iterator[str]:
    for start in range(0, len(view), _BATCH_ROWS):
        if not np.isfinite(view.rows(slice(start, start + _BATCH_ROWS))).all():
            yield f"View '{name}' holds numbers that are not finite from row {start:,} on."
            return
    try:
        metric = "euclidean" if view.fast else view.metric
        measured = View.measure(
            name, view.stored, metric, view.units, view.steps, view.centre, view.slots
        )
    except SeekerError as error:
        yield f"View '{name}' cannot be measured: {error.message}"
        return
    size = float(np.abs(measured.mean).max()) + float(np.sqrt(measured.variance).max())
    same = (
        np.allclose(measured.mean, view.mean, rtol=_TOLERANCE, atol=_TOLERANCE * size)
        and np.allclose(
            measured.variance, view.variance, rtol=_TOLERANCE, atol=_TOLERANCE * size**2
        )
        and np.isclose(measured.radius, view.radius, rtol=_TOLERANCE, atol=_TOLERANCE * size**2)
        and np.isclose(measured.scale, view.scale, rtol=_TOLERANCE, atol=0.0)
    )
    if not same:
        yield f"The scale, radius or moments of view '{name}' are not those of its vectors."


def _item_problems(
    connection: sqlite3.Connection, folder: Path, manifest: Manifest
) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield f"'{manifest.items.file}' is damaged: {line.splitlines()[0]}."
    for table in ("items", "known"):
        (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        if count != manifest.count:
            yield f"The item table has {count:,} rows of '{table}' instead of {manifest.count:,}."
    yield from _tombstone_problems(connection, manifest)
    yield from _media_problems(connection, folder, manifest)


def _tombstone_problems(connection: sqlite3.Connection, manifest: Manifest) -> Iterator[str]:
    (count,) = connection.execute("SELECT count(DISTINCT id) FROM departed").fetchone()
    if count != manifest.tombstones:
        yield f"Vectors of {count:,} removed items are kept instead of {manifest.tombstones:,}."
    sizes = {name: 4 * entry.dimensions for name, entry in manifest.views.items()}
    rows = connection.execute("SELECT view, typeof(vector), length(vector) FROM departed")
    if any(kind != "blob" or sizes.get(view) != size for view, kind, size in rows):
        yield "Vectors of removed items do not fit the views."


def _media_problems(
    connection: sqlite3.Connection, folder: Path, manifest: Manifest
) -> Iterator[str]:
    media = connection.execute("SELECT DISTINCT media FROM items WHERE media IS NOT NULL")
    named, missing, changed, outside = 0, 0, 0, 0
    for (name,) in media:
        named += 1
        whole = _thumbnail_is_whole(folder, name) if is_media_name(name) else None
        outside += not is_media_name(name)
        missing += whole is None and is_media_name(name)
        changed += whole is False
    if named != manifest.media and manifest.log is None:
        yield f"The item table names {named:,} thumbnails instead of {manifest.media:,}."
    if outside:
        yield f"{outside:,} thumbnails are named outside the media folder."
    if missing:
        yield f"{missing:,} thumbnails are missing."
    if changed:
        yield f"{changed:,} thumbnails are not what was written."


def _thumbnail_is_whole(folder: Path, name: str) -> bool | None:
    """Return whether a thumbnail's files are those it is named by; None if one is missing.

    The media folder may be a link, to another disk perhaps; a link in it leads nowhere else.
    """
    try:
        root = (folder / "media").resolve()
        files = [(folder / one).resolve() for one in media_files(name)]
        if not all(one.is_relative_to(root) and one.is_file() for one in files):
            return None
        digest = media_digest([one.read_bytes() for one in files])
    except (OSError, RuntimeError):
        return None
    return digest == name.rpartition("/")[2].partition(".")[0]
