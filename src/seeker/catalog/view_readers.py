"""How a catalog reads words and pictures: through the embedders that made its views."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.catalog.manifest import EmbedderEntry, Manifest
from seeker.errors import BadInput, Conflict
from seeker.space import View
from seeker.types import Array, Doubles

if TYPE_CHECKING:
    from PIL.Image import Image

    from seeker.embedders.base import Embedder

MAX_EXAMPLE_PIXELS = 16_000_000
"""How many pixels a picture of one's own may have: less than in a build, for anybody may send one.

About 200 MB while it is worked on; a JPEG may have four times as many, as it is reduced before.
"""

MEASURED_TEXT_READERS = ("text", "multilingual")
"""Embedders whose cosines between words are known: what they are for words that mean the same."""

_MAX_MEANINGS = 1_024
"""So many words of values are kept with what they mean."""

THUMBNAIL_PIXELS = 160
"""How wide and high the thumbnail of a picture of one's own is at most."""


class ViewReader:
    """Places words or pictures in a view; the embedder is loaded when it is first needed.

    name: the embedder's. reads: "text", "picture" or both. entry: what a catalog's manifest says of
    it, where one does.
    """

    def __init__(
        self,
        name: str,
        reads: Iterable[str],
        load: Callable[[], Embedder],
        entry: EmbedderEntry | None = None,
    ) -> None:
        self.name = name
        self.entry = entry
        self.reads = frozenset(reads)
        self._load = load
        self._embedder: Embedder | None = None
        self._meanings: dict[str, Doubles] = {}

    @property
    def embedder(self) -> Embedder:
        """The embedder that made the view."""
        if self._embedder is None:
            self._embedder = self._load()
        return self._embedder

    def read_text(self, text: str, view: View) -> Doubles:
        """Return the vector of a text in a view, (d,)."""
        return self._placed(self.embedder.embed_text([text]), view)

    def compare_texts(self, texts: Sequence[str], others: Sequence[str]) -> Doubles:
        """Return the cosines between texts and others, (texts, others); the others' are kept."""
        meanings = self._meanings if len(self._meanings) < _MAX_MEANINGS else {}
        known = [
            meanings[text] if text in meanings else meanings.setdefault(text, self._direction(text))
            for text in others
        ]
        self._meanings = meanings
        return np.array([self._direction(text) for text in texts]) @ np.array(known).T

    def _direction(self, text: str) -> Doubles:
        vector: Doubles = np.asarray(self.embedder.embed_text([text])[0], np.float64)
        return vector / max(float(np.sqrt((vector**2).sum())), 1e-12)

    def read_picture(self, picture: Image, view: View) -> Doubles:
        """Return the vector of a picture in a view, (d,)."""
        return self._placed(self.embedder.embed([picture]), view)

    def _placed(self, vectors: Array, view: View) -> Doubles:
        vector: Doubles = np.asarray(vectors, np.float64)
        if vector.shape != (1, view.dimensions) or not np.isfinite(vector).all():
            raise BadInput(
                f"The embedder '{self.embedder.name}' gave no vector that fits view '{view.name}'."
            )
        length = float(np.sqrt((vector**2).sum()))
        if view.metric == "cosine" and length > 0.0:
            vector /= length
        return vector.reshape(-1)


def open_example(picture: Any) -> tuple[Image, bytes]:
    """Return a picture of one's own as RGB, and a thumbnail of it.

    picture: a path, the contents of a file, a Pillow picture, or pixels, (h, w, 3) uint8.
    """
    from PIL.Image import Image

    from seeker.embedders.pictures import (
        open_picture,
        picture_from_pixels,
        plain_picture,
        thumbnail,
    )

    if isinstance(picture, np.ndarray):
        picture = picture_from_pixels(picture)
    if isinstance(picture, Image):
        opened = plain_picture(picture)
    else:
        opened = open_picture(picture, MAX_EXAMPLE_PIXELS)
    return opened, thumbnail(opened, THUMBNAIL_PIXELS)


def readers_from_embedders(
    embedders: Mapping[str, Embedder], views: Mapping[str, View]
) -> dict[str, ViewReader]:
    """Return the readers among embedders that came with arrays."""
    for name in embedders:
        if name not in views:
            raise BadInput(
                f"There is an embedder for view '{name}', which the catalog has not.",
                f"It has {list(views)}.",
            )
    if not embedders:
        return {}
    from seeker.embedders.adapters import adapt

    adapted = {name: adapt(embedders[name]) for name in views if name in embedders}
    return {
        name: ViewReader(embedder.name, embedder.reads, partial(_self, embedder))
        for name, embedder in adapted.items()
    }


def readers_from_manifest(manifest: Manifest, trust: bool) -> dict[str, ViewReader]:
    """Return the readers that a catalog folder names; trust: also such as are not Seeker's own."""
    return {
        name: ViewReader(made.name, made.reads, partial(_load_embedder, name, made, trust), made)
        for name, entry in manifest.views.items()
        if (made := entry.embedder) is not None
    }


def _self(embedder: Embedder) -> Embedder:
    return embedder


def _load_embedder(view: str, entry: EmbedderEntry, trust: bool) -> Embedder:
    from seeker import embedders

    if not trust and entry.name not in embedders.BUILTIN:
        raise Conflict(
            f"View '{view}' was made by {entry.name!r}, which is not one of Seeker's own "
            "embedders.",
            "If you trust the catalog, open it with Catalog.open(path, trust=True).",
        )
    embedder = embedders.named(entry.name)
    if embedder.version != entry.version:
        raise Conflict(
            f"View '{view}' was made by version {entry.version} of the embedder "
            f"'{entry.name}', but version {embedder.version} is installed.",
            "Their vectors cannot be compared; build the catalog again.",
        )
    return embedder
