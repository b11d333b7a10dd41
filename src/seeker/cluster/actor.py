"""The process around a shard: finds its part of the catalog, and keeps an eye on idleness."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from seeker.catalog import head as heads
from seeker.catalog.opening import check_sizes, open_views
from seeker.cluster.copies import Copy, Piece
from seeker.cluster.messages import Answer, Lacking, Moment, Question, Report, Supply
from seeker.cluster.part import Part, PartView
from seeker.cluster.ranges import Range
from seeker.cluster.shard import Shard
from seeker.engine.memory import give_back
from seeker.errors import SeekerError

_LOOK = 5.0


@dataclass(frozen=True, eq=False)
class Assignment:
    """What a shard is for. It must be small: Ray keeps small things only for a new start.

    identity: of the catalog's version. folder: where the catalog is, if shards may look there.
    copies: the folder for copies on the shard's disk (a temporary one). memory: bytes for
    sessions. idle: seconds without a question after which nobody seems to need the shard.
    """

    identity: str
    rows: Range
    folder: str | None
    copies: str | None
    memory: int
    idle: float


class ShardActor:
    """A shard in a process of its own. Methods are called from several threads."""

    def __init__(self, assignment: Assignment) -> None:
        give_back()
        self._assignment = assignment
        self._copy = Copy(assignment.copies, assignment.identity, assignment.rows)
        self._lock = threading.Lock()
        self._shard: Shard | None = None
        self._copied = False
        self._asked = time.monotonic()
        if assignment.idle > 0:
            threading.Thread(target=self._watch, name="seeker-idle", daemon=True).start()

    def report(self) -> Report:
        """Say how this shard is; it is needed, then."""
        import ray

        shard = self._ready()
        node = str(ray.get_runtime_context().get_node_id())
        kept = (0, 0) if shard is None else (len(shard.shelf), shard.shelf.bytes)
        return Report(os.getpid(), node, shard is not None, self._copied, *kept)

    def answer(self, moment: Moment, supply: Supply, question: Question) -> Answer | Lacking:
        """Answer a question, or say what is lacking."""
        import ray

        shard, running = self._ready(), ray.get_runtime_context()
        if shard is None:
            return Lacking(part=True)
        return shard.answer(moment, supply, question, running.is_canceled)

    def receive(self, sender: str, piece: Piece) -> None:
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

    def _mapped(self) -> Part | None:
        """Return the part from the catalog's folder, if that is seen here in the same version."""
        if self._assignment.folder is None:
            return None
        folder = Path(self._assignment.folder)
        try:
            head = heads.read(folder)
            if head.identity != self._assignment.identity:
                return None
            check_sizes(folder, head)
            return Part.of(open_views(folder, head), self._assignment.rows)
        except (SeekerError, OSError):
            return None

    def _watch(self) -> None:
        """End this shard for good, and its copy, when nobody has asked for it in a long time."""
        import ray

        while time.monotonic() - self._asked < self._assignment.idle:
            time.sleep(min(_LOOK, self._assignment.idle / 4))
        self._copy.remove()
        ray.kill(ray.get_runtime_context().current_actor, no_restart=True)
