"""One at a time: a lock that the operating system lets go of when its holder dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seeker.catalog.nofollow import LinkInside, real_folder, remove_tree
from seeker.errors import Conflict

WAIT_SECONDS = 30.0
"""For how long a change of a catalog waits for another one to finish."""

_POLL_SECONDS = 0.02


@contextmanager
def file_lock(file: Path, what: str, wait: float = 0.0) -> Iterator[None]:
    """Hold a lock; Conflict if somebody else does, and does not let go within `wait` seconds.

    what: said of them, as in 'is being built'. The folder of the file is made if need be.
    """
    end = time.monotonic() + wait
    descriptor = _take_lock(file)
    while descriptor is None:
        if time.monotonic() >= end:
            raise Conflict(
                f"{what} by another process at this moment.", "Wait until it has finished."
            )
        time.sleep(_POLL_SECONDS)
        descriptor = _take_lock(file)
    try:
        yield
    finally:
        os.close(descriptor)


def clear(work: Path) -> None:
    """Remove a work folder whose lock is held, the lock last: without it others may come in."""
    for entry in [*work.iterdir()]:
        if entry.name != "lock":
            remove_tree(entry)
    try:
        (work / "lock").unlink(missing_ok=True)
        work.rmdir()
    except OSError:
        # Somebody has come in already, or the system keeps open files (Windows).
        return


def _take_lock(file: Path) -> int | None:
    """Return the descriptor of a lock that was taken; None if others have it."""
    real_folder(file.parent)
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except FileNotFoundError:
        return None  # the folder went this moment, with the lock of the one before
    except OSError:
        if file.is_symlink():
            raise LinkInside(file) from None
        raise
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever held it may have removed the file since: then this is a lock of nothing.
        if os.path.samestat(os.fstat(descriptor), os.stat(file)):
            return descriptor
    except (BlockingIOError, PermissionError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None
