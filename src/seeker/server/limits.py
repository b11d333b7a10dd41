"""How much one client may ask for."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

_MOST = 10_000


class Rate:
    """A bucket of tokens per client, refilled at a rate; 0 lets everything through. Thread-safe."""

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, cost: float = 1.0) -> int:
        """Take tokens; return 0, or after how many seconds a client may ask again, who has none.

        What costs more than there is may be had on credit: the next has to wait for longer.
        """
        if not self._rate:
            return 0
        with self._lock:
            now = self._clock()
            tokens, then = self._buckets.pop(client, (float(self._burst), now))
            tokens = min(float(self._burst), tokens + (now - then) * self._rate)
            allowed = tokens >= 1.0
            self._buckets[client] = (tokens - cost if allowed else tokens, now)
            if len(self._buckets) > _MOST:
                self._buckets.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((1.0 - tokens) / self._rate))
