"""A folder for what Ray writes on this machine: one for each process that starts Ray, and no more.

It goes when the process ends. Where that was not possible, because the process was killed, the next
one to start Ray tidies up: whoever lives holds a lock in its folder.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

_PREFIX = "seeker-ray-"
_LOCK = "lock"
_LONGEST = 18
"""Letters of the folder around ours: Ray puts sockets inside, whose names end at 103 on macOS."""


def made() -> tuple[Path, Callable[[], None]]:
    """Return a new folder, and what removes it."""
    import fcntl

    usual = Path(tempfile.gettempdir())
    around = usual if len(str(usual)) <= _LONGEST else Path("/tmp")
    _tidy(around)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=around))
    lock = (folder / _LOCK).open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()

    return folder, remove


def _tidy(around: Path) -> None:
    """Remove the folders of processes that are gone."""
    import fcntl

    for lock in around.glob(f"{_PREFIX}*/{_LOCK}"):
        try:
            with lock.open("r+") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
        except OSError:
            continue  # its process lives, or it is somebody else's
