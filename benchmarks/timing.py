"""How long some work takes."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Do some work once, and return how many seconds it took."""
    start = clock()
    work()
    return clock() - start
