"""Embedders of others behind Seeker's interface: models of libraries, and classes of users.

Libraries are imported only when they are asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from seeker.embedders.base import (
    PICTURE,
    TEXT,
    Embedder,
    checked_pictures,
    checked_texts,
    import_library,
)
from seeker.errors import BadInput, NotFound, SeekerError
from seeker.types import Floats

Model = TypeVar("Model")

CLIP_EXTRA = "clip"
FASTEMBED_EXTRA = "fastembed"
SENTENCE_TRANSFORMERS_EXTRA = "sentence-transformers"

_PARTS = ("version", "dimensions", "embed")
"""What a class of users must have."""


def load_weights(name: str, load: Callable[[], Model]) -> Model:
    """Return what load() returns; libraries fail in many ways when weights cannot be had."""
    try:
        return load()
    except Exception as problem:
        reason = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise SeekerError(
            f"The model of the embedder '{name}' cannot be loaded ({reason}).",
            "Check its name and the connection to the model hub.",
        ) from None


def unit(vectors: object) -> Floats:
    """Return vectors scaled to length one, (n, d) float32."""
    exact = np.asarray(vectors, np.float64)
    length = np.linalg.norm(exact, axis=-1, keepdims=True)
    return np.asarray(exact / np.where(length > 0.0, length, 1.0), np.float32)


class ClipEmbedder(Embedder):
    """A CLIP model by its architecture and, after a slash, its set of weights."""

    metric = "cosine"
    reads = frozenset({PICTURE, TEXT})

    def __init__(self, model: str) -> None:
        """Load the library, the model, its picture preparation and its tokenizer."""
        package = import_library("open_clip", CLIP_EXTRA)
        self._torch = import_library("torch", CLIP_EXTRA)
        architecture, _, tag = model.partition("/")
        tags = package.list_pretrained_tags_by_model(architecture)
        if not tags or (tag and tag not in tags):
            raise NotFound(
                f"open_clip has no weights '{model}'.",
                f"For '{architecture}' it has {tags}." if tags else "See open_clip.list_models().",
            )
        tag = tag or tags[0]
        self.name = f"{CLIP_EXTRA}:{architecture}/{tag}"
        self.version = self.name
        self._model, _, self._prepare = load_weights(
            self.name, lambda: package.create_model_and_transforms(architecture, pretrained=tag)
        )
        self._model.eval()
        self._tokenize = load_weights(self.name, lambda: package.get_tokenizer(architecture))
        self.dimensions = int(package.get_model_config(architecture)["embed_dim"])

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the vectors of RGB pictures, (n, dimensions) float32, of length one."""
        pictures = checked_pictures(batch, self.name)
        if not pictures:
            return unit([]).reshape(0, self.dimensions)
        with self._torch.inference_mode():
            inputs = self._torch.stack([self._prepare(picture) for picture in pictures])
            return unit(self._model.encode_image(inputs).float().cpu().numpy())

    def embed_text(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, (n, dimensions) float32, of length one."""
        words = list(checked_texts(texts, self.name))
        if not words:
            return unit([]).reshape(0, self.dimensions)
        with self._torch.inference_mode():
            return unit(self._model.encode_text(self._tokenize(words)).float().cpu().numpy())


class FastembedEmbedder(Embedder):
    """A text or picture model that fastembed knows."""

    metric = "cosine"

    def __init__(self, model: str) -> None:
        """Load the library, find which kind the model is, and load it."""
        self.name = f"{FASTEMBED_EXTRA}:{model}"
        self.version = self.name
        package = import_library("fastembed", FASTEMBED_EXTRA)
        kind, reads, entry = self._find_model(package, model)
        self.reads = frozenset({reads})
        self.dimensions = int(entry["dim"])
        self._model = load_weights(self.name, lambda: kind(entry["model"]))

    @staticmethod
    def _find_model(package: Any, model: str) -> tuple[Any, str, dict[str, Any]]:
        """Return the class that runs a model, what it reads, and its description."""
        for kind, reads in ((package.TextEmbedding, TEXT), (package.ImageEmbedding, PICTURE)):
            for entry in kind.list_supported_models():
                if entry["model"].lower() == model.lower():
                    return kind, reads, entry
        raise NotFound(
            f"fastembed has no model '{model}'.",
            "See fastembed.TextEmbedding.list_supported_models().",
        )

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the vectors of texts or of RGB pictures, (n, dimensions) float32."""
        check = checked_texts if TEXT in self.reads else checked_pictures
        things = list(check(batch, self.name))
        return unit(list(self._model.embed(things))).reshape(len(things), self.dimensions)


class SentenceTransformersEmbedder(Embedder):
    """A text model of sentence-transformers, by its name on the hub or its folder."""

    metric = "cosine"
    reads = frozenset({TEXT})

    def __init__(self, model: str) -> None:
        """Load the library and the model."""
        self.name = f"{SENTENCE_TRANSFORMERS_EXTRA}:{model}"
        self.version = self.name
        package = import_library("sentence_transformers", SENTENCE_TRANSFORMERS_EXTRA)
        self._model = load_weights(self.name, lambda: package.SentenceTransformer(model))
        self.dimensions = int(self._model.get_sentence_embedding_dimension())

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the vectors of texts, (n, dimensions) float32, of length one."""
        texts = list(checked_texts(batch, self.name))
        if not texts:
            return unit([]).reshape(0, self.dimensions)
        return unit(self._model.encode(texts, show_progress_bar=False, convert_to_numpy=True))


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
