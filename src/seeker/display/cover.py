"""A page that covers: a few items that leave no part of the catalog far away."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from seeker.display import keys
from seeker.display.base import Ranking, Scene
from seeker.types import Doubles, Rows

_SAMPLE = 256


class Covered:
    """A ranking whose first page, while nothing is known, covers the catalog."""

    def __init__(self, scene: Scene, rest: Ranking) -> None:
        self.scene = scene
        self.rest = rest
        self.total = rest.total

    @cached_property
    def first(self) -> Rows:
        """The items that stand first."""
        sample = _sample(self.scene)
        distances = self.scene.scores.space.between(sample, sample)
        return sample[cover(distances, self.scene.page_size)]

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,)."""
        return moved_to_front(self.rest, self.first, count)


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


def moved_to_front(ranking: Ranking, first: Rows, count: int) -> Rows:
    """Return the head of a ranking in which some items were moved to the front, (count,)."""
    if count <= len(first):
        return first[:count]
    head = ranking.head(min(count, ranking.total))
    rest = head[~np.isin(head, first)]
    return np.concatenate([first, rest])[:count]
