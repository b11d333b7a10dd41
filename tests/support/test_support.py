"""What tests share is sound itself."""

from __future__ import annotations

import pytest
from PIL import Image

from support.builds import Letters, MeanColour
from support.servers import until


def test_until_gives_up() -> None:
    with pytest.raises(AssertionError, match="not within"):
        until(lambda: False, within=0.02)


def test_the_small_embedders_are_embedders() -> None:
    red = Image.new("RGB", (4, 4), (255, 0, 0))
    assert MeanColour().embed([red]).tolist() == [[1.0, 0.0, 0.0]]
    assert Letters().embed_text(["abba"])[0, :3].tolist() == [2.0, 2.0, 0.0]
