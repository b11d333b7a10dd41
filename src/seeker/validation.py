"""Numbers that people give, one or many, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from typing import Any

import numpy as np

from seeker.errors import BadInput, short_repr
from seeker.types import Doubles

_MAX_MAGNITUDE = 1e100
_MAX_NAMES = 1000


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
            f"{name} is {short_repr(value)}, but it must be a number of at least {least:g}{limit}."
        )


def check_whole(name: str, value: object, least: int) -> int:
    """Return a number if it is a whole one of at least so much."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise BadInput(
            f"{name} is {short_repr(value)}, but it must be a whole number of at least {least}."
        )
    return int(value)


def check_names(what: str, value: object) -> tuple[str, ...]:
    """Return a value as a tuple of names, if there is at least one and none comes twice."""
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    listed = listed and len(value) <= _MAX_NAMES  # type: ignore[arg-type]
    names: tuple[Any, ...] = tuple(value) if listed else ()  # type: ignore[arg-type]
    fine = names and all(isinstance(name, str) for name in names)
    if not fine or len(set(names)) < len(names):
        raise BadInput(
            f"{what} is {short_repr(value)}, but it must be a list of names, each of them once.",
            "Leave it out to use all.",
        )
    return names


def check_vector(what: str, value: object, length: int) -> Doubles:
    """Return a value as new float64 numbers, (length,); they may be infinite or NaN."""
    expected = f"Give {length:,} numbers."
    if isinstance(value, Sized) and not isinstance(value, np.ndarray) and len(value) != length:
        raise BadInput(f"{what} has {len(value):,} entries.", expected)
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub" or np.ma.isMaskedArray(value):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{what} is not an array of numbers.", expected) from None
    if array.shape != (length,):
        raise BadInput(f"{what} has shape {array.shape}.", expected)
    return array.astype(np.float64)


def check_few_numbers(what: str, value: object, most: int) -> tuple[float, ...]:
    """Return a value as a tuple of numbers, at most that many; they may be infinite or NaN."""
    if not isinstance(value, Sized) or isinstance(value, str | bytes) or len(value) > most:
        raise BadInput(f"{what} must be a list of at most {most:,} numbers.")
    return tuple(map(float, check_vector(what, list(value), len(value))))  # type: ignore[call-overload]


def within_range(numbers: Doubles) -> bool:
    """Whether all numbers are finite and can be multiplied with one another."""
    return bool(np.abs(numbers).max(initial=0.0) < _MAX_MAGNITUDE)
