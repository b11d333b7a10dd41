"""How sure of itself a model may be: as sure as it is right on searches that it does not know.

Noise levels are fitted click by click. But what a map gets wrong about a target it gets wrong at
every click of its search, so that all clicks together say less than their product. More noise would
make it as modest as it should be, and find less: so the belief stays, and what is said of a page is
corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from seeker.catalog import Catalog
from seeker.catalog.view_map import LinearMap
from seeker.learning.fit import Learned
from seeker.learning.proof import Replayer, Way
from seeker.learning.searches import OpenSearch, PastSearch, given_up
from seeker.models import Relative
from seeker.models.base import PLAIN_CLAIMS
from seeker.types import Doubles, Rows

PAGE = 12
"""So many of the most probable items are a page."""

ENOUGH_SEARCHES = 300
"""Of more searches, so many are replayed."""

PULL = 4.0
"""The information that counts for claims as they were; a page with an even chance has a quarter."""

LEAST_CLAIM = 1e-4
"""Claims below it, or as near to one, are not told apart."""

ROUNDS = 30


@dataclass(frozen=True, eq=False)
class Trial:
    """Searches that a map was not fitted to, what replays them with it, and what each counts for.

    weights: (searches,).
    """

    replayer: Replayer
    searches: Sequence[PastSearch | OpenSearch]
    weights: Doubles


def trials_of(
    catalog: Catalog,
    fitted: Learned,
    searches: Sequence[PastSearch],
    weights: Doubles,
    held: Rows,
    train: Rows,
    open: Sequence[OpenSearch],
    seed: int = 0,
) -> list[Trial]:
    """Return what what was learned can be tried on.

    held: places of searches that were not learned from; train: of those that were. Of few, these
    count as well, each by a map that does not know it. open: searches without an end.
    """

    def trial(maps: Sequence[LinearMap], places: Rows) -> Trial:
        chosen = [searches[place] for place in places.tolist()]
        return Trial(Replayer(catalog, maps, seed), chosen, weights[places])

    trials = [trial(fitted.maps, held)]
    trials += [trial((part.map,), train[part.aside]) for part in fitted.parts]
    found = [one for part in trials for one in part.searches if isinstance(one, PastSearch)]
    share = len(found) / max(1, len(searches))
    return [*trials, Trial(trials[0].replayer, *given_up(found, open, share))]


def calibrated(
    model: Relative,
    views: Sequence[str],
    trials: Sequence[Trial],
    progress: Callable[[int], None] = lambda count: None,
) -> Relative:
    """Return the model with `claims` such that it says of pages what happens.

    The belief says before every page of a search but the first how probable it is that the target
    is among the best items not seen yet. How often it was there, is a logistic regression on it:
    logit P(hit) = a + b logit p, drawn towards 0 and 1.
    """
    pages: list[tuple[float, float, float]] = []
    for one in _some(trials):
        counts = iter(one.weights.tolist())
        for catalog, group in one.replayer.groups(one.searches):
            for search, weight in zip(group, counts, strict=False):
                told = page_claims(catalog, search, (model, views))
                pages += [(weight, claim, float(hit)) for claim, hit in told]
                progress(1)
    if not pages:
        return model
    weights, claims, hits = np.array(pages).T
    shift, slope = _regression(weights, claims.clip(LEAST_CLAIM, 1.0 - LEAST_CLAIM), hits)
    return replace(model, claims=(round(shift, 3), round(max(slope, 0.1), 3)))


def _regression(weights: Doubles, claims: Doubles, hits: Doubles) -> tuple[float, float]:
    """Return a and b of logit P(hit) = a + b logit claim, by Newton's method."""
    numbers = np.stack([np.ones_like(claims), np.log(claims) - np.log1p(-claims)])
    usual = np.array(PLAIN_CLAIMS)
    found = usual
    for _ in range(ROUNDS):
        expected = 1.0 / (1.0 + np.exp(-(found @ numbers)))
        slope = numbers @ (weights * (hits - expected)) - PULL * (found - usual)
        spread = weights * expected * (1.0 - expected)
        step = np.linalg.solve((numbers * spread) @ numbers.T + PULL * np.eye(2), slope)
        found = found + np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-9:
            break
    return float(found[0]), float(found[1])


def _some(trials: Sequence[Trial]) -> list[Trial]:
    """Return trials with no more searches than are enough, evenly out of all."""
    total = sum(len(one.searches) for one in trials)
    chosen = np.linspace(0, total, min(ENOUGH_SEARCHES, total), endpoint=False).astype(np.int64)
    some, first = [], 0
    for one in trials:
        end = first + len(one.searches)
        places = (chosen[(first <= chosen) & (chosen < end)] - first).tolist()
        searches = [one.searches[place] for place in places]
        some.append(Trial(one.replayer, searches, one.weights[places]))
        first = end
    return some


def page_claims(
    catalog: Catalog, search: PastSearch | OpenSearch, way: Way, size: int = PAGE
) -> Iterator[tuple[float, bool]]:
    """Yield before every page but the first what was claimed, and whether it was so.

    Of a found search, also after its last click: how probable it was that the target is one of so
    many most probable items that had not been seen, given that it is none of those. If it is,
    the search would have been over; else these have been seen as well. After the target was seen,
    nothing. Of a search without an end: the same of the pages that were shown, on which it was not.
    """
    model, views = way
    session = catalog.session(model, views=views, repeat="always")
    target = catalog.row(search.target) if isinstance(search, PastSearch) else None
    shown, seen = set[int](), set[int]()

    def look(page: set[int] | None) -> tuple[float, bool]:
        shares = np.exp(session.belief.log_posterior)
        shares[[*seen]] = 0.0
        if page is None:
            best = np.argpartition(-shares, min(size, len(shares)) - 1)[:size]
            page = {*best.tolist()}
        total = float(shares.sum())
        seen.update(page)
        claimed = float(shares[sorted(page)].sum()) / total if total > 0.0 else 0.0
        return claimed, target in page

    for click in search.clicks:
        among = {catalog.row(item) for item in click.among}
        if shown and not among <= shown:
            yield look(None if target is not None else among)
        shown |= among
        seen |= among
        if target in seen:
            return
        session.click(click.item, "like" if click.liked else "dislike", click.among)
    if shown and target is not None:
        yield look(None)
