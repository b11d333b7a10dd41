"""How long some work takes, beside one reading of the memory: no exact pass can be quicker."""

from __future__ import annotations

import itertools
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

import seeker


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Do some work once, and return how many seconds it took."""
    start = clock()
    work()
    return clock() - start


def latencies(times: Mapping[str, Sequence[float]], unit: float) -> dict[str, dict[str, float]]:
    """Return medians and 95th percentiles of milliseconds, by name, also as ratios to a unit."""
    summary = {}
    for name, taken in times.items():
        median, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
        summary[name] = {
            "median_ms": median,
            "p95_ms": p95,
            "median_ratio": median / unit,
            "p95_ratio": p95 / unit,
        }
    return summary


def machine_facts() -> dict[str, Any]:
    """Return what a result says of the machine it was measured on, and of the version."""
    return {
        "version": seeker.__version__,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "load": os.getloadavg()[0],
    }


def ratio_rows(
    times: Mapping[str, Mapping[str, float]],
    lines: Mapping[str, str],
    rest: Callable[[Mapping[str, float]], str],
) -> list[str]:
    """Return rows of Markdown with the ratios of `latencies`.

    lines: by name, what a row is about. rest: what stands in its other columns.
    """
    return [
        f"| {words} | {times[name]['median_ratio']:.2f} | {times[name]['p95_ratio']:.2f} "
        f"| {rest(times[name])} |"
        for name, words in lines.items()
    ]


class MemoryReader:
    """Reads arrays once per call, doing next to nothing with them: the unit of what a click costs.

    cores: how many read at the same time, all unless another number is given; few bytes are read
    sooner by one, for handing them over takes time, too.
    """

    def __init__(self, *arrays: NDArray[Any], cores: int | None = None) -> None:
        cores = cores or len(os.sched_getaffinity(0))
        self._parts = [part for one in arrays for part in _parts(one, cores)]
        self._map = ThreadPoolExecutor(cores).map if cores > 1 else map

    def __call__(self) -> None:
        list(self._map(np.bitwise_or.reduce, self._parts))


def _parts(array: NDArray[Any], count: int) -> list[NDArray[Any]]:
    """Cut an array into parts of nearly the same size, as words of eight bytes."""
    whole = array.reshape(-1).view(np.uint8)
    words = whole[: len(whole) // 8 * 8].view(np.uint64)
    ends = [len(words) * part // count for part in range(count + 1)]
    return [words[start:stop] for start, stop in itertools.pairwise(ends)]
