"""Someone who searches, so that what is measured is a search as it goes."""

from __future__ import annotations

from typing import Literal

import numpy as np

from seeker import Catalog


class SimulatedPerson:
    """Has a target in mind: likes the nearest of a page, dislikes the farthest of the next."""

    def __init__(self, catalog: Catalog, target: int) -> None:
        self._catalog = catalog
        self._targets = [
            (view, view.rows(np.array([target])), view.scale) for view in catalog.views.values()
        ]
        self._turn = 0

    def judge(self, page: list[str]) -> tuple[str, Literal["like", "dislike"]]:
        """Judge one item of a page; return which, and how."""
        rows = np.array([self._catalog.row(item) for item in page])
        away = np.zeros(len(rows))
        for view, vector, scale in self._targets:
            away += ((view.rows(rows) - vector) ** 2).sum(axis=1) / scale
        likes = self._turn % 2 == 0
        self._turn += 1
        if likes:
            return page[int(np.argmin(away))], "like"
        return page[int(np.argmax(away))], "dislike"
