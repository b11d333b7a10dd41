"""Opens pictures that nobody vouches for, and makes thumbnails."""

from __future__ import annotations

import importlib
import io
import os
import stat
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.embedders import svg
from seeker.errors import BadInput, NotFound, SeekerError
from seeker.types import Array

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile


FORMAT_NAMES = ("JPEG", "PNG", "WebP", "GIF", "BMP", "TIFF", "SVG", "AVIF")
"""The formats that are read."""

FORMAT_SUFFIXES = frozenset(
    {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".svg", ".avif"}
)
"""How names of picture files end, in lower case. What counts in the end are the first bytes."""

_FORMAT_BYTES = 4096
"""How much of a file is looked at to tell its format."""

MAX_PIXELS = 50_000_000
"""How many pixels are decoded at most: 7,071 × 7,071, or about 600 MB while it is worked on."""

MAX_SIDE_PIXELS = 512
"""How many pixels wide and high a picture is at most once it is opened."""

MAX_FILE_BYTES = 200_000_000
"""How long a picture file may be."""

_JPEG_FACTOR = 4
"""A JPEG may be so many times larger, for it is reduced while it is decoded."""

_MAX_JPEG_SCANS = 200
"""How many passes a JPEG may make over the picture; usual are 1 to 12, and each takes its time."""

_ORIENTATION = 0x0112


def open_picture(
    source: str | Path | bytes, limit: int = MAX_PIXELS, side: int = MAX_SIDE_PIXELS
) -> Image:
    """Return a picture as RGB, upright, on white, the first frame, at most side × side pixels.

    source: a path, or the contents of a file. limit: a picture with more pixels is refused before
    it is decoded, unless it is a JPEG that can be reduced on the way. An SVG is drawn at 320
    pixels at most.
    """
    if not isinstance(source, bytes | str | os.PathLike):
        raise not_a_picture(source)
    contents = source if isinstance(source, bytes) else read_picture_file(source)
    kind = format_of(contents)
    try:
        picture = (
            svg.draw_svg(contents, side) if kind == "SVG" else _decoded(contents, kind, limit, side)
        )
        plain = plain_picture(picture, side)
    except SeekerError:
        raise
    except MemoryError:
        raise BadInput(f"The {kind} picture needs more memory than there is.") from None
    except Exception as problem:  # decoders raise many kinds of errors for damaged files
        raise BadInput(f"The {kind} picture is damaged ({_reason(problem)}).") from None
    return plain


def plain_picture(picture: Image, side: int = MAX_SIDE_PIXELS) -> Image:
    """Return a decoded picture as RGB, upright, on white, at most side × side pixels."""
    from PIL.Image import Resampling

    plain = _on_white(_upright(picture))
    plain.thumbnail((side, side), Resampling.BICUBIC, reducing_gap=3.0)
    return plain


def thumbnail(image: Image, size: int) -> bytes:
    """Return the picture as WebP, reduced to fit into size × size pixels."""
    from PIL.Image import Resampling

    small = image.convert("RGB")
    small.thumbnail((size, size), Resampling.BICUBIC, reducing_gap=3.0)
    file = io.BytesIO()
    small.save(file, "WEBP", quality=80, method=4)
    return file.getvalue()


def read_picture_file(path: str | os.PathLike[str]) -> bytes:
    """Return the contents of a regular file that is not too long."""
    try:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            raise BadInput("This is not a file.")
        if about.st_size > MAX_FILE_BYTES:
            raise BadInput(
                f"The file has {about.st_size:,} bytes, more than the {MAX_FILE_BYTES:,} that are "
                "read."
            )
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise NotFound("There is no such file.") from None
    except (OSError, ValueError) as problem:
        if isinstance(problem, BadInput):
            raise
        raise BadInput(f"The file cannot be read ({_reason(problem)}).") from None


def picture_from_pixels(pixels: Array) -> Image:
    """Return pixels, (h, w, 3) or (h, w) uint8, as a picture."""
    from PIL import Image

    try:
        return Image.fromarray(pixels)
    except (TypeError, ValueError):
        raise BadInput(
            f"An array of {pixels.dtype} and shape {pixels.shape} is not a picture.",
            "Give pixels of shape (height, width, 3) as uint8.",
        ) from None


def picture_contents(picture: Any) -> bytes:
    """Return a picture as the contents of a file, to be sent somewhere.

    picture: a path, the contents themselves, a Pillow picture, or pixels, (h, w, 3) uint8.
    """
    from PIL.Image import Image

    if isinstance(picture, np.ndarray):
        picture = picture_from_pixels(picture)
    if isinstance(picture, Image):
        file = io.BytesIO()
        plain_picture(picture).save(file, "PNG")
        return file.getvalue()
    if not isinstance(picture, bytes | str | os.PathLike):
        raise not_a_picture(picture)
    return picture if isinstance(picture, bytes) else read_picture_file(picture)


def not_a_picture(thing: object) -> BadInput:
    """Return the error that says of something that it is no picture."""
    return BadInput(
        f"{repr(thing)[:60]} is not a picture.", "Give a path, or the contents as bytes."
    )


def _decoded(contents: bytes, kind: str, limit: int, side: int) -> ImageFile:
    """Return a decoded picture, after its declared size was found bearable."""
    if kind == "WebP":
        _check_size(webp_size(contents), limit)
    picture = open_format(contents, kind)
    if kind == "JPEG":
        if contents.count(b"\xff\xda") > _MAX_JPEG_SCANS:
            raise BadInput("The JPEG picture is made of too many passes.")
        # A progressive picture is held in full while it is decoded, however small it is to become.
        progressive = "progressive" in picture.info
        _check_size(picture.size, limit if progressive else _JPEG_FACTOR * limit)
        picture.draft(None, (side, side))
    _check_size(picture.size, limit)
    picture.load()
    return picture


def _check_size(size: tuple[int, int], limit: int) -> None:
    width, height = size
    if width < 1 or height < 1:
        raise BadInput("The picture has no pixels.")
    if width * height > limit:
        raise BadInput(
            f"The picture has {width:,} × {height:,} pixels, more than the {limit:,} that are read."
        )


def _upright(picture: Image) -> Image:
    """Return the picture turned as its EXIF data says."""
    from PIL.Image import Transpose

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    try:
        orientation = picture.getexif().get(_ORIENTATION)
    except Exception:  # EXIF data that cannot be read says nothing about the orientation
        return picture
    return picture.transpose(turns[orientation]) if orientation in turns else picture


def _on_white(picture: Image) -> Image:
    """Return the picture as RGB, what is transparent replaced by white."""
    from PIL import Image

    if picture.mode.startswith(("I", "F")):
        return _from_deep(picture)
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    layer = picture.convert("RGBA")
    plain = Image.new("RGB", picture.size, "white")
    plain.paste(layer, mask=layer.getchannel("A"))
    return plain


def _from_deep(picture: Image) -> Image:
    """Return a grey picture of 16 or 32 bits with 8.

    16 bits have a fixed white. Numbers of 32 bits have none, so that the darkest becomes black
    and the lightest white.
    """
    from PIL import Image

    values = np.asarray(picture)
    if picture.mode.startswith("I;16"):
        return Image.fromarray((values >> 8).astype(np.uint8)).convert("RGB")
    values = np.nan_to_num(values.astype(np.float32), posinf=0.0, neginf=0.0)
    # Halves, since the whole range of float32 does not fit into it.
    values *= 0.5
    low, high = float(values.min()), float(values.max())
    # A range so small that its stretching does not fit into float32 is one grey.
    wide = high - low > 1e-35
    grey = (values - low) * (255.0 / (high - low)) if wide else np.zeros_like(values)
    return Image.fromarray(grey.astype(np.uint8)).convert("RGB")


def _reason(problem: Exception) -> str:
    """Return what went wrong in a few words, on one line."""
    words = getattr(problem, "strerror", None) or " ".join(str(problem).split())
    return (words or type(problem).__name__)[:120]


def format_of(contents: bytes) -> str:
    """Return a picture's format, one of FORMAT_NAMES, from its first bytes."""
    start = contents[:_FORMAT_BYTES]
    if start.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "WebP"
    if start.startswith((b"II*\x00", b"MM\x00*")):
        return "TIFF"
    if start[4:8] == b"ftyp" and b"avi" in start[8:64]:
        return "AVIF"
    if start.startswith(b"BM"):
        return "BMP"
    if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<") and b"<svg" in start:
        return "SVG"
    if not contents:
        raise BadInput("The file is empty.")
    raise BadInput(
        "The file is not a picture in a format that is read.",
        f"These are: {', '.join(FORMAT_NAMES)}.",
    )


def open_format(contents: bytes, kind: str) -> ImageFile:
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
