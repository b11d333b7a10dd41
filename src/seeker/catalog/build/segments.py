"""Updates that cost what they change: a log beside the items, and vectors after the others.

A version is a base, which an update never touches, and what was changed since. Changed rows of the
item table are in a write-ahead log of SQLite, a copy of the one before with more at its end, beside
a second name of the same file. New vectors are written after those that the present version names,
where nobody looks who has an older one open. A small file tells which of them are in use.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seeker import __version__
from seeker.catalog.attributes import Kind, PlainValue, common_kind, kind_of
from seeker.catalog.build.files import fsync_file
from seeker.catalog.build.item_changes import ChangedItems
from seeker.catalog.catalog import Catalog
from seeker.catalog.item_table import ItemRecord
from seeker.catalog.manifest import (
    AddedEntry,
    FileEntry,
    Manifest,
    ViewEntry,
    new_id,
    part_sha256,
)
from seeker.catalog.nofollow import LinkInside, new_file, real_folder, real_path
from seeker.catalog.views import slot_runs
from seeker.errors import BadInput
from seeker.space import View
from seeker.space.packing import StoredVectors, pack
from seeker.types import Array, Floats, Rows

MIN_ITEMS = 1000
"""So many items may be changed since the base was made, however few the catalog has."""

CHANGED_SHARE = 8
"""Else one in so many; then, all is written anew."""

MIN_LOG_BYTES = 1_000_000
"""So long may the log beside the items become, however small they are."""

LOG_SHARE = 8
"""Else one in so many of their bytes; then it is taken into a new file of items.

Each version copies the log, and a new file copies all items: at this length, the two cost alike.
"""

_WAL_MODE = b"\x02\x02"


def fits_segment(folder: Path, manifest: Manifest, changes: int) -> bool:
    """Return whether so many changes are to be added to a version instead of writing all anew."""
    with (folder / manifest.items.file).open("rb") as handle:
        logged = handle.read(20)[18:20] == _WAL_MODE
    return logged and fullness(manifest, changes) <= 1.0


def fullness(manifest: Manifest, changes: int = 0) -> float:
    """Return how much of what may change until all is written anew has changed; 1 is all of it.

    changes: those to come.
    """
    added = max(view.added_rows for view in manifest.views.values())
    removed = 0 if manifest.removed is None else manifest.removed.bytes // 8
    return (added + removed + changes) / max(MIN_ITEMS, manifest.count // CHANGED_SHARE)


def write_segment(
    folder: Path,
    prefix: str,
    old: Catalog,
    gone: Rows,
    changes: ChangedItems | None,
    loose: bool = False,
) -> Manifest:
    """Write what changes into a folder of its own; return the manifest of the version to come.

    gone: rows of the items to remove. prefix: what stands before the names of files in
    catalog.json. Vectors are added to the files where they are: to nobody's notice until this
    manifest is written.
    """
    target, manifest = old.folder, old.manifest
    if target is None or manifest is None:
        raise ValueError("a catalog in memory has no segments")
    real_folder(folder)
    real_folder(folder / "views")
    changed = [] if changes is None else list(changes.of_changed())
    new = [] if changes is None else list(changes.of_new())
    items, entry = folder / "items.sqlite", manifest.items
    whole = _log_is_long(manifest)
    if whole:
        shutil.copyfile(target / entry.file, items)
    else:
        os.link(target / entry.file, items)
    if manifest.log is not None:
        shutil.copyfile(target / manifest.log.file, f"{items}-wal")
    if whole:
        _take_in_log(items)
        entry = FileEntry.of(folder, "items.sqlite")
    places = _Places(old)
    with _logged(items) as connection:
        patch = _ItemPatch(connection, manifest.attributes, loose)
        patch.learn([record for _, record, _ in changed] + [record for record, _ in new])
        tombstones = _remove(patch, old, places, gone, manifest)
        for row, record, _ in changed:
            patch.change(places.of(row), record)
        for number, (record, _) in enumerate(new):
            patch.add(places.total + number, record)
            tombstones -= patch.welcome(record.id)
    fsync_file(Path(f"{items}-wal"))
    left = np.array([places.of(row) for row in gone.tolist()], np.int64)
    removed = np.sort(np.concatenate([places.removed, left]))
    entries = {
        name: _view_segment(folder, prefix, old, name, gone, changed, new)
        for name in manifest.views
    }
    log = FileEntry.of(folder, "items.sqlite-wal")
    return replace(
        manifest,
        version=manifest.version + 1,
        count=manifest.count - len(gone) + len(new),
        items=replace(entry, file=f"{prefix}items.sqlite"),
        log=replace(log, file=f"{prefix}{log.file}"),
        removed=_array(folder, prefix, "removed.npy", removed) if len(removed) else None,
        attributes=patch.kinds,
        views=entries,
        seeker=__version__,
        tombstones=manifest.tombstones + tombstones,
        id=manifest.id or new_id(),
    )


def _log_is_long(manifest: Manifest) -> bool:
    """Return whether a log has become so long that it is cheaper to copy all items once."""
    longest = max(MIN_LOG_BYTES, manifest.items.bytes // LOG_SHARE)
    return manifest.log is not None and manifest.log.bytes > longest


def _take_in_log(items: Path) -> None:
    """Take the log beside a file of items into the file, which nobody else reads yet."""
    with closing(sqlite3.connect(items, isolation_level=None)) as connection:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise OSError(f"'{items}' is in use")
    fsync_file(items)


class _Places:
    """The numbers that items have in the file of items, by row."""

    def __init__(self, old: Catalog) -> None:
        self._table = old._collection.table
        self.removed = self._table._removed.astype(np.int64)
        self.total = len(old) + len(self.removed)

    def of(self, row: int) -> int:
        """Return the number of an item."""
        return self._table.place(row)


@contextmanager
def _logged(items: Path) -> Iterator[sqlite3.Connection]:
    """Lend a connection whose changes go into the log beside a file, and never into the file."""
    connection = sqlite3.connect(items, isolation_level=None)
    # Whoever closes the last connection moves the log into the file; one that only reads cannot.
    reader = sqlite3.connect(f"{items.absolute().as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("PRAGMA wal_autocheckpoint=0").close()
        connection.execute("PRAGMA synchronous=OFF").close()
        connection.execute("BEGIN IMMEDIATE").close()
        yield connection
        connection.execute("COMMIT").close()
        reader.execute("SELECT count(*) FROM attributes").fetchall()
    finally:
        connection.close()
        reader.close()
        Path(f"{items}-shm").unlink(missing_ok=True)


class _ItemPatch:
    """Changes single items of an item table."""

    def __init__(
        self, connection: sqlite3.Connection, kinds: Mapping[str, Kind], loose: bool
    ) -> None:
        self._run = connection.execute
        self._loose = loose
        self.kinds = dict(kinds)
        numbers = self._run("SELECT name, number FROM attributes").fetchall()
        self._numbers: dict[str, int] = dict(numbers)

    def learn(self, records: list[ItemRecord]) -> None:
        """Make attributes known that no item has had."""
        kinds: dict[str, set[Kind]] = {}
        for record in records:
            for name, value in record.attributes.items():
                kind = kind_of(value, self._loose)
                if name not in self.kinds and kind is not None:
                    kinds.setdefault(name, set()).add(kind)
        for name, own in kinds.items():
            number = self._numbers[name] = len(self._numbers)
            self.kinds[name] = common_kind(own)
            self._run(f"ALTER TABLE known ADD COLUMN a{number}")
            self._run("INSERT INTO attributes VALUES (?, ?, ?)", (number, name, self.kinds[name]))

    def remove(self, place: int) -> None:
        """Take an item out."""
        self._forget_words(place)
        for table in ("items", "known", "tags"):
            self._run(f"DELETE FROM {table} WHERE row = ?", (place,))

    def change(self, place: int, record: ItemRecord) -> None:
        """Put an item in the place of the one that is there."""
        self.remove(place)
        self.add(place, record)

    def add(self, place: int, record: ItemRecord) -> None:
        """Put an item where none is."""
        self._run(
            "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?)",
            (place, *record[:4], record.picture_digest, record.text_digest),
        )
        values = {
            self._numbers[name]: _stored_value(value, self.kinds[name])
            for name, value in record.attributes.items()
            if value is not None
        }
        columns = ", ".join(["row", *(f"a{number}" for number in values)])
        marks = ", ".join("?" * (1 + len(values)))
        self._run(f"INSERT INTO known ({columns}) VALUES ({marks})", (place, *values.values()))
        for name, value in record.attributes.items():
            if self.kinds[name] == "tags" and value is not None:
                for tag in dict.fromkeys(value if isinstance(value, list) else [str(value)]):
                    tagged = (self._numbers[name], tag, place)
                    self._run("INSERT OR IGNORE INTO tags VALUES (?, ?, ?)", tagged)
        self._run(f"INSERT INTO words(rowid, title, text, attributes) {self._words}", (place,))

    def bury(self, id: str, view: str, version: int, vector: bytes) -> None:
        """Keep the vector of an item that is gone."""
        self._run(
            "INSERT OR REPLACE INTO departed VALUES (?, ?, ?, ?)", (id, view, version, vector)
        )

    def welcome(self, id: str) -> bool:
        """Forget what was kept of an item that is there again; return whether anything was."""
        return self._run("DELETE FROM departed WHERE id = ?", (id,)).rowcount > 0

    def _forget_words(self, place: int) -> None:
        row = self._run(self._words, (place,)).fetchone()
        self._run(
            "INSERT INTO words(words, rowid, title, text, attributes) "
            "VALUES ('delete', ?, ?, ?, ?)",
            row,
        )

    @property
    def _words(self) -> str:
        """How the words of an item are asked for, as they are when a table is made."""
        worded = [
            f"CASE WHEN a{self._numbers[name]} LIKE 'http%://%' THEN '' "
            f"ELSE coalesce(a{self._numbers[name]}, '') END"
            for name, kind in self.kinds.items()
            if kind in ("text", "tags")
        ]
        together = " || ' ' || ".join(worded) or "''"
        return (
            f"SELECT items.row, title, text, {together} FROM items JOIN known USING (row) "
            "WHERE items.row = ?"
        )


def _stored_value(value: PlainValue, kind: Kind) -> Any:
    """Return a value as the item table keeps it."""
    match kind:
        case "tags":
            return json.dumps(
                value if isinstance(value, list) else [str(value)], ensure_ascii=False
            )
        case "boolean":
            return int(str(value).lower() == "true")
        case "number" if isinstance(value, str):
            number = float(value)
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
        case "text" if not isinstance(value, str):
            return ("true" if value else "false") if isinstance(value, bool) else str(value)
    return value


def _remove(
    patch: _ItemPatch, old: Catalog, places: _Places, gone: Rows, manifest: Manifest
) -> int:
    """Take items out and keep their vectors; return how many of them are kept that were not."""
    ids = [item.id for item in old.items(gone.tolist())]
    for row, id in zip(gone.tolist(), ids, strict=True):
        patch.remove(places.of(row))
        for name in manifest.made_views:
            with np.errstate(invalid="ignore", over="ignore"):
                exact = old.views[name].rows(np.array([row]))[0].astype("<f4")
            patch.bury(id, name, manifest.version, exact.tobytes())
    return len(ids)


def _view_segment(
    folder: Path,
    prefix: str,
    old: Catalog,
    name: str,
    gone: Rows,
    changed: list[tuple[int, ItemRecord, dict[str, Floats]]],
    new: list[tuple[ItemRecord, dict[str, Floats]]],
) -> ViewEntry:
    """Add the new vectors of a view to its file; return what catalog.json says of it then."""
    manifest, target = old.manifest, old.folder
    if manifest is None or target is None:
        raise ValueError("a catalog in memory has no segments")
    entry, view = manifest.views[name], old.views[name]
    updated = [(row, vectors[name]) for row, _, vectors in changed if name in vectors]
    vectors = [vector for _, vector in updated] + [vectors[name] for _, vectors in new]
    if not vectors and not len(gone):
        return entry
    slots = np.arange(len(view)) if view.slots is None else view.slots.copy()
    first = len(view.stored)
    for number, (row, _) in enumerate(updated):
        slots[row] = first + number
    fresh = np.arange(first + len(updated), first + len(vectors))
    slots = np.concatenate([np.delete(slots, gone), fresh])
    centre = np.zeros(view.dimensions, np.float32) if view.centre is None else view.centre
    dtype: StoredVectors = view.dtype  # type: ignore[assignment]
    codes, steps = pack(np.array(vectors, np.float32).reshape(-1, view.dimensions), dtype, centre)
    stored, all_steps = np.asarray(view.stored), view.steps
    added = entry.added
    if vectors:
        end = entry.vectors.bytes + entry.added_rows * entry.row_bytes
        _append(target, entry.vectors.file, end, codes)
        sums = [(entry.vectors, entry.row_bytes)]
        if entry.steps is not None and steps is not None:
            _append(target, entry.steps.file, entry.steps.bytes + 4 * entry.added_rows, steps)
            sums.append((entry.steps, 4))
        rows = entry.added_rows + len(vectors)
        digests = [part_sha256(target, file.file, file.bytes, rows * size) for file, size in sums]
        added = AddedEntry(rows, digests[0], digests[1] if len(digests) > 1 else None)
        stored = _mapped(target / entry.vectors.file, entry.vectors.bytes, stored, rows, entry)
        if all_steps is not None and steps is not None:
            all_steps = np.concatenate([all_steps, steps])
    metric = "euclidean" if view.fast else view.metric
    in_order = len(slots) == len(stored) and bool((slots == np.arange(len(slots))).all())
    used = None if in_order else slots
    with np.errstate(invalid="ignore", over="ignore"):
        measured = View.measure(name, stored, metric, view.units, all_steps, view.centre, used)
    if not np.isfinite([measured.scale, measured.radius]).all():
        raise BadInput(
            f"The catalog is damaged: view '{name}' holds numbers that are not finite.",
            "Check it with `seeker verify`, or build it again.",
        )
    rows_of = [measured.mean, measured.variance]
    rows_of += [] if view.centre is None else [view.centre.astype(np.float64)]
    runs = None if in_order else _array(folder, prefix, f"views/{name}.slots.npy", slot_runs(slots))
    return replace(
        entry,
        moments=_array(folder, prefix, f"views/{name}.moments.npy", np.stack(rows_of)),
        scale=measured.scale,
        radius=measured.radius,
        added=added,
        slots=runs,
    )


def _mapped(file: Path, base: int, stored: Array, rows: int, entry: ViewEntry) -> Array:
    """Return all vectors of a view's file with those that were just added."""
    start = base - (len(stored) - entry.added_rows) * entry.row_bytes
    shape = (len(stored) - entry.added_rows + rows, entry.dimensions)
    return np.asarray(np.memmap(file, np.dtype(entry.dtype).newbyteorder("<"), "r", start, shape))


def _append(folder: Path, file: str, end: int, rows: Array) -> None:
    """Write rows after those that the present version names; what a crash has left there goes."""
    path = real_path(folder, file)
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        raise LinkInside(path) from None
    with os.fdopen(descriptor, "r+b") as handle:
        handle.seek(end)
        handle.write(np.ascontiguousarray(rows).data)
        handle.truncate()
        handle.flush()
        os.fsync(handle.fileno())


def _array(folder: Path, prefix: str, file: str, array: Array) -> FileEntry:
    """Write an array; return how catalog.json names it."""
    with new_file(folder / file) as handle:
        np.save(handle, np.ascontiguousarray(array), allow_pickle=False)
        handle.flush()
        os.fsync(handle.fileno())
    return replace(FileEntry.of(folder, file), file=f"{prefix}{file}")
