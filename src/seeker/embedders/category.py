"""The `category` embedder: items of one category lie together, all others about equally far apart.

A category's vector is made of the 256 bits of its name's SHA-256, as signs: the same for ever,
whatever other categories there are, and nearly at right angles to the vector of any other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from seeker.embedders.base import ATTRIBUTE, Embedder
from seeker.errors import BadInput
from seeker.types import Doubles, Floats


class CategoryEmbedder(Embedder):
    """Makes a view of an attribute, such as the kind of a garment or the genres of a film.

    Upper and lower case are one, and items that have no such attribute are a category together.
    """

    version = "sha256-signs/1"
    dimensions = 256
    metric = "cosine"
    reads = frozenset({ATTRIBUTE})

    def __init__(self, attribute: str) -> None:
        if not attribute:
            raise BadInput("category: names no attribute.", "Name it, as in 'category:genre'.")
        self.attribute = attribute
        self.name = f"category:{attribute}"

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the vectors of values of the attribute: one each, or a list of several."""
        vectors = [sum(map(_signs, _names(value)), np.zeros(self.dimensions)) for value in batch]
        return np.array(vectors, np.float32).reshape(len(batch), self.dimensions)


def _names(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    names = {str(one).strip().casefold() for one in values if one is not None}
    return sorted(names) or [""]


def _signs(name: str) -> Doubles:
    """Return the vector of a category, (256,): numbers of 1 and −1."""
    digest = np.frombuffer(hashlib.sha256(name.encode()).digest(), np.uint8)
    return np.where(np.unpackbits(digest), 1.0, -1.0)
