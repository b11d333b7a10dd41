"""The items that may come first on a page, by their place, without a list of all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seeker.cluster.prior import Prior
from seeker.types import Rows


class Candidates:
    """The rows that a prior leaves open and that need not come later, in their order."""

    def __init__(self, count: int, prior: Prior | None, later: Sequence[Rows]) -> None:
        self._prior = prior
        aside = np.sort(np.concatenate([np.empty(0, np.int64), *later]))
        ranks = aside if prior is None else prior.rank(aside)
        # Where those set aside stand among the others: what lies behind moves up by one for each.
        self._gaps = ranks - np.arange(len(ranks))
        self._count = (count if prior is None else int(prior.before[-1])) - len(aside)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, places: int | Rows) -> Rows:
        """Return the rows at some places, of the places' shape."""
        asked = np.asarray(places, np.int64)
        flat = asked.reshape(-1)
        if len(flat) and not 0 <= flat.min() <= flat.max() < self._count:
            raise IndexError(f"There are {self._count} candidates.")
        among = flat + np.searchsorted(self._gaps, flat, "right")
        rows = among if self._prior is None else self._prior.select(among)
        return rows.reshape(asked.shape)
