"""Files that others see whole or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_write(path: Path, sync: bool = True) -> Iterator[BinaryIO]:
    """Open a new file to write; at the end it takes the place of what is at `path`, at once.

    It is written beside that place, under a name of this thread's own and through no link. If
    anything fails, what was there stays. sync: bring it to disk first, so that a loss of power
    leaves the old file or the new one, and not an empty one.
    """
    aside = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    aside.unlink(missing_ok=True)
    try:
        with aside.open("xb") as handle:
            yield handle
            if sync:
                handle.flush()
                os.fsync(handle.fileno())
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
