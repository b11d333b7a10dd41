"""A stop that comes to an end: what hangs is waited for, but not for ever."""

from __future__ import annotations

import os
import sys
import threading

from seeker.server.logs import LOGGER

EXIT_CODE = 7
"""Of a process that was stopped and did not wait any longer for what hung."""

CLOSING = 0.2
"""The part of the time for a stop that is kept for what comes after the last answer."""


def exit_within(seconds: float) -> threading.Timer:
    """End the process after so many seconds, unless it has come to its end, or that is cancelled.

    Threads that wait for a database, or for a disk that does not answer, cannot be ended, and
    Python waits for its threads.
    """
    timer = threading.Timer(seconds, exit_now)
    timer.daemon = True
    timer.start()
    return timer


def exit_now() -> None:
    """End the process although something hangs."""
    LOGGER.error("Stopped without waiting for what hangs.")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(EXIT_CODE)
