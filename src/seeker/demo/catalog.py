"""The built-in catalog: built on first use, opened at once afterwards; a sample search in it."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np

from seeker.catalog import Catalog
from seeker.catalog.build.pipeline import ProgressCallback
from seeker.catalog.build.plan import ATTRIBUTES_VIEW
from seeker.demo.emoji import Emoji
from seeker.embedders.attributes import AttributesEmbedder
from seeker.embedders.base import Embedder
from seeker.embedders.colour import ColourEmbedder
from seeker.embedders.image import ImageEmbedder
from seeker.embedders.text import TextEmbedder
from seeker.files import cache_folder

EMBEDDERS: tuple[type[Embedder], ...] = (ImageEmbedder, ColourEmbedder, TextEmbedder)
GROUPS = ("category", "subcategory")
"""The attributes that say what an emoji is."""

_MAX_PAGES = 12


def folder() -> Path:
    """Return where the built-in catalog lies; other pictures or embedders make another one."""
    embedders: tuple[type[Embedder], ...] = (*EMBEDDERS, AttributesEmbedder)
    kinds = [Emoji().version(), *(embedder.version for embedder in embedders), *GROUPS]
    return cache_folder() / f"demo-{sha256(' '.join(kinds).encode()).hexdigest()[:12]}"


def demo_catalog(tell: ProgressCallback | None = None, progress: bool = False) -> Catalog:
    """Return the built-in catalog; the first time it is built, which takes a minute or two."""
    place = folder()
    if (place / "catalog.json").exists():
        return Catalog.open(place)
    from seeker.catalog.build.api import build

    if tell is not None:
        tell("The catalog of emoji is built now, once; that takes a minute or two …")
    source = Emoji()
    return build(
        source,
        place,
        views=[*(embedder.name for embedder in EMBEDDERS), ATTRIBUTES_VIEW],
        attributes_view=GROUPS,
        about=source.about(),
        tell=tell,
        progress=progress,
    )


def sample_search(catalog: Catalog, target: str = "1F98A", seed: int = 1) -> Iterator[str]:
    """Yield the lines of a search for a target by a person who likes what is nearest to it."""
    item = catalog.item(target)
    yield f"Looking for {item.attributes['character']} ({item.title}) by clicks alone:"
    session = catalog.session(seed=seed)
    for step in range(1, _MAX_PAGES + 1):
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
