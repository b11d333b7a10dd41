"""Which rows of a catalog are in which shard."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from seeker.errors import BadInput
from seeker.types import Rows

MOST = 4096


@dataclass(frozen=True)
class Range:
    """The rows from first to before last."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first

    def __contains__(self, row: object) -> bool:
        return isinstance(row, int) and self.first <= row < self.last

    def local(self, rows: Rows) -> Rows:
        """Return those of the rows that are in this range, counted from its beginning."""
        return rows[(rows >= self.first) & (rows < self.last)] - self.first


def split(count: int, shards: int) -> tuple[Range, ...]:
    """Cut the rows of a catalog into runs of even length; no shard is empty."""
    if not isinstance(shards, int) or isinstance(shards, bool) or not 1 <= shards <= MOST:
        raise BadInput(f"shards is {shards!r}, but it must be a whole number from 1 to {MOST:,}.")
    if shards > count:
        raise BadInput(
            f"{count:,} items cannot be split into {shards:,} shards.", "Use fewer shards."
        )
    ends = [count * part // shards for part in range(shards + 1)]
    return tuple(Range(first, last) for first, last in pairwise(ends))
