"""The belief cache: sessions as they were last used, bounded by memory, oldest out first."""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from seeker.catalog import Catalog
from seeker.engine.snapshot import BeliefSummary, SessionSnapshot
from seeker.session import Belief, Session

_MMAP_THRESHOLD = -3
_LARGE = 128 * 1024


def return_memory() -> None:
    """Have every large array mapped by itself, so that freeing it frees its memory at once.

    glibc begins like this, but raises the threshold to 32 MB as arrays come and go; from then on
    what sessions leave behind stays with the process in pieces. Other libraries know no such
    setting and need none.
    """
    try:
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)
    except (AttributeError, OSError, TypeError):
        return


_BESIDES = 16_384
_PER_EVENT = 2_048
_PER_RATING = 64
"""Every state that an undo may bring back holds the ratings of its time."""

_ANSWERS = 4
_PER_ITEM = 1_024
_PER_THING_DONE = 128


@dataclass
class CachedSession:
    """A session in memory, of a catalog with a name.

    length: how many of its events it holds. active: when the last of them happened, in seconds
    since 1970. bytes: what it took when it was last put back. provisional: the summary was made
    while part of the catalog could not be asked, and is to be made anew. answers: what was shown at
    earlier lengths to requests that may be made again, the latest few.
    """

    session: Session
    name: str
    catalog: Catalog
    length: int
    active: float
    summary: BeliefSummary | None = None
    provisional: bool = False
    bytes: int = field(default=0)
    answers: OrderedDict[int, SessionSnapshot] = field(default_factory=OrderedDict)

    def remember(self, shown: SessionSnapshot) -> None:
        """Keep an answer for when it is asked for again, unless a part of it was missing."""
        if not shown.page.partial:
            self.answers[shown.length] = shown
            self.answers.move_to_end(shown.length)
            while len(self.answers) > _ANSWERS:
                self.answers.popitem(last=False)

    def sum_up(self, belief: Belief) -> None:
        """Keep a belief in a few numbers; this reads all items."""
        self.summary, self.provisional = BeliefSummary.of(belief), belief.partial

    def measured(self) -> int:
        """Return about how many bytes this entry takes: its arrays, and an estimate of the rest."""
        ratings = _PER_RATING * len(self.session.state.ratings)
        besides = _BESIDES + (_PER_EVENT + ratings) * self.length + self.session.asked_bytes
        answers = sum(
            _PER_ITEM * len(one.page) + _PER_THING_DONE * len(one.history)
            for one in self.answers.values()
        )
        return self.session.nbytes + besides + answers


class BeliefCache:
    """Entries by session. What is in use is taken out, so that nothing can be dropped under it.

    Where memory is short, the longest unused first let go of what only a further click on the same
    page would need; when all have done so, the longest unused are dropped.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, CachedSession] = OrderedDict()
        self._heavy: OrderedDict[str, CachedSession] = OrderedDict()
        self._bytes = 0
        self.hits = 0
        self.misses = 0
        self.dropped = 0

    def take(self, id: str, counted: bool = True) -> CachedSession | None:
        """Take an entry out, if it is there; counted: among the hits and misses."""
        with self._lock:
            entry = self._out(id)
            if counted:
                self.hits += entry is not None
                self.misses += entry is None
            return entry

    def put(self, id: str, entry: CachedSession) -> None:
        """Put an entry back as the one used last; others give way where memory is short."""
        # A belief refers to its session: a session that is dropped with one is not freed at once.
        entry.session.release_caches()
        entry.bytes = entry.measured()
        with self._lock:
            self._entries[id] = self._heavy[id] = entry
            self._bytes += entry.bytes
            while self._bytes > self.limit and self._heavy:
                _, first = self._heavy.popitem(last=False)
                self._bytes -= first.bytes
                first.session.release_caches(columns=True)
                first.bytes = first.measured()
                self._bytes += first.bytes
            while self._bytes > self.limit and self._entries:
                self._out(next(iter(self._entries)))
                self.dropped += 1

    def forget(self, id: str) -> None:
        """Drop an entry."""
        with self._lock:
            self._out(id)

    @property
    def bytes(self) -> int:
        """How many bytes the entries take."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._entries)

    def _out(self, id: str) -> CachedSession | None:
        entry = self._entries.pop(id, None)
        self._heavy.pop(id, None)
        if entry is not None:
            self._bytes -= entry.bytes
        return entry
