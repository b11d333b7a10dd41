"""A page that covers: a few items that leave no part of the catalog far away."""

from __future__ import annotations

from typing import Literal

import numpy as np

from seeker.display import keys
from seeker.display.front import Fronted
from seeker.display.ranking import Ranking
from seeker.display.scene import Scene
from seeker.errors import BadInput, short
from seeker.types import Doubles, Rows

First = Literal["cover", "ranked"]
"""What the first page is while nothing is known: one that covers the catalog, or as any other."""

_SAMPLE = 256


def check_first(first: object) -> None:
    """Refuse a kind of first page that there is not."""
    if first not in ("cover", "ranked"):
        raise BadInput(f"first is {short(first)}, but it must be 'cover' or 'ranked'.")


def covered(scene: Scene, ranking: Ranking, first: First) -> Ranking:
    """Return a ranking with a page in front that covers, if that is asked for and helps."""
    if first == "ranked" or not scene.blank:
        return ranking

    def page() -> Rows:
        sample = _sample(scene)
        return sample[cover(scene.scores.space.between(sample, sample), scene.page_size)]

    return Fronted(ranking, page)


def _sample(scene: Scene) -> Rows:
    """Return a few hundred items picked by the session's seed, by row."""
    rows = scene.candidates()
    if len(rows) <= _SAMPLE:
        return rows
    picks = keys.uniforms(keys.key(scene.seed, 0, keys.COVER), _SAMPLE)
    return rows[np.unique((picks * len(rows)).astype(np.int64))]


def cover(distances: Doubles, count: int) -> Rows:
    """Choose items one by one so that the mean distance to the nearest chosen one is least.

    distances: (n, n). Returns (count,) places.
    """
    nearest = np.full(len(distances), np.inf)
    free = np.ones(len(distances), bool)
    chosen: list[int] = []
    for _ in range(min(count, len(distances))):
        total = np.minimum(nearest, distances).sum(axis=1) if chosen else distances.sum(axis=1)
        total[~free] = np.inf
        pick = int(np.argmin(total))
        free[pick] = False
        nearest = np.minimum(nearest, distances[pick])
        chosen.append(pick)
    return np.array(chosen, np.int64)
