"""Draws SVG pictures that nobody vouches for.

An SVG file is a program for a drawing machine: it may name other files, take for ever or nest so
deeply that the machine crashes. So (1) whatever names something outside the file is refused before
it is drawn, and (2) a helper process draws it that may be stopped and replaced.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.parsers import expat

from seeker.embedders import painter
from seeker.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 320
"""How many pixels wide and high a drawing is at most; twice as many take four times as long."""

BYTES = 20_000_000
"""How long an SVG file may be."""

_OUTSIDE = re.compile(r"@import|url\(\s*['\"]?(?!\s*(?:#|data:))", re.IGNORECASE)


def drawn(contents: bytes, side: int) -> Image:
    """Return the picture with its transparency, drawn to fill side × side pixels one way.

    No more than SIDE is drawn: pictures made of shapes gain little from more.
    """
    from PIL import Image

    if len(contents) > BYTES:
        raise BadInput(f"The SVG picture has {len(contents):,} bytes, more than {BYTES:,}.")
    try:
        text = contents.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("The SVG picture is not written in UTF-8.") from None
    check(text)
    drawing = Image.open(io.BytesIO(painter.draw(text.encode(), min(side, SIDE))), formats=["PNG"])
    drawing.load()
    return drawing


def check(text: str) -> None:
    """Refuse an SVG document that names other files, carries scripts or is not well-formed."""
    parser = expat.ParserCreate("utf-8")
    inside: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        element = _local(name)
        inside.append(element)
        if element == "script":
            raise BadInput("The SVG picture carries a script.")
        for key, value in attributes.items():
            _check_attribute(element, _local(key), value.strip())

    def end(_: str) -> None:
        inside.pop()

    def characters(data: str) -> None:
        if inside and inside[-1] == "style" and _OUTSIDE.search(data):
            raise BadInput("The SVG picture's style refers to another file.")

    def doctype(_: str, system: str | None, public: str | None, declares: int) -> None:
        if declares:
            raise BadInput("The SVG picture declares entities of its own.")

    def instruction(target: str, _: str) -> None:
        raise BadInput(f"The SVG picture carries the instruction '{target[:40]}'.")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype
    parser.ProcessingInstructionHandler = instruction
    parser.buffer_text = True
    try:
        parser.Parse(text, True)
    except expat.ExpatError as problem:
        raise BadInput(f"The SVG picture is not well-formed ({problem}).") from None


def _check_attribute(element: str, name: str, value: str) -> None:
    """Refuse an attribute that runs something or names something outside the file."""
    if name.startswith("on"):
        raise BadInput("The SVG picture carries a script.")
    # The target of a link <a> is never loaded; every other reference would be.
    if name == "href" and element != "a" and not value.startswith(("#", "data:image/")):
        raise BadInput(f"The SVG picture refers to '{value[:80]}' outside itself.")
    if name == "href" and value.lower().startswith("data:image/svg"):
        raise BadInput("The SVG picture holds another SVG picture.")
    if _OUTSIDE.search(value):
        raise BadInput("The SVG picture's style refers to another file.")


def _local(name: str) -> str:
    return name.rpartition(":")[2].lower()
