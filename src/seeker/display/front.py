"""A ranking in which some items were moved to the front."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from seeker.display.ranking import Ranking
from seeker.display.shortlist import Shortlist
from seeker.types import Rows


class Fronted:
    """A ranking with a chosen page before all else; it is chosen when it is first needed."""

    def __init__(self, ranking: Ranking, choose: Callable[[], Rows]) -> None:
        self.total = ranking.total
        self._ranking = ranking
        self._choose = choose

    @cached_property
    def _first(self) -> Rows:
        return self._choose()

    def head(self, count: int) -> Rows:
        """Return the first items of the order, (count,)."""
        if count <= len(self._first):
            return self._first[:count]
        head = self._ranking.head(min(count, self.total))
        rest = head[~np.isin(head, self._first)]
        return np.concatenate([self._first, rest])[:count]

    def shortlist(self) -> Shortlist | None:
        """Return the items that can lead the order after the next click, if that can be told."""
        return self._ranking.shortlist()
