"""A view that is made of others, by a linear map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from seeker.types import Array, Floats


@dataclass(frozen=True, eq=False)
class MapInput:
    """What a map does with one view: (x − centre) · matrix; centre: (d,), matrix: (d, k)."""

    view: str
    centre: Floats = field(repr=False)
    matrix: Floats = field(repr=False)


@dataclass(frozen=True, eq=False)
class LinearMap:
    """z = Σ_v (x_v − centre_v) · matrix_v: a view, called `name`, that is made of others."""

    name: str
    inputs: tuple[MapInput, ...]

    @property
    def dimensions(self) -> int:
        """How many numbers the map gives an item."""
        return int(self.inputs[0].matrix.shape[1])

    def apply(self, vectors: Mapping[str, Array]) -> Floats:
        """Return the vectors of some items, (n, k) float32; vectors: (n, d) by view, of them.

        Vectors are taken as a catalog stores them: of length one where the metric is the cosine.
        An item's vector depends on that item alone, up to the rounding of sums in float64.
        """
        total = np.zeros((len(vectors[self.inputs[0].view]), self.dimensions))
        for part in self.inputs:
            centred = np.asarray(vectors[part.view], np.float64) - part.centre
            total += centred @ part.matrix.astype(np.float64)
        return total.astype(np.float32)
