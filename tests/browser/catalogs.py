"""Small catalogs made on the spot: drawn shapes, sentences, and long lists of vectors."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

import seeker
from support.builds import jsonl

COLOURS = (
    *("red", "orange", "yellow", "lime", "green", "mint"),
    *("cyan", "azure", "blue", "violet", "magenta", "pink"),
)
FORMS = ("circle", "square", "triangle", "star", "ring")
SIZES = ("tiny", "small", "large", "huge")

_SUBJECTS = ("The old lighthouse", "A quiet river", "My neighbour's cat", "The last train")
_VERBS = ("waits for", "remembers", "never forgets", "sings about", "walks towards")
_OBJECTS = (
    *("the morning rain", "a distant storm", "the smell of bread", "an empty harbour"),
    *("somebody's letter", "the colour of autumn", "a broken clock", "the first snow"),
)
HOSTILE = "Zebra <img src=x onerror='alert(1)'> &amp; \u202efedcba\u202c " + "endless" * 40
"""A title that tries to be markup, turns its direction and does not break into lines."""


def shapes(folder: Path, views: Sequence[str] = ("hue", "outline", "text")) -> Path:
    """Build a catalog of drawn shapes; `name` says what each looks like."""
    rows: list[dict[str, Any]] = []
    places = product(range(len(COLOURS)), range(len(FORMS)), range(len(SIZES)))
    for number, (colour, form, size) in enumerate(places):
        file = f"{number}.png"
        _drawn(folder.parent / "pictures" / file, colour, form, size)
        turn = 2 * math.pi * colour / len(COLOURS)
        rows.append(
            {
                "id": f"shape/{number}",
                "title": name(colour, form, size),
                "colour": COLOURS[colour],
                "form": FORMS[form],
                "price": 5 + 7 * number % 95,
                "picture": file,
                "hue": [math.cos(turn), math.sin(turn)],
                "outline": [*np.eye(len(FORMS))[form].tolist(), size / 3],
            }
        )
    source = jsonl(folder.parent / "shapes.jsonl", rows)
    images = folder.parent / "pictures"
    seeker.build(source, folder, views=[*views], images=images, picture="picture", title="title")
    return folder


def name(colour: int, form: int, size: int) -> str:
    """Return the title of a shape."""
    return f"{SIZES[size]} {COLOURS[colour]} {FORMS[form]}"


def likeness(title: str, wanted: str) -> float:
    """Return how alike two shapes look, to go by their titles; the larger the closer."""
    (size, colour, form), (other_size, other_colour, other_form) = title.split(), wanted.split()
    apart = abs(COLOURS.index(colour) - COLOURS.index(other_colour))
    turn = min(apart, len(COLOURS) - apart) / (len(COLOURS) / 2)
    sizes = abs(SIZES.index(size) - SIZES.index(other_size)) / (len(SIZES) - 1)
    return -2.0 * turn - 1.0 * (form != other_form) - 0.5 * sizes


def sentences(folder: Path) -> Path:
    """Build a catalog of sentences, without pictures."""
    rows = [
        {"id": f"s{number}", "title": " ".join(words) + ".", "subject": words[0]}
        for number, words in enumerate(product(_SUBJECTS, _VERBS, _OBJECTS))
    ]
    rows.append({"id": "../<b>", "title": HOSTILE, "subject": "javascript:alert(1)"})
    source = jsonl(folder.parent / "sentences.jsonl", rows)
    seeker.build(source, folder, views=["text"], title="title", text=["title"])
    return folder


def numbers(folder: Path, items: int, dimensions: int = 8) -> Path:
    """Build a catalog of many vectors that look like nothing."""
    rng = np.random.default_rng(items)
    centres = rng.normal(size=(40, dimensions))
    vectors = centres[rng.integers(40, size=items)] + 0.4 * rng.normal(size=(items, dimensions))
    source = folder.parent / f"{folder.name}.npy"
    np.save(source, vectors.astype(np.float32))
    seeker.build(source, folder)
    return folder


def _drawn(path: Path, colour: int, form: int, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    red, green, blue = colorsys.hls_to_rgb(colour / len(COLOURS), 0.5, 0.9)
    fill = (round(255 * red), round(255 * green), round(255 * blue))
    image = Image.new("RGB", (96, 96), "white")
    pen = ImageDraw.Draw(image)
    reach = (14, 22, 32, 44)[size]
    box = (48 - reach, 48 - reach, 48 + reach, 48 + reach)
    if FORMS[form] == "circle":
        pen.ellipse(box, fill=fill)
    elif FORMS[form] == "ring":
        pen.ellipse(box, outline=fill, width=max(4, reach // 3))
    elif FORMS[form] == "square":
        pen.rectangle(box, fill=fill)
    else:
        points = 3 if FORMS[form] == "triangle" else 10
        pen.polygon([_corner(n, points, reach) for n in range(points)], fill=fill)
    image.save(path)


def _corner(number: int, points: int, reach: int) -> tuple[float, float]:
    """Return a corner of a triangle, or of a star, whose every second corner lies further in."""
    far = reach * (0.45 if points == 10 and number % 2 else 1.0)
    turn = 2 * math.pi * number / points - math.pi / 2
    return 48 + far * math.cos(turn), 48 + far * math.sin(turn)
