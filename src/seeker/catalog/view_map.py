"""Learned views: the linear maps that make them of others, as files, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from seeker.space import View
from seeker.types import Array, Floats


@dataclass(frozen=True, eq=False)
class MapInput:
    """What a map does with one view: (x − centre) · matrix; centre: (d,), matrix: (d, k)."""

    view: str
    centre: Floats = field(repr=False)
    matrix: Floats = field(repr=False)


@dataclass(frozen=True, eq=False)
class LinearMap:
    """z = Σ_v (x_v − centre_v) · matrix_v: a view, called `name`, that is made of others."""

    name: str
    inputs: tuple[MapInput, ...]

    @property
    def dimensions(self) -> int:
        """How many numbers the map gives an item."""
        return int(self.inputs[0].matrix.shape[1])

    def apply(self, vectors: Mapping[str, Array]) -> Floats:
        """Return the vectors of some items, (n, k) float32; vectors: (n, d) by view, of them.

        Vectors are taken as a catalog stores them: of length one where the metric is the cosine.
        An item's vector depends on that item alone, up to the rounding of sums in float64.
        """
        total = np.zeros((len(vectors[self.inputs[0].view]), self.dimensions))
        for part in self.inputs:
            centred = np.asarray(vectors[part.view], np.float64) - part.centre
            total += centred @ part.matrix.astype(np.float64)
        return total.astype(np.float32)


LEARNED = "learned"


def learned_name(name: str, version: int) -> str:
    """Return what a learned view is called in a version of a catalog: 'learned-3'."""
    return f"{LEARNED if name == LEARNED else f'{LEARNED}-{name}'}-{version}"


def is_learned_name(name: str) -> bool:
    """Return whether a learned view may have this name."""
    return name.startswith(f"{LEARNED}-")


def map_to_array(view_map: LinearMap) -> Floats:
    """Return a map as an array, (Σ d, k + 1): of every number that goes in, its row and centre."""
    parts = [np.column_stack([one.matrix, one.centre]) for one in view_map.inputs]
    return np.ascontiguousarray(np.concatenate(parts), "<f4")


def map_from_array(
    name: str, sources: Sequence[str], dimensions: Sequence[int], array: Array
) -> LinearMap:
    """Return the map of such an array; dimensions: of the sources."""
    ends = np.cumsum(dimensions)[:-1]
    parts = zip(sources, np.split(array.astype(np.float32), ends), strict=True)
    return LinearMap(
        name, tuple(MapInput(view, part[:, -1].copy(), part[:, :-1].copy()) for view, part in parts)
    )


def with_mapped(vectors: Mapping[str, Array], maps: Mapping[str, LinearMap]) -> dict[str, Array]:
    """Return vectors of items by view, (n, d), with those of learned views among them."""
    return {**vectors, **{name: one.apply(vectors) for name, one in maps.items()}}


def map_shares(view_map: LinearMap, views: Mapping[str, View]) -> dict[str, float]:
    """Return by which share each view makes up the distances of a learned one."""
    spread = {
        part.view: float(
            views[part.view].variance @ (part.matrix.astype(np.float64) ** 2).sum(axis=1)
        )
        for part in view_map.inputs
    }
    total = sum(spread.values()) or 1.0
    return {view: one / total for view, one in spread.items() if one > 0.0}


def complete_vectors(
    vectors: Mapping[str, Array], views: Mapping[str, View], maps: Mapping[str, LinearMap]
) -> dict[str, Floats]:
    """Return vectors of one thing in all of some views, (d,) float32 each.

    vectors: those that are known. What is not follows from a map, or else is the average item's,
    and so are the parts that a map is not given.
    """
    complete: dict[str, Floats] = {}
    for name, view in views.items():
        if name in maps:
            parts = {part.view: part.centre for part in maps[name].inputs}
            mapped = map_one(maps[name], {**parts, **vectors})
            assert mapped is not None
            complete[name] = view.within_radius(mapped.astype(np.float64)).astype(np.float32)
        else:
            complete[name] = np.asarray(vectors.get(name, view.mean), np.float32)
    return complete


def map_one(view_map: LinearMap, vectors: Mapping[str, Array]) -> Floats | None:
    """Return the mapped vector of one item, (k,), the same on any processor.

    vectors: (d,) by view; None if one is missing or has another length.
    """
    total = np.zeros(view_map.dimensions)
    for part in view_map.inputs:
        x = vectors.get(part.view)
        if x is None or len(x) != len(part.centre):
            return None
        centred = x.astype(np.float64) - part.centre
        # Row upon row: a matrix product would add up in an order of the processor's own.
        total += np.add.reduce(centred[:, None] * part.matrix, axis=0)
    return total.astype(np.float32)
