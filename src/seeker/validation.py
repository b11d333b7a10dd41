"""Numbers that people give, one or many, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from typing import Any

import numpy as np

from seeker.errors import BadInput, short
from seeker.types import Doubles

_LARGEST = 1e100
_MOST_NAMES = 1000


def check_number(name: str, value: object, least: float, below: float = math.inf) -> None:
    """Refuse what is not a finite number in [least, below)."""
    try:
        fine = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        fine = fine and math.isfinite(value) and least <= value < below  # type: ignore[arg-type,operator]
    except (OverflowError, TypeError):  # a whole number beyond all floats, a complex one
        fine = False
    if not fine:
        limit = f" and below {below:g}" if below < math.inf else ""
        raise BadInput(
            f"{name} is {short(value)}, but it must be a number of at least {least:g}{limit}."
        )


def check_whole(name: str, value: object, least: int) -> int:
    """Return a number if it is a whole one of at least so much."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise BadInput(
            f"{name} is {short(value)}, but it must be a whole number of at least {least}."
        )
    return int(value)


def check_names(what: str, given: object) -> tuple[str, ...]:
    """Return given as a tuple of names, if there is at least one and none comes twice."""
    listed = isinstance(given, Sequence) and not isinstance(given, str | bytes)
    listed = listed and len(given) <= _MOST_NAMES  # type: ignore[arg-type]
    names: tuple[Any, ...] = tuple(given) if listed else ()  # type: ignore[arg-type]
    fine = names and all(isinstance(name, str) for name in names)
    if not fine or len(set(names)) < len(names):
        raise BadInput(
            f"{what} is {short(given)}, but it must be a list of names, each of them once.",
            "Leave it out to use all.",
        )
    return names


def check_vector(what: str, given: object, length: int) -> Doubles:
    """Return given as new float64 numbers, (length,); they may be infinite or NaN."""
    expected = f"Give {length:,} numbers."
    if isinstance(given, Sized) and not isinstance(given, np.ndarray) and len(given) != length:
        raise BadInput(f"{what} has {len(given):,} entries.", expected)
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "fiub" or np.ma.isMaskedArray(given):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{what} is not an array of numbers.", expected) from None
    if found.shape != (length,):
        raise BadInput(f"{what} has shape {found.shape}.", expected)
    return found.astype(np.float64)


def check_few_numbers(what: str, given: object, most: int) -> tuple[float, ...]:
    """Return given as a tuple of numbers, at most that many; they may be infinite or NaN."""
    if not isinstance(given, Sized) or isinstance(given, str | bytes) or len(given) > most:
        raise BadInput(f"{what} must be a list of at most {most:,} numbers.")
    return tuple(map(float, check_vector(what, list(given), len(given))))  # type: ignore[call-overload]


def within_range(found: Doubles) -> bool:
    """Whether all numbers are finite and can be multiplied with one another."""
    return bool(np.abs(found).max(initial=0.0) < _LARGEST)
