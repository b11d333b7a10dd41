"""The `colour` embedder: known colours, known places."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from PIL.Image import Resampling

from seeker.embedders import named
from seeker.embedders.colour import oklab
from seeker.types import Floats


def fields(picture: Image.Image) -> Floats:
    """Return the layout of one picture, (6, 6, 3)."""
    return named("colour").embed([picture]).reshape(6, 6, 3)


@pytest.mark.parametrize(
    ("colour", "expected"),
    [
        # As CSS Color 4 and its reference implementations give them.
        ((255, 255, 255), (1.0, 0.0, 0.0)),
        ((0, 0, 0), (0.0, 0.0, 0.0)),
        ((255, 0, 0), (0.62796, 0.22486, 0.12585)),
        ((0, 255, 0), (0.86644, -0.23389, 0.17950)),
        ((0, 0, 255), (0.45201, -0.03246, -0.31153)),
        ((128, 128, 128), (0.59987, 0.0, 0.0)),
    ],
)
def test_colours_are_where_oklab_has_them(
    colour: tuple[int, int, int], expected: tuple[float, float, float]
) -> None:
    np.testing.assert_allclose(oklab(np.array(colour, np.uint8)), expected, atol=2e-5)
    lightness, green_red, blue_yellow = expected
    given = fields(Image.new("RGB", (50, 30), colour))
    wanted = np.broadcast_to((lightness, 2 * green_red, 2 * blue_yellow), (6, 6, 3))
    np.testing.assert_allclose(given, wanted, atol=5e-5)


def test_places_are_kept() -> None:
    picture = Image.new("RGB", (120, 60), "white")
    picture.paste("black", (0, 0, 60, 30))
    lightness = fields(picture)[..., 0]
    np.testing.assert_allclose(lightness[:3, :3], 0.0, atol=1e-5)
    np.testing.assert_allclose(lightness[3:], 1.0, atol=1e-5)
    np.testing.assert_allclose(lightness[:, 3:], 1.0, atol=1e-5)


def test_the_size_of_a_picture_matters_little_and_its_layout_much() -> None:
    coarse = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    large = Image.fromarray(coarse).resize((500, 400), Resampling.BICUBIC)
    turned = large.transpose(Image.Transpose.ROTATE_180)
    small = large.resize((83, 61), Resampling.BICUBIC)
    one, other, far = named("colour").embed([large, small, turned])
    assert np.linalg.norm(one - other) < 0.1 * np.linalg.norm(one - far)


def test_a_tiny_picture_has_a_layout_too() -> None:
    assert np.isfinite(fields(Image.new("RGB", (1, 1), "red"))).all()
