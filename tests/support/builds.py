"""What tests of building share: small embedders, small sources; and that these are sound."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from seeker.embedders import Embedder
from seeker.types import Floats


class MeanColour(Embedder):
    """The mean colour of a picture: what an embedder of pictures is, in one line."""

    name = "support.builds:MeanColour"
    version = "1"
    dimensions = 3
    metric = "euclidean"
    reads = frozenset({"picture"})

    def embed(self, batch: Sequence[Any]) -> Floats:
        return np.array(
            [np.asarray(one, np.float64).mean(axis=(0, 1)) / 255 for one in batch], np.float32
        )


class Letters(Embedder):
    """How often each letter is in a text."""

    name = "support.builds:Letters"
    version = "1"
    dimensions = 26
    metric = "cosine"
    reads = frozenset({"text"})

    def embed(self, batch: Sequence[Any]) -> Floats:
        letters = "abcdefghijklmnopqrstuvwxyz"
        return np.array([[one.lower().count(a) for a in letters] for one in batch], np.float32)


def picture(path: Path, colour: tuple[int, int, int], size: tuple[int, int] = (40, 30)) -> Path:
    """Write a picture of one colour."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)
    return path


def png_that_claims(width: int, height: int) -> bytes:
    """Return a well-formed PNG with only a little data behind a large claim."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(bytes(1_000_000)))
    return b"\x89PNG\r\n\x1a\n" + head + body + chunk(b"IEND", b"")


def jsonl(path: Path, rows: Sequence[object]) -> Path:
    """Write rows as JSON Lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


SHIRTS: list[dict[str, Any]] = [
    {
        "id": "a",
        "title": "Striped shirt",
        "description": "Blue and white café stripes",
        "price": 20,
        "new": True,
        "tags": ["cotton", "summer"],
        "vector": [0.0, 0.0, 1.0],
    },
    {
        "id": "b",
        "title": "Plain shirt",
        "description": "White, not striped",
        "price": 35.5,
        "new": False,
        "tags": ["linen"],
        "vector": [0.0, 1.0, 0.0],
    },
    {
        "id": "c",
        "title": "Skirt",
        "description": "Long",
        "price": 80,
        "new": False,
        "brand": "Ørsted & són",
        "vector": [1.0, 0.0, 0.0],
    },
    {"id": "d", "title": "Hat", "brand": "striped", "vector": [1.0, 1.0, 0.0]},
]
