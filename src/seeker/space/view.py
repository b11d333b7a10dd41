"""A view: one way of comparing items, a matrix of vectors with a metric."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from seeker.errors import BadInput, short_repr
from seeker.space import metric as metrics
from seeker.space.columns import ColumnCaches
from seeker.space.metric import Metric
from seeker.space.packing import (
    StoredVectors,
    choose_dtype,
    for_kernels,
    pack_in_runs,
    runs,
    unpack,
)
from seeker.types import Array, Doubles, Floats, Rows


def check_vectors(name: str, vectors: object) -> Floats:
    """Return a float32 array, (items, d), that nobody else will change; name: of the view."""
    try:
        array = np.asarray(vectors)
        numeric = array.dtype.kind in "fiub"
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
    if array.ndim != 2 or array.shape[1] == 0:
        raise BadInput(
            f"The vectors of view '{name}' have shape {array.shape}.",
            "They must have shape (items, dimensions), with at least one dimension.",
        )
    shared = array.dtype == np.float32 and array.flags.c_contiguous and not array.flags.writeable
    with np.errstate(over="ignore"):
        vectors32 = array if shared else np.array(array, dtype=np.float32, order="C")
    for run in runs(len(vectors32)):
        bad = ~np.isfinite(vectors32[run]).all(axis=1)
        if bad.any():
            row = run.start + int(np.argmax(bad))
            large = array.dtype.kind in "iu" or bool(np.isfinite(array[row]).all())
            what = "a number too large for float32" if large else "NaN or infinity"
            raise BadInput(
                f"Row {row} of view '{name}' holds {what}.",
                "Every number must be finite; leave such items out or repair them.",
            )
    return vectors32


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


def mean(
    vectors: Array,
    steps: Array | None = None,
    centre: Floats | None = None,
    slots: Rows | None = None,
) -> Doubles:
    """Return the mean per dimension, (d,); steps, centre, slots: as in `View`."""
    total, count = np.zeros(vectors.shape[1]), len(vectors if slots is None else slots)
    for run in runs(count):
        total += _numbers(vectors, steps, centre, run, slots).sum(axis=0, dtype=np.float64)
    return total / count


def moments(
    vectors: Array, steps: Array | None, centre: Floats | None, slots: Rows | None = None
) -> tuple[Doubles, Doubles, float]:
    """Return the mean and variance per dimension, (d,) each, and the largest squared radius."""
    middle = mean(vectors, steps, centre, slots)
    variance, count = np.zeros(vectors.shape[1]), len(vectors if slots is None else slots)
    radius = 0.0
    for run in runs(count):
        squares = (_numbers(vectors, steps, centre, run, slots) - middle) ** 2
        variance += squares.sum(axis=0)
        radius = max(radius, float(squares.sum(axis=1).max()))
    return middle, variance / count, radius


def _numbers(
    vectors: Array, steps: Array | None, centre: Floats | None, run: slice, slots: Rows | None
) -> Array:
    """Return the vectors of a run of items as numbers that can be added, (n, d)."""
    rows = run if slots is None else slots[run]
    if centre is None:
        return vectors[rows]
    return unpack(vectors[rows], None if steps is None else steps[rows], centre)


Scale = Literal["unit", "raw"]
"""Whether distances are divided by their mean over the catalog, or stay as they are."""

_SAMPLE_ITEMS = 256


def check_scale(scale: object) -> None:
    """Refuse a scale that is neither 'unit' nor 'raw'."""
    if scale not in ("unit", "raw"):
        raise BadInput(f"scale is {short_repr(scale)}, but it must be 'unit' or 'raw'.")


@dataclass(frozen=True, eq=False)
class View:
    """One way of comparing items.

    stored: (rows, d) vectors as they are stored, read-only: float32, or float16 or int8 as
    `packing` has it; `rows` gives the vectors they stand for. slots: (items,), where in these
    the vector of each item is; None if they are in the order of the items, one each. mean,
    variance: (d,), over the items. radius: the largest squared distance of an item from the
    mean. scale: the mean squared distance between two random items; distances are divided by
    it, so that they are about 1 in every catalog. With units="raw" the scale is 1. steps,
    (rows,), and centre, (d,): of compact vectors.
    """

    name: str
    stored: Array = field(repr=False)
    metric: Metric
    mean: Doubles = field(repr=False)
    variance: Doubles = field(repr=False)
    radius: float
    scale: float
    units: Scale = "unit"
    steps: Floats | None = field(default=None, repr=False)
    centre: Floats | None = field(default=None, repr=False)
    slots: Rows | None = field(default=None, repr=False)

    @property
    def vectors(self) -> Array:
        """The vectors of the items as they are stored, (items, d)."""
        return self.stored if self.slots is None else self.stored[self.slots]

    @property
    def item_steps(self) -> Floats | None:
        """The steps of the items, (items,), of int8 vectors."""
        return self.steps if self.steps is None or self.slots is None else self.steps[self.slots]

    def stored_rows(self, rows: Rows) -> Rows:
        """Return where in the stored vectors those of some items are."""
        return rows if self.slots is None else self.slots[rows]

    @cached_property
    def column_caches(self) -> ColumnCaches:
        """The columns that searches in this view, and others with it, share."""
        return ColumnCaches()

    @classmethod
    def from_vectors(
        cls,
        name: str,
        vectors: object,
        metric: Metric = "euclidean",
        units: Scale = "unit",
        dtype: StoredVectors | Literal["auto"] = "float32",
    ) -> View:
        """Check the vectors, store them and measure what distances need."""
        array = check_vectors(name, vectors)
        if metric == "cosine":
            array = unit_length(name, array)
        stored = choose_dtype(dtype, *array.shape)
        if stored == "float32":
            array.setflags(write=False)
            return cls.measure(name, array, metric, units)
        centre = mean(array).astype(np.float32)
        codes = np.empty(array.shape, stored)
        steps = np.empty(len(array), np.float32) if stored == "int8" else None
        for run, of_run, of_rows in pack_in_runs(array, stored, centre):
            codes[run] = of_run
            if steps is not None:
                steps[run] = of_rows
        for stored_array in (codes, steps, centre):
            if stored_array is not None:
                stored_array.setflags(write=False)
        return cls.measure(name, codes, metric, units, steps, centre)

    @classmethod
    def measure(
        cls,
        name: str,
        vectors: Array,
        metric: Metric,
        units: Scale = "unit",
        steps: Floats | None = None,
        centre: Floats | None = None,
        slots: Rows | None = None,
    ) -> View:
        """Return the view of vectors in their stored form, measuring what distances need."""
        middle, variance, radius = moments(vectors, steps, centre, slots)
        view = cls(
            name, vectors, metric, middle, variance, radius, 1.0, units, steps, centre, slots
        )
        if view.fast:
            mean_square = 2.0 * float(variance.sum())
        else:
            mean_square = metrics.mean_square(metric, view.sample)
        scale = mean_square if units == "unit" and mean_square > 0.0 else 1.0
        return replace(view, scale=scale)

    def __len__(self) -> int:
        return len(self.stored) if self.slots is None else len(self.slots)

    @property
    def dimensions(self) -> int:
        """How many numbers describe an item."""
        return int(self.stored.shape[1])

    @property
    def fast(self) -> bool:
        """Whether differences of distances are linear in the item's vector."""
        return self.metric in metrics.FAST

    @cached_property
    def longest(self) -> float:
        """A length that no vector exceeds."""
        length = float(np.linalg.norm(self.mean)) + float(np.sqrt(self.radius))
        # Unit vectors are rounded where they are stored in a compact form.
        return min(length, 1.01) if self.metric == "cosine" else length

    @cached_property
    def origin(self) -> Floats:
        """Where vectors are measured from, (d,): near the mean, so that float32 loses nothing."""
        return self.mean.astype(np.float32) if self.centre is None else self.centre

    @property
    def dtype(self) -> str:
        """The form in which the vectors are stored."""
        return str(self.stored.dtype)

    def rows(self, rows: Array | slice) -> Doubles:
        """Return the vectors of some items, (n, d) float64."""
        if self.slots is not None:
            rows = self.slots[rows]
        steps = None if self.steps is None else self.steps[rows]
        return unpack(self.stored[rows], steps, self.centre)

    def within_radius(self, vector: Doubles) -> Doubles:
        """Return a vector, (d,), or if it is farther out than any item, the point at the rim.

        How far apart two things can be is known of a view, and sums rely on it.
        """
        away = vector - self.mean
        square = float(away @ away)
        if square <= self.radius or callable(self.metric):
            return vector
        return np.asarray(self.mean + away * np.sqrt(self.radius / square))

    @cached_property
    def for_kernels(self) -> tuple[Array, Array]:
        """The stored vectors and steps as the kernels take them."""
        none: Array = np.empty(0, np.float32)
        return for_kernels(self.stored), none if self.steps is None else for_kernels(self.steps)

    @cached_property
    def sample(self) -> Doubles:
        """Evenly spread vectors that stand for all, (at most 256 of a large catalog, d)."""
        few = len(self) <= 8 * _SAMPLE_ITEMS
        places = np.linspace(0, len(self) - 1, len(self) if few else _SAMPLE_ITEMS).astype(np.int64)
        return self.rows(places)
