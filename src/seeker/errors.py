"""What can go wrong, said in one sentence a person can act on."""

from __future__ import annotations

import shlex
from reprlib import Repr
from typing import TypeVar

_MAX_REPR_CHARACTERS = 120
_repr = Repr()
_repr.maxlevel = 2


def short_repr(value: object) -> str:
    """Return a value as it is written in code, cut where it is long: for the words of an error."""
    text = _repr.repr(value)
    return text if len(text) <= _MAX_REPR_CHARACTERS else text[: _MAX_REPR_CHARACTERS - 1] + "…"


class SeekerError(Exception):
    """An error meant for people: what was wrong, and what to do about it."""

    exit_code = 1
    http_status = 500

    def __init__(self, message: str, hint: str = "", *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        """A name that stays, by which the page says it in its own language; most need none."""

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class BadInput(SeekerError, ValueError):
    """A value that cannot be used: wrong shape, wrong type, out of range."""

    exit_code = 2
    http_status = 422


class NotFound(SeekerError, LookupError):
    """An item, view or field that is not there."""

    exit_code = 3
    http_status = 404


class Gone(NotFound):
    """Something that was there and has left, such as an item that was removed."""

    http_status = 410


class Conflict(SeekerError):
    """A request that does not fit the state it meets, such as an undo with nothing to undo."""

    exit_code = 4
    http_status = 409


Kind = TypeVar("Kind", bound=SeekerError)


def missing_package(what: str, package: str, extra: str, kind: type[Kind]) -> Kind:
    """Return the error for something that a package is needed for which is not installed.

    extra: the extra of Seeker that brings it, as in seeker-search[extra].
    """
    return kind(f"{what} needs the package '{package}'.", install_hint(f"seeker-search[{extra}]"))


def install_hint(*arguments: str) -> str:
    """Return the sentence that says how to install something with pip."""
    return f"Install it: pip install {shlex.join(arguments)}."
