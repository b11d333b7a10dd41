"""One at a time: a lock that the operating system lets go of when its holder dies."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seeker.errors import Conflict


@contextmanager
def alone(file: Path, what: str) -> Iterator[None]:
    """Hold a lock; Conflict if somebody else does. what: said of them, as in 'is being built'."""
    with file.open("a+b") as handle:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise Conflict(
                f"{what} by another process at this moment.", "Wait until it has finished."
            ) from None
        yield
