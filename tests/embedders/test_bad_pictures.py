"""Pictures and texts made to do harm: each gives a vector or a reason."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from seeker.embedders import named
from seeker.embedders.adapters import adapt
from seeker.embedders.pictures import open_picture
from seeker.errors import BadInput, SeekerError


def _saved(picture: Image.Image, kind: str, **settings: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **settings)
    return file.getvalue()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(size: tuple[int, int], depth: int, colours: int, zeros: int, extra: bytes = b"") -> bytes:
    """Return a PNG picture of zeros, as many as are asked for and not as many as it needs."""
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", *size, depth, colours, 0, 0, 0))
    body = _chunk(b"IDAT", zlib.compress(bytes(zeros), 9))
    return b"\x89PNG\r\n\x1a\n" + head + extra + body + _chunk(b"IEND", b"")


def _svg(inside: str) -> bytes:
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{inside}</svg>'.encode()


def test_more_data_than_pixels_is_left_unread() -> None:
    assert open_picture(_png((10, 10), 8, 2, 30_000_000)).size == (10, 10)


@pytest.mark.parametrize("kind", [b"zTXt", b"iTXt", b"iCCP"])
def test_notes_in_a_picture_that_unfold_without_end_are_refused(kind: bytes) -> None:
    note = zlib.compress(bytes(30_000_000), 9)
    before = b"a\0\x01\0\0\0" if kind == b"iTXt" else b"a\0\0"
    with pytest.raises(BadInput, match="too large"):
        open_picture(_png((10, 10), 8, 2, 310, _chunk(kind, before + note)))


@pytest.mark.parametrize(
    "contents",
    [
        _saved(Image.new("P", (5, 5)), "PNG", transparency=0),
        _saved(Image.new("LA", (5, 5)), "PNG"),
        _saved(Image.new("CMYK", (5, 5)), "JPEG", icc_profile=b"no profile"),
        _saved(Image.new("RGB", (40_000, 1)), "PNG"),
        _saved(Image.new("L", (1, 40_000)), "PNG"),
        _png((100, 100), 16, 6, 100 * 801),
    ],
)
def test_odd_pictures_are_read(contents: bytes) -> None:
    picture = open_picture(contents)
    assert picture.mode == "RGB"
    assert max(picture.size) <= 512
    assert np.isfinite(named("colour").embed([picture])).all()


def test_the_whole_range_of_numbers_is_seen() -> None:
    deep = np.array([[3e38, -3e38], [0.0, 3e38]], np.float32)
    seen = np.asarray(open_picture(_saved(Image.fromarray(deep), "TIFF")))[..., 0]
    assert seen.tolist() == [[255, 0], [127, 255]]


@pytest.mark.parametrize("kind", ["image/svg+xml", "image/SVG+xml", "image/Svg+XML"])
def test_an_svg_in_an_svg_is_refused_however_it_is_written(kind: str) -> None:
    inner = base64.b64encode(_svg('<rect width="20" height="20"/>')).decode()
    with pytest.raises(BadInput, match="holds another SVG"):
        open_picture(_svg(f'<image href="data:{kind};base64,{inner}" width="9" height="9"/>'))


@pytest.mark.parametrize(
    "inside",
    [
        '<g id="a0"><rect width="1" height="1"/></g>'
        + "".join(f'<g id="a{n}">' + f'<use href="#a{n - 1}"/>' * 10 + "</g>" for n in range(1, 9)),
        '<image width="20" height="20" href="data:image/png;base64,'
        + base64.b64encode(_png((30_000, 30_000), 8, 6, 1000)).decode()
        + '"/>',
    ],
    ids=["uses of uses", "a picture that claims too much"],
)
def test_an_svg_that_unfolds_without_end_is_refused(inside: str) -> None:
    with pytest.raises(BadInput):
        open_picture(_svg(inside))


@pytest.mark.parametrize("given", [None, 0, 5.0, bytearray(b"x"), io.BytesIO(b"x"), ["a.png"]])
def test_what_is_no_picture_is_refused(given: Any) -> None:
    with pytest.raises(BadInput, match="is not a picture"):
        open_picture(given)


@pytest.mark.parametrize("name", ["text", "colour"])
@pytest.mark.parametrize("batch", [5, None, [None], ["\0", 7], object()])
def test_batches_that_are_none_are_refused(name: str, batch: Any) -> None:
    with pytest.raises(BadInput, match=f"The embedder '{name}' was given"):
        named(name).embed(batch)


def test_texts_of_odd_letters_are_read() -> None:
    texts = ["\ud800", "a\ud800b", "\0", "", "\u200b" * 1000, "a\u0301" * 100_000, "x" * 1_000_000]
    vectors = named("text").embed(texts)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3)
    assert np.array_equal(vectors[1:2], named("text").embed(["a?b"]))


class _Brought:
    """An embedder that somebody brings."""

    version = "1"
    dimensions: Any = 3

    def __init__(self, answer: Any = None, dimensions: Any = 3) -> None:
        self.dimensions = dimensions
        self._answer = answer

    def embed(self, batch: Any) -> Any:
        return self._answer


@pytest.mark.parametrize(
    "use",
    [
        lambda: adapt(_Brought(dimensions="many")),
        lambda: adapt(_Brought(dimensions=0)),
        lambda: adapt(_Brought(dimensions=True)),
        lambda: adapt(_Brought([[1, 2, 3], [4]])).embed([1, 2]),
        lambda: adapt(_Brought("vectors")).embed([1]),
        lambda: adapt(_Brought(None)).embed([1]),
        lambda: adapt(_Brought([[1, 2, float("nan")]])).embed([1]),
    ],
)
def test_what_others_bring_is_checked(use: Callable[[], object]) -> None:
    with pytest.raises(SeekerError, match="_Brought"):
        use()
