"""Where catalogs and sources are: paths as people give them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from seeker.catalog.values import short
from seeker.errors import BadInput

PathLike = str | os.PathLike[str]


def path_of(given: object, what: str) -> Path:
    """Return a path that was given; what: said of it, as in 'the path of a catalog'."""
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(text, str) or not text or "\0" in text:
        raise BadInput(f"{short(given)} is not {what}.", "Give a text or a pathlib.Path.")
    return Path(text)


class LeadsOut(OSError):
    """A name in a folder is a link, or behind a link, that leads out of it."""


class NotPlain(OSError):
    """A name is not that of a plain file: reading a pipe or a device might never end."""


@contextmanager
def open_inside(folder: Path, file: str) -> Iterator[BufferedReader]:
    """Open a file of a catalog to read; links may lead about in the folder, but not out of it."""
    path = real_path(folder, file)
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
    # Without these, a pipe would be waited for, and a link that has come meanwhile followed.
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise NotPlain(file) from None
        raise
    with os.fdopen(descriptor, "rb") as handle:
        if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
            raise NotPlain(file)
        yield handle


def real_path(folder: Path, file: str) -> Path:
    """Return where a file of a catalog really is; LeadsOut if that is not in the folder."""
    root, path = Path(os.path.realpath(folder)), Path(os.path.realpath(folder / file))
    if not path.is_relative_to(root):
        raise LeadsOut(file)
    if path.is_dir():
        raise NotPlain(file)
    return path


def work_folder(target: Path) -> Path:
    """Return where a catalog is built: beside its place, so that a rename puts it there.

    One catalog has one such place, and one lock, by whatever links it is reached.
    """
    real = Path(os.path.realpath(target))
    return real.with_name(f"{real.name}.building")
