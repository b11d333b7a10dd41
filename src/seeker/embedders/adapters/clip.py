"""Models with one space for pictures and text, through open_clip: "clip:ViT-B-32/openai"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seeker.embedders.adapters.loading import library, unit, weights
from seeker.embedders.base import PICTURE, TEXT, Embedder, checked_pictures, checked_texts
from seeker.errors import NotFound
from seeker.types import Floats

EXTRA = "clip"


class ClipEmbedder(Embedder):
    """A CLIP model by its architecture and, after a slash, its set of weights."""

    metric = "cosine"
    reads = frozenset({PICTURE, TEXT})

    def __init__(self, model: str) -> None:
        """Load the library, the model, its picture preparation and its tokenizer."""
        package = library("open_clip", EXTRA)
        self._torch = library("torch", EXTRA)
        architecture, _, tag = model.partition("/")
        tags = package.list_pretrained_tags_by_model(architecture)
        if not tags or (tag and tag not in tags):
            raise NotFound(
                f"open_clip has no weights '{model}'.",
                f"For '{architecture}' it has {tags}." if tags else "See open_clip.list_models().",
            )
        tag = tag or tags[0]
        self.name = f"{EXTRA}:{architecture}/{tag}"
        self.version = self.name
        self._model, _, self._prepare = weights(
            self.name, lambda: package.create_model_and_transforms(architecture, pretrained=tag)
        )
        self._model.eval()
        self._tokenize = weights(self.name, lambda: package.get_tokenizer(architecture))
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
