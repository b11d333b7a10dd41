"""Cells that hold vectors."""

from __future__ import annotations

import json
import re

import numpy as np

from seeker.errors import BadInput
from seeker.types import Array

_APART = re.compile(r"[\s,;]+")


def vector(cell: object) -> Array:
    """Return the numbers in a cell, (d,): a list, or a text such as "[0.1, 0.2]" or "0.1 0.2"."""
    if isinstance(cell, str):
        cell = _numbers(cell)
    try:
        found = np.asarray(cell, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadInput("it is not a list of numbers") from None
    if found.ndim != 1 or not found.size:
        raise BadInput("it is not a list of numbers")
    return found


def length(cell: object) -> int | None:
    """Return how many numbers a cell holds if it is plainly a vector: a list of two or more."""
    if isinstance(cell, str):
        if not (cell.startswith("[") and cell.endswith("]")):
            return None
    elif not isinstance(cell, list | tuple | np.ndarray) or any(
        isinstance(one, str | bool) for one in cell
    ):
        return None
    try:
        found = vector(cell)
    except BadInput:
        return None
    return found.size if found.size > 1 else None


def _numbers(cell: str) -> object:
    if cell.startswith("["):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            pass
    parts = _APART.split(cell.strip().strip("[](){}").strip())
    try:
        return [float(part) for part in parts if part]
    except ValueError:
        raise BadInput("it is not a list of numbers") from None
