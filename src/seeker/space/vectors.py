"""Vectors that people give, checked and made what a view stores."""

from __future__ import annotations

import numpy as np

from seeker.errors import BadInput
from seeker.space.runs import runs
from seeker.types import Floats


def checked(name: str, vectors: object) -> Floats:
    """Return a float32 array, (items, d), that nobody else will change; name: of the view."""
    try:
        given = np.asarray(vectors)
        numeric = given.dtype.kind in "fiub"
    except ValueError:
        numeric = False
    if not numeric:
        raise BadInput(
            f"The vectors of view '{name}' are not an array of numbers.",
            "Give one row of numbers per item, all rows of the same length.",
        )
    if np.ma.is_masked(vectors):
        raise BadInput(
            f"The vectors of view '{name}' have numbers that are masked.",
            "Fill them in, or leave such items out.",
        )
    if given.ndim != 2 or given.shape[1] == 0:
        raise BadInput(
            f"The vectors of view '{name}' have shape {given.shape}.",
            "They must have shape (items, dimensions), with at least one dimension.",
        )
    shared = given.dtype == np.float32 and given.flags.c_contiguous and not given.flags.writeable
    with np.errstate(over="ignore"):
        kept = given if shared else np.array(given, dtype=np.float32, order="C")
    for run in runs(len(kept)):
        bad = ~np.isfinite(kept[run]).all(axis=1)
        if bad.any():
            row = run.start + int(np.argmax(bad))
            large = given.dtype.kind in "iu" or bool(np.isfinite(given[row]).all())
            what = "a number too large for float32" if large else "NaN or infinity"
            raise BadInput(
                f"Row {row} of view '{name}' holds {what}.",
                "Every number must be finite; leave such items out or repair them.",
            )
    return kept


def unit_length(name: str, vectors: Floats) -> Floats:
    """Return the vectors scaled to length one, (items, d); name: of the view."""
    unit = np.empty_like(vectors)
    for run in runs(len(vectors)):
        some = vectors[run].astype(np.float64)
        length = np.sqrt((some**2).sum(axis=1, keepdims=True))
        if not length.all():
            row = run.start + int(np.argmin(length))
            raise BadInput(
                f"Row {row} of view '{name}' is all zeros, which has no direction.",
                "The cosine metric needs every vector to differ from zero.",
            )
        unit[run] = some / length
    return unit
