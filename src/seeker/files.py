"""Files that others see whole or not at all, and those of the user's cache, made once."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from seeker.errors import SeekerError


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


CACHE_VARIABLE = "SEEKER_CACHE"
"""The environment variable that names another cache folder."""

_CHECKSUM_DIGITS = 32


def cache_folder() -> Path:
    """Return where Seeker keeps what it can make again, as each system has it."""
    if path := os.environ.get(CACHE_VARIABLE):
        return Path(path)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "seeker"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "seeker"
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules say that a relative path in the variable is to be ignored.
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "seeker"


def cached_file(stem: str, suffix: str, make: Callable[[], bytes]) -> bytes:
    """Return the contents of a cached file, making it if it is missing or damaged.

    The name carries the contents' checksum, so that one rename puts both in place. The stem
    should carry a version: another stem is another file.
    """
    place = cache_folder()
    for path in sorted(place.glob(f"{stem}-*{suffix}")):
        contents = path.read_bytes()
        if path.name == f"{stem}-{_checksum(contents)}{suffix}":
            return contents
    contents = make()
    _write_cached(place / f"{stem}-{_checksum(contents)}{suffix}", contents)
    return contents


def _write_cached(path: Path, contents: bytes) -> None:
    """Write a file so that others see all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(contents)
    except OSError as problem:
        raise SeekerError(
            f"The cache folder '{path.parent}' cannot be written ({problem.strerror}).",
            f"Set {CACHE_VARIABLE} to a folder that can.",
        ) from None


def _checksum(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()[:_CHECKSUM_DIGITS]
