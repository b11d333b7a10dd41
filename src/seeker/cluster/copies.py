"""A part of a catalog on a shard's own disk, for where the catalog's folder cannot be seen.

The rows come from the front in pieces, each with its checksum, are written aside, and are put in
place when all are there and their common checksum is right. Started again, a shard finds them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from seeker.cluster import outline
from seeker.cluster.part import Part, PartView
from seeker.cluster.ranges import Range
from seeker.errors import BadInput
from seeker.types import Array

PIECE = 4_000_000
"""Bytes sent at a time."""

_DONE = "part.json"


@dataclass(frozen=True)
class Piece:
    """Some bytes of one array of a part: where they begin, and their checksum."""

    array: int
    start: int
    data: bytes
    sha256: str


def pieces(part: Part) -> Iterator[Piece]:
    """Yield all that a part holds of its items, in order."""
    for number, array in enumerate(part.arrays):
        size = array[:1].nbytes
        rows = max(1, PIECE // size)
        for start in range(0, len(array), rows):
            data = np.ascontiguousarray(array[start : start + rows]).tobytes()
            yield Piece(number, start * size, data, hashlib.sha256(data).hexdigest())


def checksum(sums: list[str]) -> str:
    """Return the common checksum of pieces with these checksums."""
    return hashlib.sha256("".join(sums).encode()).hexdigest()


class Copy:
    """The copy of one part: of which catalog (identity) and which rows."""

    def __init__(self, root: str | None, identity: str, rows: Range) -> None:
        self._usual = not root
        base = Path(root) if root else Path(tempfile.gettempdir()) / f"seeker-parts-{os.getuid()}"
        self._folder = base / f"{identity}-{rows.first}-{rows.last}"
        self._rows = rows
        self._aside: dict[str, tuple[Path, list[str]]] = {}

    def open(self) -> Part | None:
        """Return the part, mapped from disk, if it is there and whole."""
        if not self._trusted():
            return None
        try:
            written = json.loads((self._folder / _DONE).read_text(encoding="utf-8"))
            views = outline.read(self._folder)
            arrays = [array for view in views for array in view.arrays]
            sizes = [self._file(number).stat().st_size for number in range(len(arrays))]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if not isinstance(written, dict) or written.get("sizes") != sizes:
            return None
        mapped = (self._mapped(number, array) for number, array in enumerate(arrays))
        filled = []
        for view in views:
            vectors = next(mapped)
            steps = None if view.steps is None else next(mapped)
            filled.append(replace(view, vectors=vectors, steps=steps))
        return Part(self._rows, tuple(filled))

    def receive(self, sender: str, piece: Piece) -> None:
        """Write some bytes aside; sender: who sends this copy, for several may at once."""
        if hashlib.sha256(piece.data).hexdigest() != piece.sha256:
            raise BadInput("A piece of the catalog was damaged on its way.", "Send it again.")
        if sender not in self._aside:
            self._aside[sender] = (self._new(), [])
        aside, sums = self._aside[sender]
        try:
            with (aside / str(piece.array)).open("ab") as handle:
                if handle.tell() != piece.start:
                    raise BadInput("Pieces of the catalog came out of order.", "Send it again.")
                handle.write(piece.data)
        except (BadInput, OSError):
            # A disk that is full must not stay so because of what is of no use.
            del self._aside[sender]
            shutil.rmtree(aside, ignore_errors=True)
            raise
        sums.append(piece.sha256)

    def _new(self) -> Path:
        """Return a folder to write aside; what a killed process has left there is removed."""
        base, begin = self._folder.parent, f"{self._folder.name}."
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._trusted():
            raise BadInput(
                f"'{base}' is a link, or a folder that others can write to.",
                "Remove it, or name another folder for copies with --shard-copies.",
            )
        under_way = {aside for aside, _ in self._aside.values()}
        for left in set(base.glob(f"{begin}*")) - under_way:
            shutil.rmtree(left, ignore_errors=True)
        return Path(tempfile.mkdtemp(prefix=begin, dir=base))

    def _trusted(self) -> bool:
        """Return whether nobody but its owner, who runs this, writes to the folder of all copies.

        In the folder for temporary files anybody may have put a folder or a link of its name.
        """
        try:
            found = self._folder.parent.lstat()
        except OSError:
            return False
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
        return not self._usual or (ours and not found.st_mode & 0o022)

    def finish(self, sender: str, expected: str, views: tuple[PartView, ...]) -> None:
        """Put what a sender has sent in place, if it is whole; views: with none of their rows."""
        aside, sums = self._aside.pop(sender, (None, []))
        if aside is None:
            raise BadInput("No piece of the catalog has come.", "Send it again.")
        try:
            if checksum(sums) != expected:
                raise BadInput("The copy of the catalog is not what was sent.", "Send it again.")
            files = sorted(aside.iterdir(), key=lambda file: int(file.name))
            sizes = [file.stat().st_size for file in files]
            outline.write(aside, views)
            (aside / _DONE).write_text(json.dumps({"sizes": sizes, "sha256": expected}))
            shutil.rmtree(self._folder, ignore_errors=True)
            aside.rename(self._folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def remove(self) -> None:
        """Remove the copy; whoever has it mapped keeps what they have."""
        if self._trusted():
            shutil.rmtree(self._folder, ignore_errors=True)

    def _file(self, number: int) -> Path:
        return self._folder / str(number)

    def _mapped(self, number: int, array: Array) -> Array:
        shape = (len(self._rows), *array.shape[1:])
        return np.asarray(np.memmap(self._file(number), array.dtype, "r", shape=shape))
