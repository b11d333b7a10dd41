"""How failures are told: one sentence, and an exit code."""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import NamedTemporaryFile

import click

from seeker import __version__
from seeker.errors import NotFound, SeekerError

INTERRUPTED = 130

_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_NO_MEMORY = (
    "There is not enough memory for this. Close other programs, use a machine with more, or make "
    "the catalog smaller (--dtype int8)."
)


class CommandStopped(SeekerError):
    """The person at the keyboard stopped a command."""

    exit_code = INTERRUPTED


@contextmanager
def resumable() -> Iterator[None]:
    """Say, when work is stopped from the keyboard, that it can go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise CommandStopped(
            "Stopped.", "Run the same command again, and it goes on where it was."
        ) from None


def report_errors(error: Exception) -> int:
    """Tell what went wrong and return the exit code."""
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, click.Abort):
        _say("Stopped.")
        return INTERRUPTED
    if isinstance(error, SeekerError):
        _say(str(error))
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        # Whoever read the output has had enough; without this, Python complains at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, MemoryError):
        _say(_NO_MEMORY)
        return 1
    if isinstance(error, FileNotFoundError) and error.filename:
        _say(f"There is no file or folder '{error.filename}'.")
        return NotFound.exit_code
    if isinstance(error, OSError):
        _say(_refused(error))
        return 1
    if isinstance(error, sqlite3.Error):
        _say(f"The item table cannot be written or read: {error}.")
        return 1
    _say(_unforeseen(error))
    return 1


def _unforeseen(error: Exception) -> str:
    """Return a sentence about a mistake of ours, and keep what is needed to mend it in a file."""
    with NamedTemporaryFile(
        "w", encoding="utf-8", prefix="seeker-", suffix=".txt", delete=False
    ) as file:
        file.write(f"Seeker {__version__}, Python {sys.version}\n")
        file.writelines(traceback.format_exception(error))
    return (
        f"This is a mistake in Seeker, not yours: {type(error).__name__}. Where it happened is in "
        f"'{file.name}'; please report it."
    )


def _refused(error: OSError) -> str:
    """Return a sentence about what the operating system did not allow."""
    where = f" '{error.filename}'" if error.filename else ""
    if error.errno in _FORBIDDEN:
        return f"There is no right to read or write{where or ' there'}. Choose another place."
    if error.errno in _FULL:
        at = f" at{where}" if where else ""
        return (
            f"The disk is full{at}, or files may not grow as large as is needed. Make space and "
            "run the same command again; a build goes on where it was."
        )
    if error.errno == errno.ENOMEM:
        return _NO_MEMORY
    return f"The operating system refused: {error.strerror or error}{where and f' ({where[1:]})'}."


def _say(sentence: str) -> None:
    click.echo(click.style("seeker: ", fg="red") + sentence, err=True)
