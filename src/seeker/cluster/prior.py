"""A log-prior over a large catalog, in one small part for every shard."""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np

from seeker.cluster.priorpart import PriorPart
from seeker.cluster.ranges import Range
from seeker.types import Doubles, Rows


class Prior:
    """A log-prior over a catalog, in one part for every shard; read like an array, (items,)."""

    def __init__(self, logs: Doubles, ranges: tuple[Range, ...]) -> None:
        self.ranges = ranges
        self.parts = tuple(PriorPart.of(logs[one.first : one.last]) for one in ranges)
        self._firsts = np.array([one.first for one in ranges], np.int64)

    @cached_property
    def name(self) -> str:
        """A name for exactly these numbers."""
        digest = hashlib.sha256()
        for part in self.parts:
            digest.update(repr((part.count, part.usual)).encode())
            for array in (part.open, part.places, part.values, part.whole):
                digest.update(b"-" if array is None else array.tobytes())
        return digest.hexdigest()[:32]

    @property
    def nbytes(self) -> int:
        """How many bytes this takes."""
        return sum(part.nbytes for part in self.parts)

    def __getitem__(self, rows: int | Rows) -> Doubles:
        """Return the log-probabilities at some rows, of the rows' shape."""
        asked = np.asarray(rows, np.int64)
        flat = asked.reshape(-1)
        out = np.empty(len(flat))
        shards = np.searchsorted(self._firsts, flat, "right") - 1
        for shard in np.unique(shards):
            mine = shards == shard
            out[mine] = self.parts[shard].at(flat[mine] - self.ranges[shard].first)
        return out.reshape(asked.shape)

    @cached_property
    def before(self) -> Rows:
        """How many items are possible before every part, and in all: (parts + 1,)."""
        counts = [part.possible for part in self.parts]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def rank(self, rows: Rows) -> Rows:
        """Return how many items are possible before each of some rows, (rows,)."""
        out = np.empty(len(rows), np.int64)
        shards = np.searchsorted(self._firsts, rows, "right") - 1
        for shard in np.unique(shards):
            mine, first = shards == shard, self.ranges[shard].first
            inside = np.searchsorted(self.parts[shard].places_possible(), rows[mine] - first)
            out[mine] = self.before[shard] + inside
        return out

    def select(self, places: Rows) -> Rows:
        """Return the rows of the possible items at some places among these, (places,)."""
        out = np.empty(len(places), np.int64)
        shards = np.searchsorted(self.before[1:], places, "right")
        for shard in np.unique(shards):
            mine, first = shards == shard, self.ranges[shard].first
            out[mine] = (
                self.parts[shard].places_possible()[places[mine] - self.before[shard]] + first
            )
        return out
