"""Reading arrays of numbers that people give."""

from __future__ import annotations

from collections.abc import Sized

import numpy as np

from seeker.errors import BadInput
from seeker.types import Doubles

_LARGEST = 1e100


def numbers(what: str, given: object, length: int) -> Doubles:
    """Return given as new float64 numbers, (length,); they may be infinite or NaN."""
    expected = f"Give {length:,} numbers."
    if isinstance(given, Sized) and not isinstance(given, np.ndarray) and len(given) != length:
        raise BadInput(f"{what} has {len(given):,} entries.", expected)
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "fiub" or np.ma.isMaskedArray(given):
            raise ValueError
    except (TypeError, ValueError):
        raise BadInput(f"{what} is not an array of numbers.", expected) from None
    if found.shape != (length,):
        raise BadInput(f"{what} has shape {found.shape}.", expected)
    return found.astype(np.float64)


def few_numbers(what: str, given: object, most: int) -> tuple[float, ...]:
    """Return given as a tuple of numbers, at most that many; they may be infinite or NaN."""
    if not isinstance(given, Sized) or isinstance(given, str | bytes) or len(given) > most:
        raise BadInput(f"{what} must be a list of at most {most:,} numbers.")
    return tuple(map(float, numbers(what, list(given), len(given))))  # type: ignore[call-overload]


def bearable(found: Doubles) -> bool:
    """Whether all numbers are finite and can be multiplied with one another."""
    return bool(np.abs(found).max(initial=0.0) < _LARGEST)
