"""A log-prior over a large catalog, in one small part for every shard."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seeker.cluster.partition import RowRange
from seeker.types import Doubles, Rows

_SAMPLE_VALUES = 1024
_BIT_COUNTS = (
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1).astype(np.int64)
)
"""How many bits of a byte are set, (256,)."""


@dataclass(frozen=True, eq=False)
class PriorPart:
    """The log-prior of some neighbouring items, without loss.

    open: which of them are possible, one bit each. usual: the value that most of these have.
    places, values: the others. whole: all values, where most differ.
    """

    count: int
    open: NDArray[np.uint8]
    usual: float
    places: Rows
    values: Doubles
    whole: Doubles | None = None

    @classmethod
    def of(cls, logs: Doubles) -> PriorPart:
        """Pack log-probabilities, (items,)."""
        possible = logs > -np.inf
        bits = np.packbits(possible)
        usual = _usual(logs[possible])
        places = np.flatnonzero(possible & (logs != usual))
        if 4 * len(places) > len(logs):
            nothing = np.empty(0)
            return cls(len(logs), bits, usual, nothing.astype(np.int64), nothing, logs.copy())
        return cls(len(logs), bits, usual, places, logs[places])

    def unpacked(self) -> Doubles:
        """Return the log-probabilities, (items,)."""
        if self.whole is not None:
            return self.whole
        logs = np.full(self.count, -np.inf)
        logs[np.unpackbits(self.open, count=self.count).view(bool)] = self.usual
        logs[self.places] = self.values
        return logs

    @property
    def nbytes(self) -> int:
        """How many bytes this takes."""
        arrays = (self.open, self.places, self.values, self.whole)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def possible(self) -> int:
        """How many of the items are possible."""
        return int(_BIT_COUNTS[self.open].sum())

    def places_possible(self) -> Rows:
        """Return the possible items, counted from the beginning of the part, (possible,)."""
        return np.flatnonzero(np.unpackbits(self.open, count=self.count))

    def at(self, places: Rows) -> Doubles:
        """Return the log-probabilities of some items of the part, (places,)."""
        if self.whole is not None:
            return self.whole[places]
        bits = self.open[places >> 3] >> (7 - (places & 7)).astype(np.uint8) & 1
        out = np.where(bits.astype(bool), self.usual, -np.inf)
        if len(self.places):
            nearest = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
            out = np.where(self.places[nearest] == places, self.values[nearest], out)
        return out


def _usual(values: Doubles) -> float:
    """Return the value that most of a sample of values have."""
    if not len(values):
        return 0.0
    sample = values[
        np.linspace(0, len(values) - 1, min(len(values), _SAMPLE_VALUES)).astype(np.int64)
    ]
    different, counts = np.unique(sample, return_counts=True)
    return float(different[np.argmax(counts)])


class Prior:
    """A log-prior over a catalog, in one part for every shard; read like an array, (items,)."""

    def __init__(self, logs: Doubles, ranges: tuple[RowRange, ...]) -> None:
        self.ranges = ranges
        self.parts = tuple(PriorPart.of(logs[rows.first : rows.last]) for rows in ranges)
        self._firsts = np.array([rows.first for rows in ranges], np.int64)

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
        rows = np.asarray(rows, np.int64)
        flat = rows.reshape(-1)
        out = np.empty(len(flat))
        shards = np.searchsorted(self._firsts, flat, "right") - 1
        for shard in np.unique(shards):
            mine = shards == shard
            out[mine] = self.parts[shard].at(flat[mine] - self.ranges[shard].first)
        return out.reshape(rows.shape)

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
