"""Many rows in runs, so that what is computed on the way stays small."""

from __future__ import annotations

from collections.abc import Iterator

_RUN = 16_384


def runs(count: int) -> Iterator[slice]:
    """Yield slices that cover so many rows, in order."""
    for start in range(0, count, _RUN):
        yield slice(start, min(start + _RUN, count))
