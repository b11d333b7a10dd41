"""How failures are told: one sentence, and an exit code."""

from __future__ import annotations

import os
import sqlite3
import sys

import click

from seeker.errors import SeekerError

INTERRUPTED = 130


class Stopped(SeekerError):
    """The person at the keyboard stopped a command."""

    exit_code = INTERRUPTED
    title = "Stopped"


def said(error: Exception) -> int:
    """Tell what went wrong and return the exit code; what nobody foresaw is raised again."""
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
    if isinstance(error, OSError):
        where = f" ('{error.filename}')" if error.filename else ""
        _say(f"The operating system refused: {error.strerror or error}{where}.")
        return 1
    if isinstance(error, sqlite3.Error):
        _say(f"The item table cannot be written or read: {error}.")
        return 1
    raise error


def _say(sentence: str) -> None:
    click.echo(click.style("seeker: ", fg="red") + sentence, err=True)
