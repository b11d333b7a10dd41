"""The speed of the memory, which is the unit of what a click costs; and how much of it is held."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


class Reader:
    """Reads arrays once per call, doing next to nothing with them: no exact pass can be quicker.

    cores: how many read at the same time, all unless said; few bytes are read sooner by one, for
    handing them over takes time, too.
    """

    def __init__(self, *arrays: Array, cores: int | None = None) -> None:
        cores = cores or len(os.sched_getaffinity(0))
        self._parts = [part for one in arrays for part in _parts(one, cores)]
        self._map = ThreadPoolExecutor(cores).map if cores > 1 else map

    def __call__(self) -> None:
        list(self._map(np.bitwise_or.reduce, self._parts))


def _parts(array: Array, count: int) -> list[Array]:
    """Cut an array into parts of nearly the same size, as words of eight bytes."""
    whole = array.reshape(-1).view(np.uint8)
    words = whole[: len(whole) // 8 * 8].view(np.uint64)
    ends = [len(words) * part // count for part in range(count + 1)]
    return [words[start:stop] for start, stop in itertools.pairwise(ends)]


def held(kind: str, process: int | None = None) -> int:
    """Return the bytes of memory that a process holds, this one unless another is named.

    kind: as Linux names it. "Anonymous" is what a process has for itself, without mapped files;
    "Pss" is all of it, shared parts divided by how many share them.
    """
    told = Path(f"/proc/{process or os.getpid()}/smaps_rollup").read_text()
    return sum(
        1024 * int(line.split()[1]) for line in told.splitlines() if line.startswith(f"{kind}:")
    )
