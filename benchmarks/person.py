"""Someone who searches, so that what is measured is a search as it goes."""

from __future__ import annotations

import numpy as np

from seeker import Catalog, Session


class Person:
    """Has a target in mind: likes the nearest of a page, dislikes the farthest of the next."""

    def __init__(self, catalog: Catalog, target: int) -> None:
        self._catalog = catalog
        self._wishes = [
            (view, view.rows(np.array([target])), view.scale) for view in catalog.views.values()
        ]
        self._turn = 0

    def click(self, session: Session, shown: list[str]) -> tuple[str, bool]:
        """Judge one item of a page; return which, and whether it was liked."""
        rows = np.array([self._catalog.row(item) for item in shown])
        away = np.zeros(len(rows))
        for view, wish, scale in self._wishes:
            away += ((view.rows(rows) - wish) ** 2).sum(axis=1) / scale
        liked = self._turn % 2 == 0
        self._turn += 1
        item = shown[int(np.argmin(away) if liked else np.argmax(away))]
        session.click(item, "like" if liked else "dislike", shown=shown)
        return item, liked
