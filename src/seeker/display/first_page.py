"""The first page of a search: a few items that leave no part of the catalog far away."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal

import numpy as np

from seeker.display import noise
from seeker.display.base import RankingContext
from seeker.display.ranking import Ranking, Shortlist
from seeker.errors import BadInput, short_repr
from seeker.types import Doubles, Rows


class PinnedPage:
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

    @property
    def strained(self) -> bool:
        """Whether bounds of the scores have left many items to be evaluated."""
        return self._ranking.strained

    def shortlist(self) -> Shortlist | None:
        """Return the items that can lead the order after the next click, if that can be told."""
        return self._ranking.shortlist()


First = Literal["pool", "cover", "ranked"]
"""What the first page is while nothing is known.

One of a few that cover the catalog and that all searches share, one that covers it and is found
for this search alone, or one as any other.
"""

POOL_PAGES = 16
"""Pages in the pool; the seed chooses one of them."""

_SAMPLE_ITEMS = 256


def check_first(first: object) -> None:
    """Refuse a kind of first page that there is not."""
    if first not in ("pool", "cover", "ranked"):
        raise BadInput(f"first is {short_repr(first)}, but it must be 'pool', 'cover' or 'ranked'.")


def first_page(context: RankingContext, ranking: Ranking, first: First) -> Ranking:
    """Return a ranking with a page in front that covers, if that is asked for and helps."""
    if first == "ranked" or not context.blank:
        return ranking

    def page() -> Rows:
        if first == "cover":
            return _covering_page(context, noise.stream_key(context.seed, 0, noise.COVER))
        number = context.seed % POOL_PAGES
        stream = noise.stream_key(number, 0, noise.COVER)
        return context.pooled(number, lambda: _covering_page(context, stream))

    return PinnedPage(ranking, page)


def _covering_page(context: RankingContext, stream: np.uint64) -> Rows:
    """Return a page that covers a few hundred items picked by a stream of noise, by row."""
    sample = _sample(context, stream)
    return sample[covering_rows(context.distances(sample, sample), context.page_size)]


def _sample(context: RankingContext, stream: np.uint64) -> Rows:
    """Return a few hundred items picked by a stream of noise, by row."""
    candidates = context.candidates()
    places = np.arange(min(len(candidates), _SAMPLE_ITEMS))
    if len(candidates) > _SAMPLE_ITEMS:
        picks = noise.uniforms(stream, _SAMPLE_ITEMS)
        places = np.unique((picks * len(candidates)).astype(np.int64))
    return np.asarray(candidates[places])


def covering_rows(distances: Doubles, count: int) -> Rows:
    """Choose items one by one so that the mean distance to the nearest chosen one is least.

    distances: (n, n). Returns (count,) places.
    """
    nearest = np.full(len(distances), np.inf)
    nearer = np.empty_like(distances)
    free = np.ones(len(distances), bool)
    chosen: list[int] = []
    for _ in range(min(count, len(distances))):
        total = np.minimum(nearest, distances, out=nearer).sum(axis=1)
        total[~free] = np.inf
        pick = int(np.argmin(total))
        free[pick] = False
        nearest = np.minimum(nearest, distances[pick])
        chosen.append(pick)
    return np.array(chosen, np.int64)
