"""What one can ask a space about all items: how far they are from an item, or along a direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from seeker.types import Array


class DistanceProbe(NamedTuple):
    """Ask for the column of an item: how far every item is from it."""

    row: int


@dataclass(frozen=True)
class DirectionProbe:
    """Ask for the column of a direction in one view: how far every item lies along it."""

    view: int
    direction: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class PreparedProbes:
    """Probes as the kernel takes them: per view, (d / 8, m, 8) vectors and (m,) constants."""

    probes: tuple[DistanceProbe, ...]
    packed: tuple[Array, ...]
    constants: tuple[Array, ...]

    def pick(self, probes: Sequence[DistanceProbe]) -> PreparedProbes | None:
        """Return some of the probes, if all of them are here."""
        if self.probes and tuple(probes) == self.probes:
            return self
        if not self.probes or not set(probes) <= self._places.keys():
            return None
        places = [self._places[probe] for probe in probes]
        return PreparedProbes(
            tuple(probes),
            # Picked in the middle, they would lie in another order, and be added up in another.
            tuple(np.ascontiguousarray(vectors[:, places]) for vectors in self.packed),
            tuple(numbers[places] for numbers in self.constants),
        )

    @cached_property
    def _places(self) -> dict[DistanceProbe, int]:
        return {probe: place for place, probe in enumerate(self.probes)}
