"""EfficientNet-Lite0: its layers, and its weights with the batch normalisation folded in.

The network is that of Tan and Le, "EfficientNet" (2019), in the Lite form, which has neither
squeeze-and-excitation nor swish, so that it runs well on plain processors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from seeker.embedders.onnxfile import Graph
from seeker.types import Array, Floats

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


def onnx(tensors: Mapping[str, Array], side: int) -> bytes:
    """Return the network as an ONNX file: pictures (n, 3, side, side) to features (n, 1280)."""
    graph = Graph()
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
