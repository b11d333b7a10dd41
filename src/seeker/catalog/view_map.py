"""Learned views: the maps that make them of the others, as files, and what they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from seeker.space import View
from seeker.space.linear_map import LinearMap, MapInput
from seeker.types import Array, Floats

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
