"""The belief cache: sessions as they were last seen, bounded by memory, oldest out first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from seeker.catalog import Catalog
from seeker.engine.shown import Summary
from seeker.session import Session

_BESIDES = 16_384
_PER_EVENT = 2_048
_PER_ITEM = 16
"""A belief and a ranking that were asked for stay with a session and are not among its nbytes."""


@dataclass
class Entry:
    """A session in memory; length: how many of its events it holds; bytes: when last put back."""

    session: Session
    catalog: Catalog
    length: int
    summary: Summary | None = None
    bytes: int = field(default=0)

    def measured(self) -> int:
        """Return about how many bytes this entry takes: its arrays, and an estimate of the rest."""
        besides = _BESIDES + _PER_EVENT * self.length + _PER_ITEM * len(self.catalog)
        return self.session.nbytes + besides


class BeliefCache:
    """Entries by session. What is in use is taken out, so that nothing can be dropped under it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._bytes = 0
        self.hits = 0
        self.misses = 0
        self.dropped = 0

    def take(self, id: str, counted: bool = True) -> Entry | None:
        """Take an entry out, if it is there; counted: among the hits and misses."""
        with self._lock:
            entry = self._entries.pop(id, None)
            if entry is not None:
                self._bytes -= entry.bytes
            if counted:
                self.hits += entry is not None
                self.misses += entry is None
            return entry

    def put(self, id: str, entry: Entry) -> None:
        """Put an entry back as the one used last; others go where memory is short."""
        entry.bytes = entry.measured()
        with self._lock:
            self._entries[id] = entry
            self._bytes += entry.bytes
            while self._bytes > self.limit and self._entries:
                _, gone = self._entries.popitem(last=False)
                self._bytes -= gone.bytes
                self.dropped += 1

    def forget(self, id: str) -> None:
        """Drop an entry."""
        with self._lock:
            entry = self._entries.pop(id, None)
            if entry is not None:
                self._bytes -= entry.bytes

    @property
    def bytes(self) -> int:
        """How many bytes the entries take."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._entries)
