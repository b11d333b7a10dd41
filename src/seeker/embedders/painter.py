"""Helper processes that draw SVG pictures; one that hangs or crashes is replaced.

A drawing library that meets deep nesting takes its whole process down with it, and one that meets
a costly filter is busy for minutes. In a process of its own it can do neither to us.
"""

from __future__ import annotations

import atexit
import os
import queue
import struct
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

from seeker.errors import BadInput, SeekerError

SECONDS = 10.0
"""How long drawing one picture may take."""


def _library() -> str:
    """Return the folder from which the helper can import the drawing library."""
    found = find_spec("resvg_py")
    if found is None or found.origin is None:
        raise SeekerError(
            "SVG pictures cannot be drawn, for the package 'resvg-py' is missing.",
            "Install it: pip install resvg-py.",
        )
    return str(Path(found.origin).parent.parent)


class _Helper:
    """A process that draws one picture after the other."""

    def __init__(self) -> None:
        self.usable = True
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).with_name("painter_process.py")), _library()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        return self._process.poll() is None

    def draw(self, contents: bytes, side: int) -> bytes:
        """Return the drawing as PNG; a helper that broke off is no longer usable."""
        self.usable = False  # until the whole answer is there, whatever interrupts us
        slow = threading.Event()

        def stop() -> None:
            slow.set()
            self._process.kill()

        clock = threading.Timer(SECONDS, stop)
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
                f"takes more than {SECONDS:.0f} seconds to draw"
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


_idle: queue.SimpleQueue[_Helper] = queue.SimpleQueue()


def draw(contents: bytes, side: int) -> bytes:
    """Return an SVG picture as PNG, drawn by an idle helper or by a new one if all are busy."""
    helper = _taken()
    try:
        return helper.draw(contents, side)
    finally:
        if helper.usable:
            _idle.put(helper)
        else:
            helper.close()


def _taken() -> _Helper:
    """Return an idle helper that is alive, or a new one."""
    while True:
        try:
            helper = _idle.get_nowait()
        except queue.Empty:
            return _Helper()
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
