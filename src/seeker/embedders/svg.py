"""Draws SVG pictures that nobody vouches for, in helper processes."""

from __future__ import annotations

import atexit
import io
import os
import queue
import re
import struct
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from seeker.errors import BadInput, SeekerError, install_hint

if TYPE_CHECKING:
    from PIL.Image import Image


_WORKER = Path(__file__).with_name("svg_worker.py")

RENDER_SECONDS = 10.0
"""How long drawing one picture may take."""

MAX_SVG_PIXELS = 320
"""How many pixels wide and high a drawing is at most; twice as many take four times as long."""

MAX_SVG_BYTES = 20_000_000
"""How long an SVG file may be."""

_OUTSIDE = re.compile(r"@import|url\(\s*['\"]?(?!\s*(?:#|data:))", re.IGNORECASE)


def draw_svg(contents: bytes, side: int, seconds: float = RENDER_SECONDS) -> Image:
    """Return the picture with its transparency, drawn to fill side × side pixels one way.

    No more than MAX_SVG_PIXELS is drawn: pictures made of shapes gain little from more. seconds:
    how long that may take.
    """
    from PIL import Image

    if len(contents) > MAX_SVG_BYTES:
        raise BadInput(f"The SVG picture has {len(contents):,} bytes, more than {MAX_SVG_BYTES:,}.")
    try:
        text = contents.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("The SVG picture is not written in UTF-8.") from None
    check_svg(text)
    contents = render(text.encode(), min(side, MAX_SVG_PIXELS), seconds)
    drawing = Image.open(io.BytesIO(contents), formats=["PNG"])
    drawing.load()
    return drawing


def check_svg(text: str) -> None:
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


def _library_folder() -> str:
    """Return the folder from which the helper can import the drawing library."""
    spec = find_spec("resvg_py")
    if spec is None or spec.origin is None:
        raise SeekerError(
            "SVG pictures cannot be drawn, for the package 'resvg-py' is missing.",
            install_hint("resvg-py"),
        )
    return str(Path(spec.origin).parent.parent)


class _Renderer:
    """A process that draws one picture after the other."""

    def __init__(self) -> None:
        self.usable = True
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-I",
                str(Path(__file__).with_name("svg_worker.py")),
                _library_folder(),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        return self._process.poll() is None

    def draw(self, contents: bytes, side: int, seconds: float) -> bytes:
        """Return the drawing as PNG; a helper that broke off is no longer usable."""
        self.usable = False  # until the whole answer is there, whatever interrupts us
        slow = threading.Event()

        def stop() -> None:
            slow.set()
            self._process.kill()

        clock = threading.Timer(seconds, stop)
        clock.daemon = True
        clock.start()
        try:
            to, back = self._process.stdin, self._process.stdout
            if to is None or back is None:
                raise OSError
            to.write(struct.pack("<II", side, len(contents)) + contents)
            to.flush()
            good, length = struct.unpack("<?I", back.read(5))
            answer = back.read(length)
            if len(answer) < length:
                raise OSError
            self.usable = True
        except (OSError, struct.error):
            why = (
                f"takes more than {seconds:.0f} seconds to draw"
                if slow.is_set()
                else "cannot be drawn: it nests too deeply or needs too much memory"
            )
            raise BadInput(f"The SVG picture {why}.") from None
        finally:
            clock.cancel()
            self.usable = self.usable and not slow.is_set()
        if not good:
            raise BadInput(f"The SVG picture cannot be drawn ({answer.decode()}).")
        return answer

    def close(self) -> None:
        """Stop the process and let its pipes go."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                try:
                    pipe.close()
                except OSError:  # a dead helper cannot take what was still on the way to it
                    continue


_idle: queue.SimpleQueue[_Renderer] = queue.SimpleQueue()


def render(contents: bytes, side: int, seconds: float) -> bytes:
    """Return an SVG picture as PNG, drawn by an idle helper or by a new one if all are busy."""
    helper = _idle_renderer()
    try:
        return helper.draw(contents, side, seconds)
    finally:
        if helper.usable:
            _idle.put(helper)
        else:
            helper.close()


def _idle_renderer() -> _Renderer:
    """Return an idle helper that is alive, or a new one."""
    while True:
        try:
            helper = _idle.get_nowait()
        except queue.Empty:
            return _Renderer()
        if helper.alive:
            return helper
        helper.close()


def _forget() -> None:
    """Leave the helpers to the process that started them, after a fork."""
    global _idle, _of_parent
    _idle, _of_parent = queue.SimpleQueue(), _idle


_of_parent = _idle
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@atexit.register
def _close_all() -> None:
    while not _idle.empty():
        _idle.get_nowait().close()
