"""Hand-made ways of seeing pictures, for simulated people: none of them is a view of the system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seeker.types import Array, Doubles

if TYPE_CHECKING:
    from PIL.Image import Image


def colour_layout(picture: Image) -> Doubles:
    """Return the mean colours of 4 × 4 fields of the picture's middle in YCbCr, (48,)."""
    from PIL.Image import Resampling

    wide, high = picture.size
    border = (int(0.08 * wide), int(0.08 * high))
    middle = picture.crop((*border, wide - border[0], high - border[1]))
    small = middle.resize((4, 4), Resampling.BOX).convert("YCbCr")
    return np.asarray(np.asarray(small, np.float64) / 255.0 * [1.0, 1.6, 1.6]).ravel()


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


def handmade(pictures: Sequence[Path]) -> dict[str, Array]:
    """Return all hand-made senses of pictures, each (pictures, dimensions) float32."""
    from seeker.embedders.pictures import open_picture

    seen: dict[str, list[Doubles]] = {name: [] for name in SENSES}
    for path in pictures:
        picture = open_picture(path)
        for name, sense in SENSES.items():
            seen[name].append(sense(picture))
    return {name: np.array(vectors, np.float32) for name, vectors in seen.items()}
