"""The user's cache folder, and files in it that are made once and checked at every reading."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from seeker.errors import SeekerError
from seeker.files import atomic_write

VARIABLE = "SEEKER_CACHE"
"""The environment variable that names another cache folder."""

_CHECKSUM_DIGITS = 32


def folder() -> Path:
    """Return where Seeker keeps what it can make again, as each system has it."""
    if path := os.environ.get(VARIABLE):
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
    place = folder()
    for path in sorted(place.glob(f"{stem}-*{suffix}")):
        contents = path.read_bytes()
        if path.name == f"{stem}-{_checksum(contents)}{suffix}":
            return contents
    contents = make()
    _write(place / f"{stem}-{_checksum(contents)}{suffix}", contents)
    return contents


def _write(path: Path, contents: bytes) -> None:
    """Write a file so that others see all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(contents)
    except OSError as problem:
        raise SeekerError(
            f"The cache folder '{path.parent}' cannot be written ({problem.strerror}).",
            f"Set {VARIABLE} to a folder that can.",
        ) from None


def _checksum(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()[:_CHECKSUM_DIGITS]
