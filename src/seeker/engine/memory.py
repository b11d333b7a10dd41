"""Memory that is let go of goes back to the system, so that the limit of the cache is a limit."""

from __future__ import annotations

import ctypes

_MMAP_THRESHOLD = -3
_LARGE = 128 * 1024


def give_back() -> None:
    """Have every large array mapped by itself, so that freeing it frees its memory at once.

    glibc begins like this, but raises the threshold to 32 MB as arrays come and go; from then on
    what sessions leave behind stays with the process in pieces. Other libraries know no such
    setting and need none.
    """
    try:
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)
    except (AttributeError, OSError, TypeError):
        return
