"""Compact forms of vectors: float16, and int8 with one step per item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, cast

import numpy as np

from seeker.errors import BadInput
from seeker.types import Array, Doubles, Floats

_RUN_ROWS = 16_384


def runs(count: int) -> Iterator[slice]:
    """Yield slices that cover so many rows, in order."""
    for start in range(0, count, _RUN_ROWS):
        yield slice(start, min(start + _RUN_ROWS, count))


StoredVectors = Literal["float32", "float16", "int8"]
DTYPES: tuple[StoredVectors, ...] = ("float32", "float16", "int8")

MAX_FLOAT32_BYTES = 2_000_000_000
MAX_FLOAT16_BYTES = 8_000_000_000
"""Bytes in float32 and in float16 beyond which "auto" stores a view more compactly."""

_INT8_STEPS = 127
_MIN_FLOAT16 = float(np.finfo(np.float16).smallest_normal)


def check_dtype(dtype: object) -> StoredVectors | Literal["auto"]:
    """Return the name of a form in which vectors are stored, or "auto"."""
    if dtype in (*DTYPES, "auto"):
        return cast(StoredVectors, dtype)
    raise BadInput(
        f"{dtype!r} is not a way to store vectors.",
        "Use 'auto', 'float32', 'float16' or 'int8'.",
    )


def choose_dtype(
    dtype: StoredVectors | Literal["auto"], items: int, dimensions: int
) -> StoredVectors:
    """Return the form in which so many vectors are stored; "auto" goes by their size."""
    if dtype != "auto":
        return dtype
    if 4 * items * dimensions <= MAX_FLOAT32_BYTES:
        return "float32"
    return "float16" if 2 * items * dimensions <= MAX_FLOAT16_BYTES else "int8"


def pack(vectors: Array, dtype: StoredVectors, centre: Floats) -> tuple[Array, Floats | None]:
    """Return vectors, (n, d), in a compact form, and for int8 the step of each, (n,)."""
    if dtype == "float32":
        return vectors.astype(np.float32), None
    away = vectors.astype(np.float64) - centre
    if dtype == "float16":
        with np.errstate(over="ignore"):
            codes = away.astype(np.float16)
        if not np.isfinite(codes).all():
            raise BadInput(
                "The vectors hold numbers that are too large for float16.",
                "Store them as float32 or int8.",
            )
        return codes, None
    with np.errstate(under="ignore"):
        steps = (np.abs(away).max(axis=1, initial=0.0) / _INT8_STEPS).astype(np.float32)
    exact = np.where(steps > 0.0, steps, 1.0).astype(np.float64)
    codes = np.clip(np.rint(away / exact[:, None]), -_INT8_STEPS, _INT8_STEPS)
    return codes.astype(np.int8), steps


def pack_in_runs(
    vectors: Array, dtype: StoredVectors, centre: Floats
) -> Iterator[tuple[slice, Array, Floats | None]]:
    """Yield all vectors of a view in a compact form: runs of rows, and of each what `pack` gives.

    Numbers that float16 would hold with fewer than its 11 bits, or not at all, are refused.
    """
    farthest = 0.0
    for run in runs(len(vectors)):
        if dtype == "float16":
            away = vectors[run].astype(np.float64) - centre
            farthest = max(farthest, float(np.abs(away).max()))
        yield run, *pack(vectors[run], dtype, centre)
    # Vectors that are all alike differ from their centre by its rounding, and nothing else.
    alike = float(np.abs(centre).max()) * 1e-6
    if alike < farthest < _MIN_FLOAT16:
        raise BadInput(
            "The vectors hold numbers that are too small for float16.",
            "Store them as float32 or int8, or make them larger.",
        )


def unpack(codes: Array, steps: Array | None, centre: Floats | None) -> Doubles:
    """Return the vectors that a compact form stands for, (n, d) float64."""
    vectors = codes.astype(np.float64)
    if steps is not None:
        vectors *= steps.astype(np.float64)[..., None]
    return vectors if centre is None else vectors + centre


def for_kernels(codes: Array) -> Array:
    """Return stored vectors as the kernels take them: float16 as the whole numbers of its bits.

    Nobody may write to them, wherever they come from: a kernel is compiled once for all.
    """
    taken = codes.view(np.int16 if codes.dtype == np.float16 else codes.dtype)
    taken.flags.writeable = False
    return taken
