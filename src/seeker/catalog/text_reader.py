"""How a catalog reads text: through the embedder that made one of its views."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from seeker.catalog.manifest import EmbedderEntry, Manifest
from seeker.errors import BadInput, Conflict
from seeker.space import View
from seeker.types import Doubles

if TYPE_CHECKING:
    from seeker.embedders.base import Embedder


class TextReader:
    """Places words in a view; the embedder is loaded when it is first needed."""

    def __init__(self, load: Callable[[], Embedder]) -> None:
        self._load = load
        self._embedder: Embedder | None = None

    def read(self, text: str, view: View) -> Doubles:
        """Return the vector of a text in a view, (d,)."""
        if self._embedder is None:
            self._embedder = self._load()
        vector: Doubles = np.asarray(self._embedder.embed_text([text]), np.float64)
        if vector.shape != (1, view.dimensions) or not np.isfinite(vector).all():
            raise BadInput(
                f"The embedder '{self._embedder.name}' gave no vector that fits view '{view.name}'."
            )
        length = float(np.sqrt((vector**2).sum()))
        if view.metric == "cosine" and length > 0.0:
            vector /= length
        return vector.reshape(-1)


def readers_from_embedders(
    embedders: Mapping[str, Embedder], views: Mapping[str, View]
) -> dict[str, TextReader]:
    """Return the readers among embedders that came with arrays."""
    for name in embedders:
        if name not in views:
            raise BadInput(
                f"There is an embedder for view '{name}', which the catalog has not.",
                f"It has {list(views)}.",
            )
    if not embedders:
        return {}
    from seeker.embedders.custom import adapt

    adapted = {name: adapt(embedders[name]) for name in views if name in embedders}
    return {
        name: TextReader(partial(_self, embedder))
        for name, embedder in adapted.items()
        if "text" in embedder.reads
    }


def readers_from_manifest(manifest: Manifest, trust: bool) -> dict[str, TextReader]:
    """Return the readers that a catalog folder names; trust: also such as are not Seeker's own."""
    return {
        name: TextReader(partial(_load_embedder, name, entry.embedder, trust))
        for name, entry in manifest.views.items()
        if entry.embedder is not None and "text" in entry.embedder.reads
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
