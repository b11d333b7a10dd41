"""What one can ask a space about all items: how far they are from an item, or along a direction."""

from __future__ import annotations

from dataclasses import dataclass

from seeker.types import Array


@dataclass(frozen=True)
class Near:
    """Ask for the column of an item: how far every item is from it."""

    row: int


@dataclass(frozen=True)
class Along:
    """Ask for the column of a direction in one view: how far every item lies along it."""

    view: int
    direction: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Probes:
    """Probes made ready for the kernel: per view, (d / 8, m, 8) vectors and (m,) constants."""

    asked: tuple[Near, ...]
    packed: tuple[Array, ...]
    constants: tuple[Array, ...]
