"""A sample search in words, for a terminal: someone looks for an emoji by clicking alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from seeker.catalog import Catalog

_STEPS = 12


def sample_search(catalog: Catalog, target: str = "1F98A", seed: int = 1) -> Iterator[str]:
    """Yield the lines of a search for a target by a person who likes what is nearest to it."""
    wanted = catalog.item(target)
    yield f"Looking for {wanted.attributes['character']} ({wanted.title}) by clicks alone:"
    session = catalog.session(seed=seed)
    for step in range(1, _STEPS + 1):
        page = session.page()
        row = " ".join(str(item.attributes["character"]) for item in page.items)
        if target in page.ids:
            yield f"  page {step}: {row}  found it"
            return
        liked = nearest(catalog, page.ids, target)
        yield f"  page {step}: {row}  liked {catalog.item(liked).attributes['character']}"
        session.like(liked)
    yield "  not found yet; a person would go on."


def nearest(catalog: Catalog, ids: list[str], target: str) -> str:
    """Return the item nearest to the target, all views weighing alike."""
    rows, row = np.array([catalog.row(item) for item in ids]), np.array([catalog.row(target)])
    away = np.zeros(len(ids))
    for view in catalog.views.values():
        away += ((view.rows(rows) - view.rows(row)) ** 2).sum(axis=1) / view.scale
    return ids[int(np.argmin(away))]
