"""The log-prior of a shard's items, kept small: most share one value or are ruled out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seeker.types import Doubles, Rows

_SAMPLE = 1024
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1).astype(np.int64)
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
        return int(_ONES[self.open].sum())

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
            found = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
            out = np.where(self.places[found] == places, self.values[found], out)
        return out


def _usual(values: Doubles) -> float:
    """Return the value that most of a sample of values have."""
    if not len(values):
        return 0.0
    sample = values[np.linspace(0, len(values) - 1, min(len(values), _SAMPLE)).astype(np.int64)]
    found, counts = np.unique(sample, return_counts=True)
    return float(found[np.argmax(counts)])
