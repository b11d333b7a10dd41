"""How sure of itself a model may be: as sure as it is right on searches that it does not know.

Noise levels are fitted click by click. But what a map gets wrong about a target it gets wrong at
every click of its search, so that all clicks together say less than their product. So the levels
are scaled until the next page holds what is sought as often as is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from seeker.catalog import Catalog
from seeker.learning.proof import Replayer, Way
from seeker.learning.searches import PastSearch
from seeker.models import Choice
from seeker.types import Doubles

PAGE = 12
"""So many of the most probable items are a page."""

ENOUGH_SEARCHES = 150
"""Of more searches, so many are replayed."""

MOST_ROUNDS = 3
CLOSE = 1.05
"""It is enough if claims are right up to this factor."""

PULL = 5.0
"""So many pages with what is sought count for the noise levels as they were."""

LEAST_FACTOR, LARGEST_FACTOR = 0.75, 2.0
"""Noise is not lowered by much: searches that were given up cannot be replayed, and found ones
flatter."""


def calibrated(
    model: Choice,
    views: Sequence[str],
    replayer: Replayer,
    searches: Sequence[PastSearch],
    weights: Doubles,
    progress: Callable[[int], None] = lambda count: None,
) -> Choice:
    """Return the model with its noise levels scaled so that it claims what happens.

    searches: that it was not fitted to; weights: (searches,), what each counts for. The claim is
    how probable it is that the target is among the best items not seen yet, before every page of a
    search but the first; on an average over pages it shall be as often there.
    """
    count = min(ENOUGH_SEARCHES, len(searches))
    few = np.linspace(0, len(searches), count, endpoint=False).astype(np.int64).tolist()
    factor = 1.0
    for _ in range(MOST_ROUNDS):
        trial = _scaled(model, factor)
        claimed = happened = PULL
        counts = iter(weights[few].tolist())
        for catalog, group in replayer.groups([searches[place] for place in few]):
            for search, weight in zip(group, counts, strict=False):
                for claim, hit in page_claims(catalog, search, (trial, views)):
                    claimed += weight * claim
                    happened += weight * hit
                progress(1)
        ratio = claimed / happened
        if max(ratio, 1.0 / ratio) <= CLOSE:
            break
        # What is claimed falls about as the noise level rises.
        before, factor = factor, float(np.clip(factor * ratio, LEAST_FACTOR, LARGEST_FACTOR))
        if factor == before:
            break
    return _scaled(model, factor)


def _scaled(model: Choice, factor: float) -> Choice:
    # Rounded before it is multiplied, so that neighbours stay in their ratio.
    return replace(model, sigmas=tuple(round(factor, 3) * sigma for sigma in model.sigmas))


def page_claims(
    catalog: Catalog, search: PastSearch, way: Way, size: int = PAGE
) -> Iterator[tuple[float, bool]]:
    """Yield before every page but the first, and after the last click, what was claimed, and hit.

    How probable it was that the target is one of so many most probable items that had not been
    seen, given that it is none of those; and whether it was. After the target was seen, nothing.
    """
    model, views = way
    session = catalog.session(model, views=views, repeat="always")
    target, seen = catalog.row(search.target), set[int]()

    def look() -> tuple[float, bool]:
        shares = np.exp(session.belief.log_posterior)
        shares[[*seen]] = 0.0
        page = np.argpartition(-shares, min(size, len(shares)) - 1)[:size]
        total = float(shares.sum())
        return float(shares[page].sum()) / total if total > 0.0 else 0.0, target in page

    for click in search.clicks:
        among = {catalog.row(item) for item in click.among}
        if seen and not among <= seen:
            yield look()
        seen |= among
        if target in seen:
            return
        session.click(click.item, "like" if click.liked else "dislike", click.among)
    if seen:
        yield look()
