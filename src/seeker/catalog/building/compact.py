"""Turns a finished file of float32 vectors into a compact one, in bounded memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from seeker.catalog.building.vectors import VectorFile
from seeker.catalog.nofollow import new_file
from seeker.space.moments import mean
from seeker.space.packing import Stored, packed_in_runs
from seeker.types import Array, Floats


def compact(path: Path, dtype: Stored, centre: Floats | None) -> Floats:
    """Rewrite vectors in a compact form, int8 with a file of steps beside it; return the centre.

    centre: the one to keep, as in a new version of a catalog; the mean unless given.
    """
    vectors: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    if centre is None:
        centre = mean(vectors).astype(np.float32)
    aside = path.with_suffix(".new")
    file = VectorFile(aside, vectors.shape[1], dtype)
    every = []
    try:
        for _, codes, steps in packed_in_runs(vectors, dtype, centre):
            file.append(codes)
            if steps is not None:
                every.append(steps)
        file.finish()
    finally:
        file.close()
    if every:
        with new_file(steps_of(path)) as handle:
            np.save(handle, np.concatenate(every), allow_pickle=False)
    aside.replace(path)
    return centre


def steps_of(path: Path) -> Path:
    """Return where the steps of an int8 view's file are kept."""
    return path.with_name(f"{path.stem}.steps.npy")
