"""The process around a shard: it maps its rows, or keeps a copy of them on its own disk."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from seeker.catalog.manifest import read_manifest
from seeker.catalog.stored_views import check_sizes, open_views
from seeker.cluster import partition
from seeker.cluster.messages import (
    Answer,
    Question,
    SessionMoment,
    ShardReport,
    SupplyMessage,
    SupplyRequest,
)
from seeker.cluster.partition import CatalogPart, PartView, RowRange
from seeker.cluster.shard import Shard
from seeker.engine.cache import return_memory
from seeker.errors import BadInput, SeekerError
from seeker.types import Array

PIECE = 4_000_000
"""Bytes sent at a time."""

_DONE = "part.json"


@dataclass(frozen=True)
class CopyPiece:
    """Some bytes of one array of a part: where they begin, and their checksum."""

    array: int
    start: int
    data: bytes
    sha256: str


def pieces(part: CatalogPart) -> Iterator[CopyPiece]:
    """Yield all that a part holds of its items, in order."""
    for number, array in enumerate(part.arrays):
        size = array[:1].nbytes
        rows = max(1, PIECE // size)
        for start in range(0, len(array), rows):
            data = np.ascontiguousarray(array[start : start + rows]).tobytes()
            yield CopyPiece(number, start * size, data, hashlib.sha256(data).hexdigest())


def checksum(sums: list[str]) -> str:
    """Return the common checksum of pieces with these checksums."""
    return hashlib.sha256("".join(sums).encode()).hexdigest()


class PartCopy:
    """The copy of one part: of which catalog (identity) and which rows."""

    def __init__(self, root: str | None, identity: str, rows: RowRange) -> None:
        self._usual = not root
        base = Path(root) if root else Path(tempfile.gettempdir()) / f"seeker-parts-{os.getuid()}"
        self._folder = base / f"{identity}-{rows.first}-{rows.last}"
        self._rows = rows
        self._aside: dict[str, tuple[Path, list[str]]] = {}

    def open(self) -> CatalogPart | None:
        """Return the part, mapped from disk, if it is there and whole."""
        if not self._trusted():
            return None
        try:
            written = json.loads((self._folder / _DONE).read_text(encoding="utf-8"))
            views = partition.read_outline(self._folder)
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
        return CatalogPart(self._rows, tuple(filled))

    def receive(self, sender: str, piece: CopyPiece) -> None:
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
            partition.write_outline(aside, views)
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


_IDLE_CHECK_SECONDS = 5.0


@dataclass(frozen=True, eq=False)
class Assignment:
    """What a shard is for. It must be small: Ray keeps small things only for a new start.

    identity: of the catalog's version. folder: where the catalog is, if shards may look there.
    copies: the folder for copies on the shard's disk (a temporary one). memory: bytes for
    sessions. idle: seconds without a question after which nobody seems to need the shard.
    """

    identity: str
    rows: RowRange
    folder: str | None
    copies: str | None
    memory: int
    idle: float


class ShardActor:
    """A shard in a process of its own. Methods are called from several threads."""

    def __init__(self, assignment: Assignment) -> None:
        return_memory()
        self._assignment = assignment
        self._copy = PartCopy(assignment.copies, assignment.identity, assignment.rows)
        self._lock = threading.Lock()
        self._shard: Shard | None = None
        self._copied = False
        self._asked = time.monotonic()
        if assignment.idle > 0:
            threading.Thread(target=self._watch, name="seeker-idle", daemon=True).start()

    def report(self) -> ShardReport:
        """Say how this shard is; it is needed, then."""
        import ray

        shard = self._ready()
        node = str(ray.get_runtime_context().get_node_id())
        kept = (0, 0) if shard is None else (len(shard.shelf), shard.shelf.bytes)
        return ShardReport(os.getpid(), node, shard is not None, self._copied, *kept)

    def answer(
        self, moment: SessionMoment, supply: SupplyMessage, question: Question
    ) -> Answer | SupplyRequest:
        """Answer a question, or say what is lacking."""
        import ray

        shard, running = self._ready(), ray.get_runtime_context()
        if shard is None:
            return SupplyRequest(part=True)
        return shard.answer(moment, supply, question, running.is_canceled)

    def receive(self, sender: str, piece: CopyPiece) -> None:
        """Take a piece of the shard's part."""
        self._asked = time.monotonic()
        with self._lock:
            self._copy.receive(sender, piece)

    def finish(self, sender: str, expected: str, views: tuple[PartView, ...]) -> None:
        """Take the pieces of a sender into use; views: all else there is to know of these."""
        with self._lock:
            self._copy.finish(sender, expected, views)

    def _ready(self) -> Shard | None:
        """Return the shard, if its part of the catalog is at hand."""
        self._asked = time.monotonic()
        with self._lock:
            if self._shard is None:
                mapped = self._mapped()
                self._copied = mapped is None
                part = mapped or self._copy.open()
                if part is not None:
                    self._shard = Shard(part, self._assignment.memory)
            return self._shard

    def _mapped(self) -> CatalogPart | None:
        """Return the part from the catalog's folder, if that is seen here in the same version."""
        if self._assignment.folder is None:
            return None
        folder = Path(self._assignment.folder)
        try:
            manifest = read_manifest(folder)
            if manifest.identity != self._assignment.identity:
                return None
            check_sizes(folder, manifest)
            return CatalogPart.of(open_views(folder, manifest), self._assignment.rows)
        except (SeekerError, OSError):
            return None

    def _watch(self) -> None:
        """End this shard for good, and its copy, when nobody has asked for it in a long time."""
        import ray

        while time.monotonic() - self._asked < self._assignment.idle:
            time.sleep(min(_IDLE_CHECK_SECONDS, self._assignment.idle / 4))
        self._copy.remove()
        ray.kill(ray.get_runtime_context().current_actor, no_restart=True)
