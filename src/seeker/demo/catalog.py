"""Building the built-in catalog on first use, and opening it at once afterwards."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from seeker.catalog import Catalog
from seeker.catalog.building.progress import Tell
from seeker.demo.emoji import Emoji
from seeker.embedders import cache
from seeker.embedders.base import Embedder
from seeker.embedders.colour import ColourEmbedder
from seeker.embedders.image import ImageEmbedder
from seeker.embedders.text import TextEmbedder

EMBEDDERS: tuple[type[Embedder], ...] = (ImageEmbedder, ColourEmbedder, TextEmbedder)


def folder() -> Path:
    """Return where the built-in catalog lies; other pictures or embedders make another one."""
    kinds = [Emoji().origin()["path"], *(embedder.version for embedder in EMBEDDERS)]
    return cache.folder() / f"demo-{sha256(' '.join(kinds).encode()).hexdigest()[:12]}"


def demo_catalog(tell: Tell | None = None, progress: bool = False) -> Catalog:
    """Return the built-in catalog; the first time it is built, which takes a minute or two."""
    place = folder()
    if (place / "catalog.json").exists():
        return Catalog.open(place)
    from seeker.catalog.building.build import build

    if tell is not None:
        tell("The catalog of emoji is built now, once; that takes a minute or two …")
    source = Emoji()
    views = [embedder.name for embedder in EMBEDDERS]
    return build(source, place, views=views, about=source.about(), tell=tell, progress=progress)
