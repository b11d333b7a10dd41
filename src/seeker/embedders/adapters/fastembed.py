"""Text and picture models of the fastembed library: "fastembed:BAAI/bge-small-en-v1.5"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seeker.embedders.adapters.loading import library, unit, weights
from seeker.embedders.base import PICTURE, TEXT, Embedder, checked_pictures, checked_texts
from seeker.errors import NotFound
from seeker.types import Floats

EXTRA = "fastembed"


class FastembedEmbedder(Embedder):
    """A text or picture model that fastembed knows."""

    metric = "cosine"

    def __init__(self, model: str) -> None:
        """Load the library, find which kind the model is, and load it."""
        self.name = f"{EXTRA}:{model}"
        self.version = self.name
        package = library("fastembed", EXTRA)
        kind, reads, known = self._found(package, model)
        self.reads = frozenset({reads})
        self.dimensions = int(known["dim"])
        self._model = weights(self.name, lambda: kind(known["model"]))

    @staticmethod
    def _found(package: Any, model: str) -> tuple[Any, str, dict[str, Any]]:
        """Return the class that runs a model, what it reads, and its description."""
        for kind, reads in ((package.TextEmbedding, TEXT), (package.ImageEmbedding, PICTURE)):
            for known in kind.list_supported_models():
                if known["model"].lower() == model.lower():
                    return kind, reads, known
        raise NotFound(
            f"fastembed has no model '{model}'.",
            "See fastembed.TextEmbedding.list_supported_models().",
        )

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the vectors of texts or of RGB pictures, (n, dimensions) float32."""
        check = checked_texts if TEXT in self.reads else checked_pictures
        things = list(check(batch, self.name))
        return unit(list(self._model.embed(things))).reshape(len(things), self.dimensions)
