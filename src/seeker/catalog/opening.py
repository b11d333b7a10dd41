"""Opens the views of a catalog folder; vectors are mapped, not read."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np

from seeker.catalog.head import Head, ViewEntry, damaged
from seeker.space import View
from seeker.space.metric import check as check_metric
from seeker.space.packing import DTYPES
from seeker.space.view import Scale
from seeker.types import Array


def check_sizes(folder: Path, head: Head) -> None:
    """Refuse a folder whose files are missing or not as long as they were written."""
    for stored in head.files:
        try:
            size = (folder / stored.file).stat().st_size
        except FileNotFoundError:
            raise damaged(folder, f"'{stored.file}' is missing") from None
        if size != stored.bytes:
            raise damaged(folder, f"'{stored.file}' has {size:,} bytes instead of {stored.bytes:,}")


def open_views(folder: Path, head: Head) -> dict[str, View]:
    """Return the views by name."""
    if not head.views:
        raise damaged(folder, "it has no views")
    return {name: _view(folder, head, name, entry) for name, entry in head.views.items()}


def _view(folder: Path, head: Head, name: str, entry: ViewEntry) -> View:
    vectors = mapped(folder, entry.vectors.file)
    moments = mapped(folder, entry.moments.file)
    shape = (head.count, entry.dimensions)
    if vectors.shape != shape or vectors.dtype != entry.dtype or entry.dtype not in DTYPES:
        raise damaged(
            folder,
            f"view '{name}' is {vectors.dtype} of shape {vectors.shape} instead of "
            f"{entry.dtype} {shape}",
        )
    compact = entry.dtype != "float32"
    if moments.shape != (2 + compact, entry.dimensions):
        raise damaged(folder, f"the moments of view '{name}' have shape {moments.shape}")
    mean, variance, *centre = np.array(moments, np.float64)
    steps = None if entry.steps is None else mapped(folder, entry.steps.file)
    if (entry.dtype == "int8") != (steps is not None and steps.shape == (head.count,)):
        raise damaged(folder, f"the steps of view '{name}' are not one number per item")
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


def mapped(folder: Path, file: str) -> Array:
    """Return an array that is read from its file when it is used."""
    try:
        return np.asarray(np.load(folder / file, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError):
        raise damaged(folder, f"'{file}' is not an array of numbers") from None
