"""The items that can lead the next order, found between clicks.

The noise of the next step is known before the click is made, and a click never raises a score. So
the items whose scores and next noise come highest now are all that the next page needs: a click
then looks at some hundred items, however many there are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from seeker.display.values import Noise
from seeker.models.base import Term
from seeker.models.scores import Scores
from seeker.types import Doubles, Rows

LENGTH = 16_384
"""Items on a list at most: enough for all but the first clicks of a search."""

SHARE = 8
"""A list holds at most one in so many items."""


class TooShort(Exception):
    """A page was to be found by the beginning of a list alone, which does not reach far enough."""


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Items by an upper bound of score + noise, highest first.

    rows, bounds: (items,). rest: no other item has a higher bound, but those that were left out.
    noise, stage, log_prior: what the bounds hold for.
    """

    rows: Rows
    bounds: Doubles
    rest: float
    left_out: frozenset[int]
    noise: Noise
    stage: frozenset[Term]
    log_prior: Doubles | None

    @property
    def nbytes(self) -> int:
        """How many bytes the list takes."""
        return self.rows.nbytes + self.bounds.nbytes

    def holds(self, scores: Scores, noise: Noise, aside: Collection[int]) -> bool:
        """Whether these are bounds still: the same noise, and nothing was taken back.

        aside: the items that are looked at by themselves, whatever this list says.
        """
        return (
            (noise.key, noise.width) == (self.noise.key, self.noise.width)
            and scores.log_prior is self.log_prior
            and scores.includes(self.stage)
            and self.left_out.issubset(aside)
        )

    def reaching(self, limit: float) -> int:
        """Return how many of the bounds are at least so high."""
        return len(self.bounds) - int(self.bounds[::-1].searchsorted(limit))

    def some(self, first: int, last: int, aside: Collection[int]) -> Rows:
        """Return the items of some places, but for those aside."""
        return np.array(
            [row for row in self.rows[first:last].tolist() if row not in aside], np.int64
        )
