"""Checks that several models share."""

from __future__ import annotations

import math

import numpy as np

from seeker.errors import BadInput


def check_number(name: str, value: object, least: float, below: float = math.inf) -> None:
    """Refuse what is not a finite number in [least, below)."""
    fine = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not fine or not math.isfinite(value) or not least <= value < below:  # type: ignore[arg-type,operator]
        limit = f" and below {below:g}" if below < math.inf else ""
        raise BadInput(
            f"{name} is {value!r}, but it must be a number of at least {least:g}{limit}."
        )


def check_scale(scale: object) -> None:
    """Refuse a scale that is neither 'unit' nor 'raw'."""
    if scale not in ("unit", "raw"):
        raise BadInput(f"scale is {scale!r}, but it must be 'unit' or 'raw'.")
