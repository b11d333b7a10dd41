"""The values by which items are ordered: scores or probabilities with keyed noise, or noise alone.

Each is a pure function of the scene and of the item, so any part of a catalog can compute its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seeker.display import keys
from seeker.models.scores import Scores
from seeker.types import Doubles, Rows

if TYPE_CHECKING:
    from seeker.display.scene import Scene


class Noise:
    """width · γ / √n of items: γ ~ Gumbel(0, 1), the same for the same seed, step and item.

    per_click: n = 1 + clicks on the item so far; otherwise n = 1. key: of the stream of γ.
    clicked: the items that have less noise than others, by row.
    """

    def __init__(self, scene: Scene, width: float, per_click: bool) -> None:
        self.width = width
        self.key = keys.key(scene.seed, scene.step, keys.RANKING)
        self._first = scene.first
        clicks = dict(sorted(scene.clicks.items())) if per_click and width > 0.0 else {}
        self.clicked: Rows = np.fromiter(clicks, np.int64, len(clicks))
        self._calmer: Doubles = np.sqrt(1.0 + np.fromiter(clicks.values(), np.float64, len(clicks)))

    def at(self, rows: Rows) -> Doubles:
        """Return the noise of some items, (rows,)."""
        from seeker.kernels.noise import gumbel

        drawn = np.zeros(len(rows))
        if self.width > 0.0:
            gumbel(self.key, rows + self._first, drawn)
            drawn *= self.width
        if len(self.clicked):
            place = np.minimum(self.clicked.searchsorted(rows), len(self.clicked) - 1)
            drawn /= np.where(self.clicked[place] == rows, self._calmer[place], 1.0)
        return drawn


def noisy_scores(scores: Scores, noise: Noise, rows: Rows) -> Doubles:
    """Return score + noise of some items, (rows,)."""
    values = scores.at(rows)
    values += noise.at(rows)
    return values


def noisy_probabilities(
    scores: Scores, noise: Noise, log_total: float | None = None, rows: Rows | None = None
) -> Doubles:
    """Return posterior + noise of all items, or of some rows, (items,) or (rows,).

    log_total: the log of the sum of e**score over the whole catalog, where this is a part of it.
    """
    logs = scores.everywhere() if rows is None else scores.at(rows)
    logs -= np.logaddexp.reduce(logs) if log_total is None else log_total
    return np.exp(logs) + noise.at(np.arange(len(logs)) if rows is None else rows)


def shuffled(scene: Scene, rows: Rows | None = None) -> Doubles:
    """Return the noise by which all items, or some rows, are ordered, (items,) or (rows,)."""
    key = keys.key(scene.seed, scene.step, keys.RANKING)
    places = np.arange(scene.scores.count) if rows is None else rows
    return keys.uniforms_at(key, places + scene.first)
