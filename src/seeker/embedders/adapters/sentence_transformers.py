"""Text models of the sentence-transformers library: "sentence-transformers:all-mpnet-base-v2"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seeker.embedders.adapters.loading import library, unit, weights
from seeker.embedders.base import TEXT, Embedder, checked_texts
from seeker.types import Floats

EXTRA = "sentence-transformers"


class SentenceTransformersEmbedder(Embedder):
    """A text model of sentence-transformers, by its name on the hub or its folder."""

    metric = "cosine"
    reads = frozenset({TEXT})

    def __init__(self, model: str) -> None:
        """Load the library and the model."""
        self.name = f"{EXTRA}:{model}"
        self.version = self.name
        package = library("sentence_transformers", EXTRA)
        self._model = weights(self.name, lambda: package.SentenceTransformer(model))
        self.dimensions = int(self._model.get_sentence_embedding_dimension())

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the vectors of texts, (n, dimensions) float32, of length one."""
        texts = list(checked_texts(batch, self.name))
        if not texts:
            return unit([]).reshape(0, self.dimensions)
        return unit(self._model.encode(texts, show_progress_bar=False, convert_to_numpy=True))
