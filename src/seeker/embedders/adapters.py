"""Embedders around models of other libraries, which are imported only when they are asked for."""

from __future__ import annotations

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
from seeker.errors import NotFound, SeekerError
from seeker.types import Floats

Model = TypeVar("Model")

CLIP_EXTRA = "clip"
FASTEMBED_EXTRA = "fastembed"
SENTENCE_TRANSFORMERS_EXTRA = "sentence-transformers"


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
