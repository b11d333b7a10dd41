"""The views of a catalog: checked arrays in memory, or files of a folder, mapped and not read."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, cast

import numpy as np

from seeker.catalog import item_writer
from seeker.catalog.manifest import FileEntry, Manifest, ViewEntry
from seeker.catalog.manifest_reader import damaged
from seeker.catalog.nofollow import LeadsOut, NotPlain, open_inside
from seeker.catalog.sqlite_connections import FileConnections, connect
from seeker.catalog.view_map import LinearMap, map_from_array
from seeker.errors import BadInput
from seeker.space import Metric, View
from seeker.space.metric import check as check_metric
from seeker.space.packing import check_dtype
from seeker.space.view import Scale, check_scale
from seeker.types import Array, Rows

_HEADER = re.compile(
    rb"\{'descr': '[<|](f8|f4|f2|i8|i1)', 'fortran_order': (False|True), "
    rb"'shape': \((\d{1,18}),(?: (\d{1,18}))?\), \}\s*"
)
_MAX_HEADER_BYTES = 10_000
_DTYPES = {b"f8": "float64", b"f4": "float32", b"f2": "float16", b"i8": "int64", b"i1": "int8"}


def check_views(
    views: Mapping[str, Array | Sequence[Sequence[float]]],
    count: int,
    metric: Metric | Mapping[str, Metric],
    scale: Scale,
    dtype: str = "float32",
) -> dict[str, View]:
    """Return the views if each has one vector per item."""
    if not isinstance(views, Mapping) or not views:
        raise BadInput("The catalog has no views.", "Give at least one: {'name': vectors}.")
    unknown = [name for name in metric if name not in views] if isinstance(metric, Mapping) else []
    if unknown:
        raise BadInput(
            f"There is a metric for view {unknown[0]!r}, which the catalog has not.",
            f"It has {list(views)}.",
        )
    check_scale(scale)
    stored = check_dtype(dtype)
    checked = {}
    for name, vectors in views.items():
        if not isinstance(name, str) or not name:
            raise BadInput(f"{name!r} is not a name for a view.", "Use a text, such as 'image'.")
        of_view = metric.get(name, "euclidean") if isinstance(metric, Mapping) else metric
        checked[name] = View.from_vectors(
            name, _as_rows(vectors), check_metric(of_view), scale, stored
        )
        if len(checked[name]) != count:
            raise BadInput(
                f"View '{name}' has {len(checked[name])} rows, but there are {count} ids.",
                "Every view needs one row per item, in the order of the ids.",
            )
    return checked


def _as_rows(vectors: Any) -> Any:
    """Return vectors as a list where they are a column of them, as a data frame may have."""
    if isinstance(vectors, np.ndarray):
        return list(vectors) if vectors.dtype.kind == "O" and vectors.ndim == 1 else vectors
    if hasattr(vectors, "to_list") and not hasattr(vectors, "columns"):  # pandas and polars
        return vectors.to_list()
    # A column of a dataset of Hugging Face is a sequence, but no array.
    column = isinstance(vectors, Sequence) and not isinstance(vectors, list | tuple | str)
    return list(vectors) if column else vectors


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """Refuse a folder whose files are missing or not as long as they were written."""
    growing = manifest.growing
    for entry in manifest.files:
        with _open_entry(folder, entry, growing.get(entry.file)):
            pass


def open_removed(folder: Path, manifest: Manifest) -> Rows:
    """Return the rows of the item table that are gone since it was made, ascending, (n,)."""
    entry = manifest.removed
    if entry is None:
        return np.empty(0, np.int64)
    (count,) = _header_of(folder, entry)[2]
    removed = np.array(_map_array(folder, "the removed rows", entry, "int64", (count,)))
    places = manifest.count + count
    if (np.diff(removed) <= 0).any() or (count and not 0 <= removed[0] <= removed[-1] < places):
        raise damaged(folder, "its removed rows are not ascending rows of the item table")
    return removed


def open_items(folder: Path, manifest: Manifest, removed: Rows) -> FileConnections:
    """Open an item table if it is made of the tables, the attributes and the rows it needs."""
    places = np.setdiff1d(np.arange(len(removed) + 1), removed)[:1]
    last = manifest.count + len(removed) - 1
    while len(removed) and last == removed[-1]:
        removed, last = removed[:-1], last - 1
    path, logged = folder / manifest.items.file, manifest.log is not None
    try:
        with ExitStack() as unused:
            connection = unused.enter_context(closing(connect(path, logged)))
            problem = item_writer.table_problem(
                connection, manifest.attributes, (int(places[0]), last), manifest.count
            )
            if problem is None:
                unused.pop_all()
                # It has read: who has opened a version reads it to the end, whatever comes after.
                return FileConnections(path, logged, connection)
    except sqlite3.Error as error:
        problem = f"cannot be read ({error})"
    raise damaged(folder, f"'{manifest.items.file}' {problem}")


def open_views(
    folder: Path, manifest: Manifest, known: Mapping[str, View] = MappingProxyType({})
) -> dict[str, View]:
    """Return the views by name; known: those that are open already."""
    return {
        name: known[name] if name in known else _open_view(folder, manifest, name, entry)
        for name, entry in manifest.views.items()
    }


def open_maps(folder: Path, manifest: Manifest) -> dict[str, LinearMap]:
    """Return the maps of the learned views, by the names of these."""
    maps = {}
    for name, entry in manifest.views.items():
        if entry.learned is None:
            continue
        sources = entry.learned.sources
        dimensions = [manifest.views[source].dimensions for source in sources]
        what, shape = f"the map of view '{name}'", (sum(dimensions), entry.dimensions + 1)
        array = _map_array(folder, what, entry.learned.map, "float32", shape)
        if not np.isfinite(array).all():
            raise damaged(folder, f"{what} holds numbers that are not finite")
        maps[name] = map_from_array(name, sources, dimensions, array)
    return maps


def _open_view(folder: Path, manifest: Manifest, name: str, entry: ViewEntry) -> View:
    compact = entry.dtype != "float32"
    slots = None if entry.slots is None else _open_slots(folder, manifest.count, name, entry)
    rows = manifest.count
    if slots is not None:
        rows = _header_of(folder, entry.vectors)[2][0]
        if slots.max() >= rows + entry.added_rows:
            raise damaged(folder, f"the slots of view '{name}' lead beyond its vectors")
    elif entry.added is not None:
        rows -= entry.added.rows
    shape, added = (rows, entry.dimensions), entry.added_rows
    vectors = _map_array(folder, f"view '{name}'", entry.vectors, entry.dtype, shape, added)
    of_dimensions = (2 + compact, entry.dimensions)
    what = f"the moments of view '{name}'"
    moments = _map_array(folder, what, entry.moments, "float64", of_dimensions)
    mean, variance, *centre = np.array(moments, np.float64)
    if not np.isfinite(moments).all() or (variance < 0.0).any():
        raise damaged(folder, f"the moments of view '{name}' are not finite, or negative")
    steps = None
    if entry.steps is not None:
        what = f"the array of steps of view '{name}'"
        steps = _map_array(folder, what, entry.steps, "float32", (rows,), added)
    return View(
        name,
        vectors,
        check_metric(entry.metric),
        mean,
        variance,
        entry.radius,
        entry.scale,
        cast(Scale, entry.units),
        steps,
        centre[0].astype(np.float32) if compact else None,
        slots,
    )


def _open_slots(folder: Path, count: int, name: str, entry: ViewEntry) -> Rows:
    """Return where in its file the vectors of a view are, (items,), from the runs of these."""
    what = f"the slots of view '{name}'"
    if entry.slots is None:
        raise ValueError(what)
    shape = _header_of(folder, entry.slots)[2]
    runs = np.array(_map_array(folder, what, entry.slots, "int64", (shape[0], 2)))
    lengths = np.diff(np.append(runs[:, 0], count))
    if not len(runs) or runs[0, 0] != 0 or (lengths <= 0).any() or (runs[:, 1] < 0).any():
        raise damaged(folder, f"{what} are not runs of its items")
    return np.asarray(np.arange(count) + np.repeat(runs[:, 1] - runs[:, 0], lengths))


def slot_runs(slots: Rows) -> Rows:
    """Return where the vectors of items are as runs, (runs, 2): first item, first row."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(slots) != 1) + 1])
    return np.stack([starts, slots[starts]], axis=1)


def _header_of(folder: Path, entry: FileEntry) -> tuple[str, bool, tuple[int, ...]]:
    """Return dtype, whether in Fortran's order, and shape of an array of a catalog."""
    with _open_entry(folder, entry, entry.bytes) as handle:
        header = _read_header(handle)
    if header is None or not header[2]:
        raise damaged(folder, f"'{entry.file}' is not an array of numbers")
    return header


def _map_array(
    folder: Path, what: str, entry: FileEntry, dtype: str, shape: tuple[int, ...], added: int = 0
) -> Array:
    """Return an array that is read from its file when it is used, if it is just this one.

    Size and header are those of the file that is mapped, whatever has its name a moment later.
    added: rows that follow those of which the header tells.
    """
    row_bytes = np.dtype(dtype).itemsize * int(np.prod(shape[1:], dtype=object))
    with _open_entry(folder, entry, entry.bytes + added * row_bytes) as handle:
        header = _read_header(handle)
        if header is None:
            raise damaged(folder, f"'{entry.file}' is not an array of numbers")
        if header != (dtype, False, shape):
            order = " in Fortran's order" if header[1] else ""
            raise damaged(
                folder,
                f"{what} is {header[0]} of shape {header[2]}{order} instead of {dtype} {shape}",
            )
        start = handle.tell()
        kind = np.dtype(dtype).newbyteorder("<")
        if entry.bytes != start + kind.itemsize * int(np.prod(shape, dtype=object)):
            raise damaged(folder, f"'{entry.file}' is not as long as its shape {shape} needs")
        return np.asarray(np.memmap(handle, kind, "r", start, (shape[0] + added, *shape[1:])))


def _read_header(handle: BinaryIO) -> tuple[str, bool, tuple[int, ...]] | None:
    """Return dtype, whether in Fortran's order, and shape of an .npy file; None if it is none.

    Only what Seeker and numpy.save write is read: a header is Python, and this is not evaluated.
    """
    magic = handle.read(8)
    if magic not in (b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00"):
        return None
    length = int.from_bytes(handle.read(2 if magic[6] == 1 else 4), "little")
    text = handle.read(length) if length <= _MAX_HEADER_BYTES else b""
    match = _HEADER.fullmatch(text)
    if match is None:
        return None
    dtype, fortran, *sizes = match.groups()
    return _DTYPES[dtype], fortran == b"True", tuple(int(one) for one in sizes if one is not None)


@contextmanager
def _open_entry(folder: Path, entry: FileEntry, at_least: int | None = None) -> Iterator[BinaryIO]:
    """Open a file of a catalog, if it is a plain one, in the folder, and as long as written.

    at_least: how long one must be to which updates may have added more.
    """
    try:
        with open_inside(folder, entry.file) as handle:
            size = os.fstat(handle.fileno()).st_size
            if (size != entry.bytes) if at_least is None else (size < at_least):
                raise damaged(
                    folder, f"'{entry.file}' has {size:,} bytes instead of {entry.bytes:,}"
                )
            yield handle
    except LeadsOut:
        raise damaged(folder, f"'{entry.file}' is a link that leads out of it") from None
    except NotPlain:
        raise damaged(folder, f"'{entry.file}' is not a plain file") from None
    except (FileNotFoundError, NotADirectoryError):
        raise damaged(folder, f"'{entry.file}' is missing") from None
