"""Thumbnails: WebP files in a catalog's media folder, named by what is in them.

One that is kept in several sizes is named by its smallest file, `HASH.320.512.webp`: the name says
which others are beside it, here `HASH.512.webp`, and the hash is that of all of them together.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from seeker.catalog.nofollow import real_folder
from seeker.errors import BadInput
from seeker.files import atomic_write

if TYPE_CHECKING:
    from PIL.Image import Image

DEFAULT_SIZES = (320, 512)
"""Pixels each way: cards on most screens; cards on fine screens, and opened items."""

FIRST_SIZES = (320,)
"""The sizes of catalogs that say nothing of them."""

MIN_SIZE, MAX_SIZE, MAX_SIZES = 32, 2048, 4

_MEDIA = re.compile(r"media(/[^/\\\x00]{1,255}){1,8}")
_SEVERAL = re.compile(rf"(.*/[0-9a-f]{{32}})((?:\.[1-9]\d{{1,3}}){{2,{MAX_SIZES + 1}}})\.webp")


def is_media_name(name: object) -> bool:
    """Return whether this can be the thumbnail of an item: a file in the catalog's media folder."""
    if not isinstance(name, str) or not _MEDIA.fullmatch(name):
        return False
    return not {".", ".."} & {*name.split("/")}


def media_sizes(media: str) -> dict[int, str]:
    """Return the files of a thumbnail that has several sizes, by pixels each way; else nothing.

    media: its name, or where it is served.
    """
    match = _SEVERAL.fullmatch(media)
    if match is None:
        return {}
    first, *others = map(int, match[2][1:].split("."))
    return {first: media, **{size: f"{match[1]}.{size}.webp" for size in others}}


def media_files(media: str) -> list[str]:
    """Return the files of a thumbnail, the smallest first."""
    return [*media_sizes(media).values()] or [media]


def media_digest(contents: Sequence[bytes]) -> str:
    """Return what a thumbnail is named by; contents: of its files, the smallest first."""
    digest = hashlib.sha256()
    for one in contents:
        digest.update(one)
    return digest.hexdigest()[:32]


def write_thumbnail(folder: Path, image: Image, sizes: Sequence[int], sync: bool) -> str:
    """Write a thumbnail into a media folder; return its name in the catalog.

    sizes: pixels each way that its files fit into, the smallest first; a picture that is smaller is
    never made larger. sync: whether the files are on disk when this returns.
    """
    from seeker.embedders.pictures import thumbnail

    side = max(image.size)
    fitting = [size for size in sizes if size < side]
    if side <= sizes[-1]:
        fitting.append(side)
    contents = [thumbnail(image, size) for size in fitting]
    name = media_digest(contents)
    start = f"media/{name[:2]}/{name}"
    several = "".join(f".{size}" for size in fitting) if len(fitting) > 1 else ""
    media = f"{start}{several}.webp"
    for file, content in zip(media_files(media), contents, strict=True):
        place = folder.parent / file
        if not place.exists() or place.stat().st_size != len(content):
            real_folder(folder)
            real_folder(place.parent)
            with atomic_write(place, sync=sync) as handle:
                handle.write(content)
    return media


def check_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return sizes of pictures as they are kept, the smallest first; refuse what is none."""
    whole = all(isinstance(one, int) and not isinstance(one, bool) for one in sizes)
    if not whole or not all(MIN_SIZE <= one <= MAX_SIZE for one in sizes) or not sizes:
        raise BadInput(
            f"The sizes of pictures {sizes!r} are not whole numbers from {MIN_SIZE} to {MAX_SIZE}.",
            "They are pixels each way, such as 320,640.",
        )
    if len({*sizes}) > MAX_SIZES:
        raise BadInput(f"Pictures are kept in at most {MAX_SIZES} sizes.")
    return tuple(sorted({*sizes}))
