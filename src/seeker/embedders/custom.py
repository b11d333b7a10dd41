"""Embedders that users bring: any class with the right parts, by "package.module:Class"."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from seeker.embedders.base import PICTURE, TEXT, Embedder
from seeker.errors import BadInput, NotFound
from seeker.types import Floats

_PARTS = ("version", "dimensions", "embed")


class CustomEmbedder(Embedder):
    """An object of another package behind Seeker's interface, its answers checked.

    It must have `version`, `dimensions` and `embed`; `metric` is "cosine" and `reads` {"picture"}
    unless it says otherwise; one that reads both has `embed_text`, too.
    """

    def __init__(self, path: str, thing: Any = None) -> None:
        """Take a thing, or import the class and make one of it without arguments."""
        self.name = path
        self._thing = _import_class(path)() if thing is None else thing
        missing = [part for part in _PARTS if not hasattr(self._thing, part)]
        if missing:
            raise BadInput(
                f"The embedder '{path}' has no '{missing[0]}'.",
                f"It needs {', '.join(_PARTS)}; see seeker.embedders.Embedder.",
            )
        self.version = str(self._thing.version)
        self.dimensions = _check_dimensions(path, self._thing.dimensions)
        self.metric = getattr(self._thing, "metric", "cosine")
        self.reads = frozenset(getattr(self._thing, "reads", {PICTURE}))
        if self.metric not in ("euclidean", "cosine"):
            raise BadInput(f"The embedder '{path}' suits the metric {self.metric!r}.")
        if not self.reads or not self.reads <= {PICTURE, TEXT}:
            raise BadInput(
                f"The embedder '{path}' reads {sorted(self.reads)}.", "Use 'picture' and 'text'."
            )

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the vectors of a batch, (n, dimensions) float32, once they are found sound."""
        return self._check_vectors(self._thing.embed(batch), len(batch))

    def embed_text(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, (n, dimensions) float32, once they are found sound."""
        if TEXT not in self.reads or not hasattr(self._thing, "embed_text"):
            return super().embed_text(texts)
        return self._check_vectors(self._thing.embed_text(texts), len(texts))

    def _check_vectors(self, answer: object, count: int) -> Floats:
        try:
            vectors = np.asarray(answer, np.float32)
        except (TypeError, ValueError):
            raise BadInput(
                f"The embedder '{self.name}' returned what is not an array of numbers.",
                f"It must return ({count}, {self.dimensions}).",
            ) from None
        if vectors.shape != (count, self.dimensions):
            raise BadInput(
                f"The embedder '{self.name}' returned shape {vectors.shape}.",
                f"It must return ({count}, {self.dimensions}).",
            )
        if not np.isfinite(vectors).all():
            raise BadInput(f"The embedder '{self.name}' returned NaN or infinity.")
        return vectors


def _check_dimensions(path: str, value: object) -> int:
    """Return how many dimensions an embedder says that its vectors have, if it is a number."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise BadInput(
            f"The embedder '{path}' has {repr(value)[:60]} dimensions.",
            "It must be a whole number of at least 1.",
        )
    return int(value)


def adapt(thing: Any) -> Embedder:
    """Return an embedder as it is, and any other object with the right parts behind one."""
    if isinstance(thing, Embedder):
        return thing
    return CustomEmbedder(f"{type(thing).__module__}:{type(thing).__qualname__}", thing)


def _import_class(path: str) -> Any:
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as problem:
        raise NotFound(
            f"The embedder '{path}' cannot be imported ({problem}).",
            "Give 'package.module:Class' of something that Python can import.",
        ) from None
