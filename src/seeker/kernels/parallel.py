"""Work over all items, split over the cores, and given up when something more urgent comes."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeAlias, TypeVar

from seeker.types import Doubles

BLOCK = 8000
"""Items per piece of work: its columns fit the second cache; not a power of two, which would put
all columns into the same few cache lines."""

WORTH_A_THREAD = 2 * BLOCK
WORTH_A_SCAN = 200_000

_NICENESS = 5
_MAX_INNER = 8192

Result = TypeVar("Result")


@cache
def _pool(pid: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="seeker", initializer=_give_way)


def _give_way() -> None:
    """Let this thread, which only has long work to do, come after those that somebody waits for."""
    if sys.platform == "linux":  # elsewhere only whole processes have a niceness
        thread = threading.get_native_id()
        now = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, now + _NICENESS)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_blocks(count: int, work: Callable[[int, int], None], first: int = 0) -> None:
    """Call work(start, stop) for consecutive blocks that cover range(first, first + count)."""
    end = first + count
    if count <= BLOCK:
        if count:
            work(first, end)
        return
    blocks = [(start, min(start + BLOCK, end)) for start in range(first, end, BLOCK)]
    parts = min(cores(), -(-count // WORTH_A_THREAD))
    if parts < 2:
        for start, stop in blocks:
            work(start, stop)
        return

    def run(part: int) -> None:
        for start, stop in blocks[part::parts]:
            work(start, stop)

    for done in [_pool(os.getpid()).submit(run, part) for part in range(parts)]:
        done.result()


def in_parts(count: int, work: Callable[[int, int], Result]) -> list[Result]:
    """Return work(start, stop) for as many even parts of range(count) as there are cores."""
    parts = min(cores(), -(-count // WORTH_A_SCAN))
    ends = [count * part // parts for part in range(parts + 1)]
    if parts < 2:
        return [work(0, count)]
    pool = _pool(os.getpid())
    begun = [pool.submit(work, *run) for run in pairwise(ends[:-1])]
    last = work(ends[-2], count)
    return [*(done.result() for done in begun), last]


def inner(one: Doubles, other: Doubles) -> float:
    """Return the inner product of two vectors, the same whatever cores there are.

    Longer ones BLAS would split over threads of its own, which then turn in a circle for 25 ms, in
    case there is more to do: beside a click in 20,000 items that was half of all work.
    """
    pieces = range(0, len(one), _MAX_INNER)
    return float(sum(one[at : at + _MAX_INNER] @ other[at : at + _MAX_INNER] for at in pieces))


Stop: TypeAlias = Callable[[], bool]
"""Asked every so often by long work: whether it should stop."""


class Interrupted(Exception):
    """Work over all items was stopped; what it was for can be asked for again."""


def never() -> bool:
    """Never stop."""
    return False
