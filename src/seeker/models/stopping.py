"""How long work is given up when something more urgent comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Stop: TypeAlias = Callable[[], bool]
"""Asked every so often by long work: whether it should stop."""


class Interrupted(Exception):
    """Work over all items was stopped; what it was for can be asked for again."""


def never() -> bool:
    """Never stop."""
    return False
