"""The `colour` embedder: where a picture is light and dark, and in which colours.

The colour space is OKLab (Björn Ottosson, "A perceptual color space for image processing", 2020,
https://bottosson.github.io/posts/oklab/), in which equal steps look about equally large.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.embedders.base import PICTURE, Embedder, checked_pictures
from seeker.embedders.onnx import embed_each
from seeker.types import Array, Doubles, Floats

if TYPE_CHECKING:
    from PIL.Image import Image

GRID = 6
"""The picture is looked at in so many fields across and down."""

_FINE = 10
"""Pixels per field, across and down, whose colours are averaged."""

_HUE = 2.0
"""How much more the two colour axes count than lightness.

OKLab's plain distance takes colour too lightly against judgements of colour differences; a factor
of two brings them together (the ΔEOK2 of the colour libraries Color.js and ColorAide).
"""

_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


class ColourEmbedder(Embedder):
    """The mean colour of 6 × 6 fields, in OKLab: 108 numbers."""

    name = "colour"
    version = f"oklab-{GRID}x{GRID}/1"
    dimensions = 3 * GRID * GRID
    metric = "euclidean"
    reads = frozenset({PICTURE})

    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the layouts of RGB pictures, (n, 108) float32: row by row, L, 2a, 2b per field."""
        return embed_each(layout, checked_pictures(batch, self.name), self.dimensions)


def layout(picture: Image) -> Floats:
    """Return the mean colours of the fields, (108,)."""
    from PIL.Image import Resampling

    side = GRID * _FINE
    small = np.asarray(picture.resize((side, side), Resampling.BOX))
    fields = oklab(small).reshape(GRID, _FINE, GRID, _FINE, 3).mean(axis=(1, 3))
    return np.asarray(fields * (1.0, _HUE, _HUE), np.float32).ravel()


def oklab(pixels: Array) -> Doubles:
    """Return sRGB pixels of 8 bits, (…, 3), in OKLab: lightness 0 … 1, green–red, blue–yellow."""
    cones = _LINEAR[pixels] @ _TO_CONES.T
    return np.asarray(np.cbrt(cones) @ _TO_LAB.T, np.float64)


def _linear() -> Doubles:
    """Return the amount of light for each of the 256 levels of sRGB (IEC 61966-2-1)."""
    level = np.arange(256) / 255.0
    return np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)


_LINEAR = _linear()
