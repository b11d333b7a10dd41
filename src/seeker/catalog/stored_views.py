"""Opens the views of a catalog folder; vectors are mapped, not read."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from seeker.catalog import item_writer
from seeker.catalog.item_table import connect
from seeker.catalog.manifest import (
    FileEntry,
    LeadsOut,
    Manifest,
    NotPlain,
    ViewEntry,
    damaged,
    open_inside,
)
from seeker.space import View
from seeker.space.metric import check as check_metric
from seeker.space.view import Scale
from seeker.types import Array

_HEADER = re.compile(
    rb"\{'descr': '[<|](f8|f4|f2|i1)', 'fortran_order': (False|True), "
    rb"'shape': \((\d{1,18}),(?: (\d{1,18}))?\), \}\s*"
)
_LONGEST_HEADER = 10_000
_DTYPES = {b"f8": "float64", b"f4": "float32", b"f2": "float16", b"i1": "int8"}


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """Refuse a folder whose files are missing or not as long as they were written."""
    for stored in manifest.files:
        with _opened(folder, stored):
            pass


def check_items(folder: Path, manifest: Manifest) -> None:
    """Refuse an item table that is not made of the tables, the attributes and the rows it needs."""
    try:
        with closing(connect(folder / manifest.items.file)) as connection:
            problem = item_writer.problem(connection, manifest.attributes, manifest.count)
    except sqlite3.Error as error:
        problem = f"cannot be read ({error})"
    if problem is not None:
        raise damaged(folder, f"'{manifest.items.file}' {problem}")


def open_views(folder: Path, manifest: Manifest) -> dict[str, View]:
    """Return the views by name."""
    return {
        name: _open_view(folder, manifest, name, entry) for name, entry in manifest.views.items()
    }


def _open_view(folder: Path, manifest: Manifest, name: str, entry: ViewEntry) -> View:
    compact = entry.dtype != "float32"
    shape = (manifest.count, entry.dimensions)
    vectors = _mapped(folder, f"view '{name}'", entry.vectors, entry.dtype, shape)
    of_dimensions = (2 + compact, entry.dimensions)
    what = f"the moments of view '{name}'"
    moments = _mapped(folder, what, entry.moments, "float64", of_dimensions)
    mean, variance, *centre = np.array(moments, np.float64)
    if not np.isfinite(moments).all() or (variance < 0.0).any():
        raise damaged(folder, f"the moments of view '{name}' are not finite, or negative")
    steps = None
    if entry.steps is not None:
        what = f"the array of steps of view '{name}'"
        steps = _mapped(folder, what, entry.steps, "float32", (manifest.count,))
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
    )


def _mapped(
    folder: Path, what: str, stored: FileEntry, dtype: str, shape: tuple[int, ...]
) -> Array:
    """Return an array that is read from its file when it is used, if it is just this one.

    Size and header are those of the file that is mapped, whatever has its name a moment later.
    """
    with _opened(folder, stored) as handle:
        found = _described(handle)
        if found is None:
            raise damaged(folder, f"'{stored.file}' is not an array of numbers")
        if found != (dtype, False, shape):
            order = " in Fortran's order" if found[1] else ""
            raise damaged(
                folder,
                f"{what} is {found[0]} of shape {found[2]}{order} instead of {dtype} {shape}",
            )
        start = handle.tell()
        kind = np.dtype(dtype).newbyteorder("<")
        if stored.bytes != start + kind.itemsize * int(np.prod(shape, dtype=object)):
            raise damaged(folder, f"'{stored.file}' is not as long as its shape {shape} needs")
        return np.asarray(np.memmap(handle, kind, "r", start, shape))


def _described(handle: BinaryIO) -> tuple[str, bool, tuple[int, ...]] | None:
    """Return dtype, whether in Fortran's order, and shape of an .npy file; None if it is none.

    Only what Seeker and numpy.save write is read: a header is Python, and this is not evaluated.
    """
    magic = handle.read(8)
    if magic not in (b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00"):
        return None
    length = int.from_bytes(handle.read(2 if magic[6] == 1 else 4), "little")
    written = handle.read(length) if length <= _LONGEST_HEADER else b""
    match = _HEADER.fullmatch(written)
    if match is None:
        return None
    dtype, fortran, *sizes = match.groups()
    return _DTYPES[dtype], fortran == b"True", tuple(int(one) for one in sizes if one is not None)


@contextmanager
def _opened(folder: Path, stored: FileEntry) -> Iterator[BinaryIO]:
    """Open a file of a catalog, if it is a plain one, in the folder, and as long as written."""
    try:
        with open_inside(folder, stored.file) as handle:
            size = os.fstat(handle.fileno()).st_size
            if size != stored.bytes:
                raise damaged(
                    folder, f"'{stored.file}' has {size:,} bytes instead of {stored.bytes:,}"
                )
            yield handle
    except LeadsOut:
        raise damaged(folder, f"'{stored.file}' is a link that leads out of it") from None
    except NotPlain:
        raise damaged(folder, f"'{stored.file}' is not a plain file") from None
    except (FileNotFoundError, NotADirectoryError):
        raise damaged(folder, f"'{stored.file}' is missing") from None
