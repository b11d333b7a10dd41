"""The space of one session: its views in common units, and columns of distances in them.

A column holds one number per item. For an item k it is `D(k, t) − D̄(t)`: how much farther t is
from k than from the average item. Distances relative to the average item are all that the models
need, they are linear in the vector of t, and they stay small however far the vectors lie from the
origin. For a text r the column is `r · x_t`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from seeker.errors import BadInput
from seeker.kernels.parallel import Interrupted, Stop, never
from seeker.space import metric as metrics
from seeker.space.columns import DirectionProbe, DistanceProbe, PreparedProbes, SharedColumns
from seeker.space.view import Scale, View
from seeker.types import Array, Doubles, Floats, Rows
from seeker.validation import within_range

LANES = 8
"""As many as `kernels.simd` has; that cannot be imported here, for it takes long."""

MAX_HARM_OF_FLOAT32_SUMS = 300.0
MAX_HARM_OF_FLOAT32_COLUMNS = 4000.0
"""Up to which harm, that is reach · sharpness, columns are summed and kept in float32."""

MAX_FLOAT32_NUMBER = 1e38
"""Beyond this, numbers on the way to a column do not fit into float32."""

_MAX_FLOAT32_COLUMN = 1e37
"""Larger numbers are not told apart in columns of float32: their differences must fit, too."""


class VectorLookup(Protocol):
    """The vectors of all items that others can be measured from."""

    def vectors(self, view: int, rows: Sequence[int]) -> Doubles:
        """Return the vectors of some items in one view, (rows, d)."""
        ...


class CatalogVectors:
    """The vectors of the items in some views, and of things that are not in them.

    extra_vectors: by view, (d,) each, of items that are not in the views any more, and of others
    that never were, but can be asked about, as the rows that follow the last; it may grow.
    """

    def __init__(
        self, views: Sequence[View], extra_vectors: Sequence[Mapping[str, Floats]] = ()
    ) -> None:
        self._views = tuple(views)
        self._extra_vectors = extra_vectors

    def vectors(self, view: int, rows: Sequence[int]) -> Doubles:
        """Return the vectors of some items in one view, (rows, d)."""
        one, count = self._views[view], len(self._views[view])
        if all(row < count for row in rows):
            return one.rows(np.array(rows, np.int64))
        vectors = [
            one.rows(np.array([row]))[0]
            if row < count
            else self._extra_vectors[row - count][one.name].astype(np.float64)
            for row in rows
        ]
        return np.stack(vectors)

    def item(self, row: int) -> tuple[Doubles, ...]:
        """Return the vectors of one item, (d,) each, in the order of the views."""
        return tuple(self.vectors(view, [row])[0] for view in range(len(self._views)))


class Space:
    """Views in common units, as one person sees them.

    person: by view, the vector c of the paper's φ(c, x) = c ⊙ x. sharpest: by how much a model
    may multiply an error in a distance. extra_vectors: see `CatalogVectors`. lookup: where the
    vectors are that items are measured from, if not in these views. all_items: all items will be
    measured, not only a few of them, so what is measured of all of them is kept.

    Columns are summed and kept in float32 where that is harmless, then summed in float64 and kept
    in float32, then kept in float64.
    """

    def __init__(
        self,
        views: Sequence[View],
        scale: Scale = "unit",
        person: Mapping[str, Doubles] | None = None,
        sharpest: float = 1.0,
        extra_vectors: Sequence[Mapping[str, Floats]] = (),
        lookup: VectorLookup | None = None,
        all_items: bool = True,
    ) -> None:
        self.views = tuple(views)
        self._lookup = lookup or CatalogVectors(views, extra_vectors)
        self._all_items = all_items
        self._ready = PreparedProbes((), (), ())
        self.count = len(self.views[0])
        self.fast = all(view.fast for view in self.views)
        self._persons = tuple(_person(view, (person or {}).get(view.name)) for view in self.views)
        self._scales = tuple(
            self._unit(view, c) if scale == "unit" else 1.0
            for view, c in zip(self.views, self._persons, strict=True)
        )
        reach = max(
            4.0 * view.radius * _longer(view) * float((c**2).max()) / unit
            for view, c, unit in zip(self.views, self._persons, self._scales, strict=True)
        )
        harm = reach * sharpest
        self.dtype = np.dtype(np.float32 if harm <= MAX_HARM_OF_FLOAT32_COLUMNS else np.float64)
        fits = self._largest < MAX_FLOAT32_NUMBER
        self.summed_in = np.dtype(
            np.float32 if harm <= MAX_HARM_OF_FLOAT32_SUMS and fits else np.float64
        )
        alike = self.fast and not person and lookup is None
        self.shared = self._shared_columns(scale) if alike else None
        self.reach = math.inf if any(callable(view.metric) for view in self.views) else reach
        """No column holds a number larger than this; nothing is known of a function."""

    def _shared_columns(self, scale: Scale) -> SharedColumns:
        """Return the columns that all searches share in which items lie as they do here."""
        key = (self.views[1:], scale, self.dtype, self.summed_in)
        return self.views[0].column_caches.get(key)

    def shared_column(self, probe: DistanceProbe) -> Array | None:
        """Return a column, (views, items), that another search has computed, if one has."""
        if self.shared is None or probe.row >= self.count:
            return None  # the rows of removed items mean something in one session only
        return self.shared.get(probe.row)

    def share_column(self, probe: DistanceProbe, column: Array) -> bool:
        """Let other searches read a column; return whether it is theirs, too, and there is room."""
        if self.shared is None or probe.row >= self.count:
            return False
        return self.shared.add(probe.row, column)

    @property
    def all_columns(self) -> Array | None:
        """The columns of all items, (views, items, items), where they were computed in advance."""
        return None if self.shared is None else self.shared.matrix

    def share_all_columns(self, stop: Stop = never) -> bool:
        """Compute the columns of all items for all searches, if there is room for all of them.

        Return whether all are there. What was computed before a stop stays.
        """
        if self.shared is None:
            return False
        every = np.arange(self.count)

        def compute(first: int, out: Array) -> None:
            if stop():
                raise Interrupted
            probes = [DistanceProbe(first + place) for place in range(out.shape[1])]
            self.columns(self.prepare(probes), every, out)

        if not self.shared.fill((len(self.views), self.count), self.dtype, compute):
            return False
        self.shared.average = self.average(every)
        return True

    @staticmethod
    def _unit(view: View, c: Doubles) -> float:
        """Return the mean squared distance between two items as this person sees them."""
        if view.units == "raw" or bool((c == 1.0).all()):
            return view.scale
        if view.fast:
            return 2.0 * float((c**2 * view.variance).sum()) or 1.0
        return metrics.mean_square(view.metric, view.sample * c) or 1.0

    @property
    def _largest(self) -> float:
        """A number that nothing on the way to a column exceeds, in any view."""
        largest = 0.0
        for view, c, unit in zip(self.views, self._persons, self._scales, strict=True):
            away, factor = math.sqrt(view.radius), float(np.abs(c).max())
            largest = max(largest, 2.0 * away, 4.0 * factor * factor * away / unit)
        return largest

    def prepare(self, probes: Sequence[DistanceProbe]) -> PreparedProbes:
        """Make probes ready for `columns`."""
        if not self.fast:
            return PreparedProbes(tuple(probes), (), ())
        ready = self._ready.pick(probes)
        if ready is not None:
            return ready
        packed, constants = [], []
        for v, view in enumerate(self.views):
            width = _padded(view)
            vectors = np.zeros((len(probes), width))
            vectors[:, : view.dimensions], constant = self._linear(v, probes)
            lanes = vectors.reshape(len(probes), width // LANES, LANES).transpose(1, 0, 2)
            packed.append(np.ascontiguousarray(lanes, self.summed_in))
            constants.append(constant.astype(self.summed_in))
        return PreparedProbes(tuple(probes), tuple(packed), tuple(constants))

    def expect(self, rows: Sequence[int]) -> None:
        """Make the probes of some items ready in advance, in the place of those expected before."""
        self._ready = PreparedProbes((), (), ())
        self._ready = self.prepare([DistanceProbe(row) for row in rows])

    def _linear(self, v: int, probes: Sequence[DistanceProbe]) -> tuple[Doubles, Doubles]:
        """Return q, (probes, d), and a, (probes,), with: column(t) = a + (x_t − origin) · q."""
        c, unit = self._persons[v], self._scales[v]
        origin, mean, length, spread = self._middles[v]
        y = (self._lookup.vectors(v, [probe.row for probe in probes]) - origin) * c
        q = -2.0 * c * (y - mean) / unit
        # One product for each: a matrix product would add up in another order.
        a = np.array([float(one @ one - length - spread) / unit for one in y])
        return q, a

    @cached_property
    def _middles(self) -> tuple[tuple[Doubles, Doubles, float, float], ...]:
        """What the probes of each view share: origin, mean, (d,) each, ‖mean‖² and the spread."""
        middles = []
        for view, c in zip(self.views, self._persons, strict=True):
            origin = view.origin.astype(np.float64)
            mean = (view.mean - origin) * c
            spread = float((c**2 * view.variance).sum())
            middles.append((origin, mean, float(mean @ mean), spread))
        return tuple(middles)

    def columns(self, probes: PreparedProbes, rows: Rows, out: Array) -> None:
        """Write the columns at some items; out: (views, probes, rows) of this space's dtype."""
        if self.fast:
            from seeker.kernels.columns import columns

            for v, view in enumerate(self.views):
                columns(
                    *view.for_kernels,
                    view.stored_rows(rows),
                    self._origins[v],
                    probes.packed[v],
                    probes.constants[v],
                    out[v],
                )
            return
        average = self.average(rows)
        for v, (view, c) in enumerate(zip(self.views, self._persons, strict=True)):
            vectors = view.rows(rows) * c
            for j, probe in enumerate(probes.probes):
                query = self._lookup.vectors(v, [probe.row])[0] * c
                distance = metrics.squared(view.metric, query, vectors)
                column = distance / self._scales[v] - average[v]
                if out.dtype == np.float32:  # a function as a metric may return anything
                    column = column.clip(-_MAX_FLOAT32_COLUMN, _MAX_FLOAT32_COLUMN)
                out[v, j] = column

    @cached_property
    def _origins(self) -> tuple[Array, ...]:
        """Return the views' origins, padded to whole lanes; compact vectors start at theirs."""
        padded = []
        for view in self.views:
            origin = np.zeros(_padded(view), self.summed_in)
            if view.centre is None:
                origin[: view.dimensions] = view.origin
            padded.append(origin)
        return tuple(padded)

    def average(self, rows: Rows) -> Doubles:
        """Return D̄: the mean distance of some items to the catalog, (views, rows)."""
        if self.shared is not None and self.shared.average is not None:
            return self.shared.average[:, rows]
        if not self.fast:
            return self._measured_average[:, rows] if self._all_items else self._measured(rows)
        from seeker.kernels.columns import spread

        out = np.empty((len(self.views), len(rows)))
        for v, (view, c) in enumerate(zip(self.views, self._persons, strict=True)):
            if view.centre is None:
                spread(view.for_kernels[0], view.stored_rows(rows), view.mean, c, out[v])
            else:
                spread(view.rows(rows), np.arange(len(rows)), view.mean, c, out[v])
            out[v] += float((c**2 * view.variance).sum())
            out[v] /= self._scales[v]
        return out

    @cached_property
    def _measured_average(self) -> Doubles:
        """Return D̄ of all items where no formula gives it, (views, items): over an even sample."""
        return self._measured(slice(None))

    def _measured(self, rows: Rows | slice) -> Doubles:
        """Measure D̄ of some items, (views, rows)."""
        averages = []
        for view, c, unit in zip(self.views, self._persons, self._scales, strict=True):
            vectors, sample = view.rows(rows) * c, view.sample * c
            total = np.zeros(len(vectors))
            for query in sample:
                total += metrics.squared(view.metric, query, vectors)
            averages.append(total / (len(sample) * unit))
        return np.stack(averages)

    def between(self, one: Rows, other: Rows, weights: Doubles | None = None) -> Doubles:
        """Return distances between items, (one, other) float64; weights: of the views, (views,).

        Without weights the views weigh alike.
        """
        average = self.average(other)
        if weights is not None:
            out = np.zeros((len(one), len(other)))
            for v, relative in enumerate(self._relative(one, other)):
                out += weights[v] * (relative + average[v])
            return out
        if self.all_columns is not None:
            from seeker.kernels.columns import mean_distances

            mean: Doubles = np.empty((len(one), len(other)))
            mean_distances(self.all_columns, one, other, average, mean)
            return mean
        return np.asarray((self._relative(one, other) + average[:, None, :]).mean(axis=0))

    def _relative(self, one: Rows, other: Rows) -> Array:
        """Return distances of items from others, less D̄ of these, (views, one, other)."""
        if self.all_columns is not None:
            return self.all_columns[:, one[:, None], other]
        relative = np.empty((len(self.views), len(one), len(other)), self.dtype)
        self.columns(self.prepare([DistanceProbe(int(row)) for row in one]), other, relative)
        return relative

    def longest(self, probe: DirectionProbe) -> float:
        """Return a number that no entry of a direction's column exceeds."""
        length = float(np.linalg.norm(self._direction_vector(probe)))
        return length * self.views[probe.view].longest

    def direction(self, probe: DirectionProbe, rows: Rows) -> Doubles:
        """Return r · x_t of some items, (rows,), in float64: it can be large."""
        from seeker.kernels.columns import columns

        view = self.views[probe.view]
        width = _padded(view)
        packed = np.zeros((width // LANES, 1, LANES))
        packed.reshape(-1)[: view.dimensions] = self._direction_vector(probe)
        start = np.zeros(1)
        if view.centre is not None:
            products = packed.reshape(-1)[: view.dimensions] * view.centre.astype(np.float64)
            start[0] = math.fsum(products.tolist())  # no sum of a library's, in an order of its own
        out: Doubles = np.empty((1, len(rows)))
        columns(*view.for_kernels, view.stored_rows(rows), np.zeros(width), packed, start, out)
        return np.asarray(out[0])

    def _direction_vector(self, probe: DirectionProbe) -> Doubles:
        """Return what to multiply the vectors of items with, (d,)."""
        direction = np.asarray(probe.direction)
        if probe.plain:
            return direction
        return direction * self._persons[probe.view] / self._scales[probe.view]

    def along(self, v: int, direction: Doubles, row: int) -> float:
        """Return r · x in the units of view v."""
        vector = self._lookup.vectors(v, [row])[0]
        return float(direction @ (vector * self._persons[v])) / self._scales[v]


def _longer(view: View) -> int:
    """Return how many times the Euclidean distance, squared, a view's own may be."""
    return view.dimensions if view.metric == "manhattan" else 1


def _padded(view: View) -> int:
    """Return the dimensions of a view, filled up to whole lanes."""
    return -(-view.dimensions // LANES) * LANES


def _person(view: View, c: object) -> Doubles:
    """Check a person's vector for a view, (d,); all ones where none is given."""
    if c is None:
        return np.ones(view.dimensions)
    vector = np.asarray(c, dtype=np.float64)
    if vector.shape != (view.dimensions,):
        raise BadInput(
            f"The user vector for view '{view.name}' has shape {vector.shape}.",
            f"It must have shape ({view.dimensions},), one number per dimension of the view.",
        )
    if not within_range(vector) or not vector.any():
        raise BadInput(
            f"The user vector for view '{view.name}' must hold finite numbers, not all zero, "
            "and none beyond 1e100."
        )
    return vector
