"""Which pictures are read, and how their declared size is learnt before anything is decoded."""

from __future__ import annotations

import importlib
import io
import warnings
from typing import TYPE_CHECKING

from seeker.errors import BadInput

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

NAMES = ("JPEG", "PNG", "WebP", "GIF", "BMP", "TIFF", "SVG", "AVIF")
"""The formats that are read."""

SUFFIXES = frozenset(
    {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".svg", ".avif"}
)
"""How names of picture files end, in lower case. What counts in the end are the first bytes."""

_HEAD = 4096


def of(contents: bytes) -> str:
    """Return a picture's format, one of NAMES, from its first bytes."""
    head = contents[:_HEAD]
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "WebP"
    if head.startswith((b"II*\x00", b"MM\x00*")):
        return "TIFF"
    if head[4:8] == b"ftyp" and b"avi" in head[8:64]:
        return "AVIF"
    if head.startswith(b"BM"):
        return "BMP"
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<") and b"<svg" in head:
        return "SVG"
    if not contents:
        raise BadInput("The file is empty.")
    raise BadInput(
        "The file is not a picture in a format that is read.", f"These are: {', '.join(NAMES)}."
    )


def opened(contents: bytes, kind: str) -> ImageFile:
    """Return a picture of which only the header has been read.

    The reader of the one format is called directly: `Image.open` would try others, too, and would
    warn of large pictures that can still be read at a reduced size.
    """
    # Pillow warns of odd metadata on the standard error; a picture is either read or refused.
    warnings.filterwarnings("ignore", module=r"PIL\.")
    module = importlib.import_module(f"PIL.{_module(kind)}ImagePlugin")
    reader = getattr(module, f"{_module(kind)}ImageFile")
    picture: ImageFile = reader(io.BytesIO(contents), "")
    return picture


def webp_size(contents: bytes) -> tuple[int, int]:
    """Return the declared width and height of a WebP picture, whose reader allocates at once."""
    chunk, body = contents[12:16], contents[20:30]
    if len(body) < 10:
        raise BadInput("The picture is cut off.")
    if chunk == b"VP8X":
        return (
            1 + int.from_bytes(body[4:7], "little"),
            1 + int.from_bytes(body[7:10], "little"),
        )
    if chunk == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return (
        int.from_bytes(body[6:8], "little") & 0x3FFF,
        int.from_bytes(body[8:10], "little") & 0x3FFF,
    )


def _module(kind: str) -> str:
    return {"JPEG": "Jpeg", "PNG": "Png", "GIF": "Gif", "BMP": "Bmp", "TIFF": "Tiff"}.get(
        kind, {"WebP": "WebP", "AVIF": "Avif"}.get(kind, "")
    )
