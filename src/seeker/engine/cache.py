"""The belief cache: sessions as they were last used, bounded by memory, oldest out first."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from seeker.catalog import Catalog
from seeker.engine.snapshot import BeliefSummary, SessionSnapshot
from seeker.session import Belief, Session

_MMAP_THRESHOLD = -3
_LARGE_ARRAY_BYTES = 128 * 1024

_SESSION_BYTES = 16_384
_EVENT_BYTES = 2_048
_RATING_BYTES = 64
"""Every state that an undo may bring back holds the ratings of its time."""
_ITEM_BYTES = 1_024
_HISTORY_ENTRY_BYTES = 128
_MAX_SNAPSHOTS = 4

_SPARE_SHARE = 2
"""The part of the cache for what takes little to compute again is one by this number."""
IDLE_SECONDS = 30.0
"""Who has had no click for so long does without it: most people think for less."""


@dataclass
class CachedSession:
    """A session in memory, of a catalog with a name.

    length: how many of its events it holds. active: when the last of them happened, in seconds
    since 1970. bytes: what it took when it was last put back. provisional: the summary was made
    while part of the catalog could not be asked, and is to be made anew. snapshots: of
    earlier lengths, by length, for requests that may be made again, the latest few.
    """

    session: Session
    name: str
    catalog: Catalog
    length: int
    active: float
    summary: BeliefSummary | None = None
    provisional: bool = False
    bytes: int = field(default=0)
    snapshots: OrderedDict[int, SessionSnapshot] = field(default_factory=OrderedDict)

    def move_to(self, catalog: Catalog) -> bool:
        """Go on in another version of the catalog, if what was computed holds there, too."""
        if catalog is self.catalog:
            return True
        if not self.session.move_to(catalog):
            return False
        self.catalog, self.summary = catalog, None
        return True

    def remember(self, snapshot: SessionSnapshot) -> None:
        """Keep a snapshot for when it is asked for again, unless a part of it was missing."""
        if not snapshot.page.partial:
            self.snapshots[snapshot.length] = snapshot
            self.snapshots.move_to_end(snapshot.length)
            while len(self.snapshots) > _MAX_SNAPSHOTS:
                self.snapshots.popitem(last=False)

    def sum_up(self, belief: Belief) -> None:
        """Keep a belief in a few numbers; this reads all items."""
        self.summary, self.provisional = BeliefSummary.of(belief), belief.partial

    def measure(self) -> int:
        """Return about how many bytes this entry takes: its arrays, and an estimate of the rest."""
        ratings = _RATING_BYTES * len(self.session.state.ratings)
        events = (_EVENT_BYTES + ratings) * self.length
        snapshots = sum(
            _ITEM_BYTES * len(one.page) + _HISTORY_ENTRY_BYTES * len(one.history)
            for one in self.snapshots.values()
        )
        arrays = self.session.nbytes + self.session.ranking_bytes
        return arrays + _SESSION_BYTES + events + snapshots


class BeliefCache:
    """Entries by session. What is in use is taken out, so that nothing can be dropped under it.

    What takes little to compute again has a part of the memory only, and only for those who are at
    it: `release_idle`. Whoever has it keeps it, and others go without: if each made way for the
    next, nobody's would be there when they come back.

    Where memory is short, it goes first, that of the longest unused before that of others. Then the
    longest unused let go of what only a further click on the same page would need; when all have
    done so, the longest unused are dropped. clock: seconds, from any moment on.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self.clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, CachedSession] = OrderedDict()
        self._heavy: OrderedDict[str, CachedSession] = OrderedDict()
        self._bytes = 0
        self._spare: OrderedDict[str, tuple[float, int]] = OrderedDict()
        self._spare_bytes = 0
        self.hits = 0
        self.misses = 0
        self.dropped = 0

    def take(self, id: str, counted: bool = True) -> CachedSession | None:
        """Take an entry out, if it is there; counted: among the hits and misses."""
        with self._lock:
            entry = self._remove(id)
            if counted:
                self.hits += entry is not None
                self.misses += entry is None
            return entry

    def peek(self, id: str) -> CachedSession | None:
        """Return an entry that nobody uses now, if it is there, to look at only."""
        return self._entries.get(id)

    def put(self, id: str, entry: CachedSession) -> None:
        """Put an entry back as the one used last; others give way where memory is short."""
        # A belief refers to its session: a session that is dropped with one is not freed at once.
        entry.session.release_caches()
        with self._lock:
            if not self._keep_spare(id, entry.session.spare_bytes):
                entry.session.release_caches(sums=True)
            entry.bytes = entry.measure()
            self._entries[id] = self._heavy[id] = entry
            self._bytes += entry.bytes
            while self._bytes > self.limit and self._spare:
                self._release(self._longest_unused(), sums=True)
            while self._bytes > self.limit and self._heavy:
                self._release(self._heavy.popitem(last=False)[0], columns=True)
            while self._bytes > self.limit and self._entries:
                self._remove(next(iter(self._entries)))
                self.dropped += 1

    def forget(self, id: str) -> None:
        """Drop an entry."""
        with self._lock:
            self._remove(id)

    def release_idle(self) -> None:
        """Let go of what takes little to compute again of those who have not clicked for long.

        One after the other, so that nobody waits for all of them.
        """
        while True:
            with self._lock:
                if not self._idle():
                    return
                self._release(self._longest_unused(), sums=True)

    @property
    def bytes(self) -> int:
        """How many bytes the entries take."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._entries)

    def _keep_spare(self, id: str, size: int) -> bool:
        """Find room for what takes little to compute again; return whether there is."""
        self._forget_spare(id)
        if size == 0:
            return True
        while self._spare_bytes + size > self.limit // _SPARE_SHARE:
            if not self._idle():
                return False
            self._release(self._longest_unused(), sums=True)
        self._spare[id] = self.clock(), size
        self._spare_bytes += size
        return True

    def _idle(self) -> bool:
        """Whether somebody has what takes little to compute again and has not clicked for long."""
        latest = self.clock() - IDLE_SECONDS
        return bool(self._spare) and self._spare[self._longest_unused()][0] <= latest

    def _longest_unused(self) -> str:
        return next(iter(self._spare))

    def _release(self, id: str, columns: bool = False, sums: bool = False) -> None:
        """Have an entry let go of something."""
        entry = self._entries[id]
        if sums:
            self._forget_spare(id)
        self._bytes -= entry.bytes
        entry.session.release_caches(columns, sums)
        entry.bytes = entry.measure()
        self._bytes += entry.bytes

    def _forget_spare(self, id: str) -> None:
        self._spare_bytes -= self._spare.pop(id, (0, 0))[1]

    def _remove(self, id: str) -> CachedSession | None:
        entry = self._entries.pop(id, None)
        self._heavy.pop(id, None)
        self._forget_spare(id)
        if entry is not None:
            self._bytes -= entry.bytes
        return entry


LEAST_CACHE_BYTES = 512_000_000
_MACHINE_SHARE = 8
"""Sessions may have one in so many bytes of the machine, where nobody has said otherwise."""
_GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""The bytes that this process and its like may have, where a container limits them."""


def usual_cache_bytes(workers: int) -> int:
    """Return how many bytes of sessions each of so many processes keeps in memory, by default.

    A session of a million items takes 30 MB: those that are not kept are replayed at every click.
    """
    return max(LEAST_CACHE_BYTES, _machine_bytes() // _MACHINE_SHARE // workers)


def _machine_bytes() -> int:
    """Return how many bytes of memory there are, or 0 where nobody tells."""
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        limit = _GROUP_LIMIT.read_text().strip() if _GROUP_LIMIT.exists() else "max"
    except (OSError, ValueError, AttributeError):
        return 0
    return min(machine, int(limit)) if limit.isdigit() else machine


def return_memory() -> None:
    """Have every large array mapped by itself, so that freeing it frees its memory at once.

    glibc begins like this, but raises the threshold to 32 MB as arrays come and go; from then on
    what sessions leave behind stays with the process in pieces. Other libraries know no such
    setting and need none.
    """
    try:
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE_ARRAY_BYTES)
    except (AttributeError, OSError, TypeError):
        return
