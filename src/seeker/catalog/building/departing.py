"""Keeps what sessions may still need of items that leave a catalog."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seeker.catalog.building.plan import Making
from seeker.catalog.catalog import Catalog
from seeker.catalog.writer import ItemWriter

_ROWS = 4096


def keep_departed(
    writer: ItemWriter, old: Catalog, makings: Sequence[Making], since: int = 0
) -> int:
    """Write the vectors of items that the old version had and the new one lacks; return how many.

    Only views that are made in the same way in both are kept: vectors of others would mean
    nothing. What had left before stays, unless it was last there before version `since`.
    """
    head = old.head
    if head is None:
        return 0
    same = [
        one.name
        for one in makings
        if one.name in head.views
        and head.views[one.name].dimensions == one.dimensions
        and head.views[one.name].metric == one.metric
        and head.views[one.name].embedder == one.made_by
    ]
    if not same:
        return 0
    kept = set()
    sizes = {name: 4 * head.views[name].dimensions for name in same}
    for id, view, version, vector in old.kept_of_departed():
        fits = isinstance(vector, bytes) and len(vector) == sizes.get(view)
        if version >= since and fits and not writer.has(id):
            writer.depart(id, view, version, vector)
            kept.add(id)
    for start in range(0, len(old), _ROWS):
        for row, id in enumerate(old.ids[start : start + _ROWS], start):
            if writer.has(id):
                continue
            kept.add(id)
            for name in same:
                exact = old.views[name].rows(np.array([row]))[0].astype("<f4")
                writer.depart(id, name, head.version, exact.tobytes())
    return len(kept)
