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

from seeker.catalog.manifest_reader import read_manifest
from seeker.catalog.views import check_sizes, open_views
from seeker.cluster import partition
from seeker.cluster.messages import Answer, MissingDataReply, ShardReport, ShardRequest
from seeker.cluster.partition import CatalogPart, PartView, RowRange
from seeker.cluster.shard import Shard
from seeker.engine.cache import return_memory
from seeker.errors import BadInput, SeekerError
from seeker.types import Array

PIECE_BYTES = 4_000_000
"""How much is sent at a time."""

_COMPLETE_FILE = "part.json"
"""Written last: a copy without it is not whole."""


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
        rows = max(1, PIECE_BYTES // size)
        for start in range(0, len(array), rows):
            data = np.ascontiguousarray(array[start : start + rows]).tobytes()
            yield CopyPiece(number, start * size, data, hashlib.sha256(data).hexdigest())


def checksum(checksums: list[str]) -> str:
    """Return the common checksum of pieces with these checksums."""
    return hashlib.sha256("".join(checksums).encode()).hexdigest()


class PartCopy:
    """The copy of one part: of which catalog (identity) and which rows."""

    def __init__(self, root: str | None, identity: str, rows: RowRange) -> None:
        """root: the folder of all copies; None: one among the temporary files."""
        self._temporary = not root
        base = Path(root) if root else Path(tempfile.gettempdir()) / f"seeker-parts-{os.getuid()}"
        self._folder = base / f"{identity}-{rows.first}-{rows.last}"
        self._rows = rows
        self._incoming: dict[str, tuple[Path, list[str]]] = {}
        """By sender: the folder that is written to, and the checksums of what came so far."""

    def open(self) -> CatalogPart | None:
        """Return the part, mapped from disk, if it is there and whole."""
        if not self._trusted():
            return None
        try:
            summary = json.loads((self._folder / _COMPLETE_FILE).read_text(encoding="utf-8"))
            views = partition.read_outline(self._folder)
            arrays = [array for view in views for array in view.arrays]
            sizes = [self._file(number).stat().st_size for number in range(len(arrays))]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if not isinstance(summary, dict) or summary.get("sizes") != sizes:
            return None
        whole_arrays = (self._map(number, array) for number, array in enumerate(arrays))
        whole_views = []
        for view in views:
            vectors = next(whole_arrays)
            steps = None if view.steps is None else next(whole_arrays)
            whole_views.append(replace(view, stored=vectors, steps=steps))
        return CatalogPart(self._rows, tuple(whole_views))

    def receive(self, sender: str, piece: CopyPiece) -> None:
        """Write some bytes aside; sender: who sends this copy, for several may at once."""
        if hashlib.sha256(piece.data).hexdigest() != piece.sha256:
            raise BadInput("A piece of the catalog was damaged on its way.", "Send it again.")
        if sender not in self._incoming:
            self._incoming[sender] = (self._incoming_folder(), [])
        folder, checksums = self._incoming[sender]
        try:
            with (folder / str(piece.array)).open("ab") as handle:
                if handle.tell() != piece.start:
                    raise BadInput("Pieces of the catalog came out of order.", "Send it again.")
                handle.write(piece.data)
        except (BadInput, OSError):
            # A disk that is full must not stay so because of what is of no use.
            del self._incoming[sender]
            shutil.rmtree(folder, ignore_errors=True)
            raise
        checksums.append(piece.sha256)

    def _incoming_folder(self) -> Path:
        """Return a folder to write to; what a killed process has left there is removed."""
        base, prefix = self._folder.parent, f"{self._folder.name}."
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._trusted():
            raise BadInput(
                f"'{base}' is a link, or a folder that others can write to.",
                "Remove it, or name another folder for copies with --shard-copies.",
            )
        under_way = {folder for folder, _ in self._incoming.values()}
        for abandoned in set(base.glob(f"{prefix}*")) - under_way:
            shutil.rmtree(abandoned, ignore_errors=True)
        return Path(tempfile.mkdtemp(prefix=prefix, dir=base))

    def _trusted(self) -> bool:
        """Return whether nobody but its owner, who runs this, writes to the folder of all copies.

        In the folder for temporary files anybody may have put a folder or a link of its name.
        """
        try:
            status = self._folder.parent.lstat()
        except OSError:
            return False
        ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
        return not self._temporary or (ours and not status.st_mode & 0o022)

    def finish(self, sender: str, expected: str, views: tuple[PartView, ...]) -> None:
        """Put what a sender has sent in place, if it is whole; views: with none of their rows."""
        folder, checksums = self._incoming.pop(sender, (None, []))
        if folder is None:
            raise BadInput("No piece of the catalog has come.", "Send it again.")
        try:
            if checksum(checksums) != expected:
                raise BadInput("The copy of the catalog is not what was sent.", "Send it again.")
            files = sorted(folder.iterdir(), key=lambda file: int(file.name))
            sizes = [file.stat().st_size for file in files]
            partition.write_outline(folder, views)
            summary = json.dumps({"sizes": sizes, "sha256": expected})
            (folder / _COMPLETE_FILE).write_text(summary, encoding="utf-8")
            shutil.rmtree(self._folder, ignore_errors=True)
            folder.rename(self._folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def remove(self) -> None:
        """Remove the copy; whoever has it mapped keeps what they have."""
        if self._trusted():
            shutil.rmtree(self._folder, ignore_errors=True)

    def _file(self, number: int) -> Path:
        return self._folder / str(number)

    def _map(self, number: int, array: Array) -> Array:
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
        self._last_request = time.monotonic()
        if assignment.idle > 0:
            threading.Thread(target=self._end_when_idle, name="seeker-idle", daemon=True).start()

    def report(self) -> ShardReport:
        """Say how this shard is; it is needed, then."""
        import ray

        shard = self._open_shard()
        return ShardReport(
            pid=os.getpid(),
            node=str(ray.get_runtime_context().get_node_id()),
            ready=shard is not None,
            copied=self._copied,
            sessions=0 if shard is None else len(shard.sessions),
            bytes=0 if shard is None else shard.sessions.bytes,
        )

    def answer(self, request: ShardRequest) -> Answer | MissingDataReply:
        """Answer a request, or say what is missing."""
        import ray

        shard = self._open_shard()
        if shard is None:
            return MissingDataReply(part=True)
        return shard.answer(request, ray.get_runtime_context().is_canceled)

    def receive(self, sender: str, piece: CopyPiece) -> None:
        """Take a piece of the shard's part."""
        self._last_request = time.monotonic()
        with self._lock:
            self._copy.receive(sender, piece)

    def finish(self, sender: str, expected: str, views: tuple[PartView, ...]) -> None:
        """Take the pieces of a sender into use; views: all else there is to know of these."""
        with self._lock:
            self._copy.finish(sender, expected, views)

    def _open_shard(self) -> Shard | None:
        """Return the shard, if its part of the catalog is at hand."""
        self._last_request = time.monotonic()
        with self._lock:
            if self._shard is None:
                part = self._catalog_part()
                self._copied = part is None
                part = part or self._copy.open()
                if part is not None:
                    self._shard = Shard(part, self._assignment.memory)
            return self._shard

    def _catalog_part(self) -> CatalogPart | None:
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

    def _end_when_idle(self) -> None:
        """End this shard for good, and its copy, when nobody has asked for it in a long time."""
        import ray

        while time.monotonic() - self._last_request < self._assignment.idle:
            time.sleep(min(_IDLE_CHECK_SECONDS, self._assignment.idle / 4))
        self._copy.remove()
        ray.kill(ray.get_runtime_context().current_actor, no_restart=True)
