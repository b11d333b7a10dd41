"""Files of a catalog folder, reached through no link that leads out of it.

A catalog may come from elsewhere, and what is in its folder may be a link to anywhere. The folder
itself may be reached by links, for that is its owner's choice. What is read may be behind links
that stay in the folder; whatever is written or deleted is reached from folder to folder through
open descriptors, none of which is a link. A link that is put there between a look and a deed is not
followed either.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from seeker.errors import Conflict

# Windows opens no folders; there names are looked at before they are used.
_HAS_DESCRIPTORS = os.open in os.supports_dir_fd and os.unlink in os.supports_dir_fd
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


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


class LinkInside(Conflict):
    """Something would have to be written or deleted behind a link."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"'{path}' is a link or no folder, and Seeker writes and deletes nothing behind links.",
            "Put a real folder in its place, or link the whole catalog folder instead.",
        )


class OpenFolder:
    """A folder that is held open; names are plain names in it."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    @contextmanager
    def at(cls, path: Path) -> Iterator[OpenFolder]:
        """Open a folder that somebody names; links on the way are followed."""
        real = Path(os.path.realpath(path))
        if not _HAS_DESCRIPTORS:
            yield cls(real, None)
            return
        descriptor = os.open(real, _FOLDER_FLAGS)
        try:
            yield cls(path, descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def folder(self, name: str, make: bool = False) -> Iterator[OpenFolder]:
        """Open a folder in this one; LinkInside if it is a link, FileNotFoundError if nothing."""
        if make:
            with suppress(FileExistsError):
                os.mkdir(self._at(name), dir_fd=self._descriptor)
        status = self.look(name)
        if status is None:
            raise FileNotFoundError(os.fspath(self.path / name))
        if not _is_folder(status):
            raise LinkInside(self.path / name)
        if self._descriptor is None:
            yield OpenFolder(self.path / name, None)
            return
        try:
            descriptor = os.open(name, _FOLDER_FLAGS, dir_fd=self._descriptor)
        except NotADirectoryError:
            raise LinkInside(self.path / name) from None
        except OSError as error:
            if stat.S_ISLNK(os.lstat(name, dir_fd=self._descriptor).st_mode):
                raise LinkInside(self.path / name) from None
            raise error
        try:
            yield OpenFolder(self.path / name, descriptor)
        finally:
            os.close(descriptor)

    def names(self) -> list[str]:
        """Return the names of what is in the folder, in order."""
        return sorted(os.listdir(self.path if self._descriptor is None else self._descriptor))

    def look(self, name: str) -> os.stat_result | None:
        """Return what has a name, a link being a link; None if nothing has."""
        try:
            return os.lstat(self._at(name), dir_fd=self._descriptor)
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> int:
        """Remove a file, or a link and not what it leads to; return how many bytes it had."""
        status = self.look(name)
        if status is None:
            return 0
        os.unlink(self._at(name), dir_fd=self._descriptor)
        return status.st_size

    def remove_if_empty(self, name: str) -> None:
        """Remove a folder with nothing in it."""
        try:
            os.rmdir(self._at(name), dir_fd=self._descriptor)
        except OSError:
            return

    def take(self, source: OpenFolder, name: str, as_name: str | None = None) -> None:
        """Move something here from another folder, in the place of what has the name."""
        os.replace(
            source._at(name),
            self._at(as_name or name),
            src_dir_fd=source._descriptor,
            dst_dir_fd=self._descriptor,
        )

    def write(self, name: str, contents: bytes) -> None:
        """Put a file in the place of what has the name, at once or not at all."""
        aside = f"{name}.new"
        self.remove(aside)
        descriptor = os.open(self._at(aside), _CREATE_FLAGS, 0o666, dir_fd=self._descriptor)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(contents)
            handle.flush()
            os.fsync(handle.fileno())
        self.take(self, aside, name)
        self.sync()

    def sync(self) -> None:
        """Make sure that what was renamed here outlives a loss of power."""
        # Windows has no such call for folders; its file system keeps a journal of renames.
        if self._descriptor is not None:
            os.fsync(self._descriptor)

    def _at(self, name: str) -> str:
        if name in ("", ".", "..") or "/" in name or os.sep in name:
            raise ValueError(f"{name!r} is not a plain name")
        return name if self._descriptor is not None else os.fspath(self.path / name)


def real_folder(path: Path) -> Path:
    """Make a folder unless it is there; LinkInside if a link has its name."""
    while True:
        try:
            path.mkdir()
            return path
        except FileExistsError:
            with suppress(FileNotFoundError):  # whoever had it has just removed it: once more
                if not _is_folder(path.lstat()):
                    raise LinkInside(path) from None
                return path


def new_file(path: Path) -> BinaryIO:
    """Open a new file to write to; what had its name, a link perhaps, is removed."""
    path.unlink(missing_ok=True)
    return path.open("xb")


def remove_tree(path: Path) -> None:
    """Remove a folder and all in it, or a link and not what it leads to, as far as possible."""
    try:
        status = path.lstat()
    except OSError:
        return
    if _is_folder(status):
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_folder(status: os.stat_result) -> bool:
    """Return whether this is a folder and no kind of link; Windows has several kinds."""
    return stat.S_ISDIR(status.st_mode) and not getattr(status, "st_reparse_tag", 0)
