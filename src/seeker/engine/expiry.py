"""Which sessions are old: by a clock that is not believed before it has been seen to be steady."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from seeker.stores import ClockReading, Store

BATCH_SESSIONS = 100
"""Sessions that are forgotten in one go: others who write wait for so many at most."""

PIECE_BYTES = 1_000_000
"""Unused space that is given back in one go."""

MIN_TOLERANCE_SECONDS = 2 * 3600.0
_MAX_PAUSE_SECONDS = 1.0
_LOGGER = logging.getLogger("seeker")


@dataclass(frozen=True)
class ClockVerdict:
    """What a look at the clock says.

    reading: what the next look is compared with. before: sessions last active before this time are
    old; None while that cannot be told. jumped: by how many seconds the clock has leapt, 0 if it
    has not.
    """

    reading: ClockReading
    before: float | None
    jumped: float = 0.0


def judge(
    now: float, newest: float | None, previous: ClockReading | None, lifetime: float
) -> ClockVerdict:
    """Return what the clock is worth that shows `now`.

    newest: when a session in the store was last active; it counts where nobody has looked before,
    for whoever has a wrong clock writes by it, too. previous: what was seen at the previous look.

    A clock that is more than a quarter of a lifetime from where it was has jumped: it was or is
    wrong, or the service was off for long. Nothing is old at that look, and from then on the leap
    does not count for the age of the sessions from before it. Once the clock has been steady for a
    lifetime, all sessions that look old are.
    """
    last = newest if previous is None else previous.at
    if last is None:
        return ClockVerdict(ClockReading(now, now), None)
    since, lost = (now, 0.0) if previous is None else (previous.since, previous.lost)
    leap = now - last
    if abs(leap) > max(lifetime / 4, MIN_TOLERANCE_SECONDS):
        if last - since >= lifetime:
            lost = 0.0
        return ClockVerdict(ClockReading(now, now, max(0.0, lost + leap)), None, leap)
    if now - since >= lifetime:
        lost = 0.0
    return ClockVerdict(ClockReading(now, since, lost), now - lifetime - lost)


class Expiry:
    """Forgets sessions that nobody has used for their lifetime."""

    def __init__(self, store: Store, lifetime: float, clock: Callable[[], float]) -> None:
        self._store = store
        self._lifetime = lifetime
        self._clock = clock
        self._reading: ClockReading | None = None
        self._closed = threading.Event()

    def expired(self, active: float) -> bool:
        """Return whether a session that was last active then is old."""
        if self._reading is None:
            self._reading = self._judge().reading
        before = judge(self._clock(), None, self._reading, self._lifetime).before
        return before is not None and active < before

    def maybe_expired(self, active: float) -> bool:
        """Return whether such a session is old, or that cannot be told without the store."""
        return self._reading is None or self.expired(active)

    def run(self) -> int:
        """Look at the clock, forget what is old, give back its space; return how many."""
        verdict = self._judge()
        self._store.note_clock(verdict.reading)
        self._reading = verdict.reading
        if verdict.jumped:
            _LOGGER.warning(
                "clock jumped",
                extra={
                    "fields": {
                        "jumped_seconds": round(verdict.jumped),
                        "clock": round(verdict.reading.at),
                    }
                },
            )
        before = verdict.before
        if before is None:
            return 0
        gone = self._in_batches(lambda: self._store.expire(before, BATCH_SESSIONS), BATCH_SESSIONS)
        self._in_batches(lambda: self._store.reclaim(PIECE_BYTES), 1)
        return gone

    def close(self) -> None:
        """Stop after the batch under way."""
        self._closed.set()

    def _judge(self) -> ClockVerdict:
        return judge(self._clock(), *self._store.clock(), self._lifetime)

    def _in_batches(self, work: Callable[[], int], least: int) -> int:
        """Do a piece of work until it does less than `least`; others get as much time as it."""
        total = 0
        while not self._closed.is_set():
            began = time.monotonic()
            count = work()
            total += count
            if count < least:
                break
            self._closed.wait(min(_MAX_PAUSE_SECONDS, time.monotonic() - began))
        return total
