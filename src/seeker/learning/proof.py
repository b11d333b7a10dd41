"""Whether what was learned helps: searches that it was not learned from are replayed with it.

Each is replayed click by click as it was, once as sessions begin now and once as they would; what
counts is how probable the item that was found is held on the way.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from seeker.catalog import Catalog
from seeker.catalog.items import Attributes, MemoryItems
from seeker.catalog.view_map import LinearMap
from seeker.learning.searches import OpenSearch, PastSearch
from seeker.models import Model
from seeker.space import View
from seeker.types import Array, Doubles, Rows

CLICKS = (1, 2, 4, 8)
"""After so many clicks the rank of the item that was found is looked at."""

LEAST_ASIDE, MOST_ASIDE = 0.1, 0.25
ENOUGH_ASIDE = 400
"""Which share of the targets is held aside: so that there are about as many searches."""

REPLAYED_ITEMS = 6_000
"""Of larger catalogs, so many items compete with the one that was found."""

REPLAYED_SEARCHES = 400
"""Of more searches that were held aside, so many are replayed."""

BEYOND_CHANCE = 1.96
"""In standard errors: happens by chance once in forty times."""


def hold_aside(searches: Sequence[PastSearch], seed: int) -> NDArray[np.bool_]:
    """Return which searches are not learned from, (searches,): those of some targets and people.

    A target and a person are drawn by a hash of their names, so that whoever learns again later
    holds aside the same ones. A person with one search is drawn with its target.
    """
    share = min(max(ENOUGH_ASIDE / max(1, len(searches)), LEAST_ASIDE), MOST_ASIDE)
    counts = Counter(one.person for one in searches)
    several = {person for person, count in counts.items() if person is not None and count > 1}

    def drawn(kind: str, name: object, share: float) -> bool:
        digest = hashlib.sha256(repr((seed, kind, name)).encode()).digest()
        return int.from_bytes(digest[:8]) < share * 2.0**64

    return np.array(
        [
            drawn("target", one.target, share)
            or (len(several) > 1 and one.person in several and drawn("who", one.person, share / 2))
            for one in searches
        ],
        bool,
    )


Replayed = TypeVar("Replayed", bound=PastSearch | OpenSearch)


class Replayer:
    """Replays searches among items of a catalog; maps: of views that are not in it yet.

    In catalogs of more than `most` items, those of some searches compete with others by chance, so
    that there are as many each time.
    """

    def __init__(
        self,
        catalog: Catalog,
        maps: Sequence[LinearMap] = (),
        seed: int = 0,
        most: int = REPLAYED_ITEMS,
    ) -> None:
        self._catalog = catalog
        self._maps = maps
        self.items = min(most, len(catalog))
        """Among how many items an item is ranked, at least."""
        drawn = np.random.default_rng([seed, len(catalog)]).permutation(len(catalog))
        self._drawn = drawn[: self.items]
        self._measured = {one.name: mapped_view(catalog, one, self._drawn) for one in maps}

    def groups(self, searches: Sequence[Replayed]) -> Iterator[tuple[Catalog, list[Replayed]]]:
        """Yield a catalog with what some of the searches need, and these, until all have come."""
        if len(self._catalog) == self.items:
            yield self._part(np.arange(self.items)), list(searches)
            return
        group: list[Replayed] = []
        needed: set[str] = set()
        for one in searches:
            items = {item for click in one.clicks for item in click.among}
            if isinstance(one, PastSearch):
                items.add(one.target)
            if group and len(needed | items) > self.items // 2:
                yield self._with(needed), group
                group, needed = [], set()
            group.append(one)
            needed |= items
        if group:
            yield self._with(needed), group

    def _with(self, items: set[str]) -> Catalog:
        needed = np.array(sorted(self._catalog.row(item) for item in items), np.int64)
        others = np.setdiff1d(self._drawn, needed)[: max(0, self.items - len(needed))]
        return self._part(np.union1d(needed, others))

    def _part(self, rows: Rows) -> Catalog:
        ids = [item.id for item in self._catalog.items(rows.tolist())]
        views = {name: _cut(view, rows) for name, view in self._catalog.views.items()}
        for one in self._maps:
            vectors = mapped_view(self._catalog, one, rows).vectors
            views[one.name] = replace(self._measured[one.name], stored=vectors, slots=None)
        return Catalog(MemoryItems(tuple(ids), None, Attributes({})), views, {})


def mapped_view(catalog: Catalog, view_map: LinearMap, rows: Rows) -> View:
    """Return the view that a map makes of some items."""
    sources = {part.view: catalog.views[part.view].rows(rows) for part in view_map.inputs}
    return View.from_vectors(view_map.name, view_map.apply(sources))


def _cut(view: View, rows: Rows) -> View:
    """Return some rows of a view, measured as in the whole."""
    slots = view.stored_rows(rows)
    steps = None if view.steps is None else np.ascontiguousarray(view.steps[slots])
    return replace(view, stored=np.ascontiguousarray(view.stored[slots]), steps=steps, slots=None)


Way: TypeAlias = tuple[Model, Sequence[str]]
"""How sessions begin: with which model, and by which views they compare items."""


def replay(catalog: Catalog, search: PastSearch, way: Way) -> tuple[Doubles, Doubles]:
    """Return log-probability and rank of what was found after 1, 2, 4, 8 and all clicks, (5,).

    Where there were fewer clicks, they are not a number.
    """
    model, views = way
    session = catalog.session(model, views=views, repeat="always")
    logs, ranks = np.full(len(CLICKS) + 1, np.nan), np.full(len(CLICKS) + 1, np.nan)
    row, last = catalog.row(search.target), len(search.clicks)
    for number, click in enumerate(search.clicks, 1):
        session.click(click.item, "like" if click.liked else "dislike", click.among)
        places = [place for place, count in enumerate(CLICKS) if count == number]
        places += [len(CLICKS)] if number == last else []
        if places:
            posterior = session.belief.log_posterior
            mine = posterior[row]
            above, same = (posterior > mine).sum(), (posterior == mine).sum()
            logs[places], ranks[places] = mine, above + (same + 1) / 2
    return logs, ranks


@dataclass(frozen=True, eq=False)
class Replays:
    """Searches replayed in one way: log-probability and rank of what was found, (searches, 5)."""

    logs: Doubles
    ranks: Doubles


def replay_all(
    replayer: Replayer,
    searches: Sequence[PastSearch],
    ways: Sequence[Way],
    progress: Callable[[int], None] = lambda count: None,
) -> list[Replays]:
    """Replay searches in several ways; progress: told of those that are done."""
    logs: list[list[Doubles]] = [[] for _ in ways]
    ranks: list[list[Doubles]] = [[] for _ in ways]
    for catalog, group in replayer.groups(searches):
        for place, way in enumerate(ways):
            for one in group:
                log, rank = replay(catalog, one, way)
                logs[place].append(log)
                ranks[place].append(rank)
                progress(1)
    return [Replays(np.array(log), np.array(rank)) for log, rank in zip(logs, ranks, strict=True)]


@dataclass(frozen=True, eq=False)
class Proof:
    """What the replays of searches held aside came to.

    before, after: the rank of what was found after 1, 2, 4, 8 and all clicks, (searches, 5).
    gains: (searches,), by how much more probable it was held on the way, as a logarithm. weights:
    what each counts for. people: who searched, None where it is not known. kinds: by name, which of
    the searches are of a kind, (searches,). items: among how many they were replayed.
    """

    before: Doubles
    after: Doubles
    gains: Doubles
    weights: Doubles
    people: Sequence[object]
    kinds: dict[str, NDArray[np.bool_]]
    items: int

    def __len__(self) -> int:
        return len(self.gains)

    def gain(self, chosen: Array | None = None) -> tuple[float, float]:
        """Return the mean gain of some searches, or of all, and its standard error.

        The searches of one person are one piece of evidence, not several.
        """
        mask = np.ones(len(self), bool) if chosen is None else chosen
        people = [self.people[place] for place in np.flatnonzero(mask).tolist()]
        return clustered_mean(self.gains[mask], self.weights[mask], people)

    @property
    def helps(self) -> bool:
        """Whether the searches are explained better, beyond chance."""
        mean, error = self.gain()
        return mean > BEYOND_CHANCE * error and mean > 0.0

    @property
    def worse(self) -> list[str]:
        """What is worse beyond chance: kinds of searches, or the ranks of what was found."""
        found = []
        columns = np.log(self.after) - np.log(self.before)
        mean, error = clustered_mean(np.nanmean(columns, axis=1), self.weights, self.people)
        if mean > BEYOND_CHANCE * error:
            found.append("the place of what was found among all items")
        for name, chosen in self.kinds.items():
            mean, error = self.gain(chosen) if chosen.any() else (0.0, 0.0)
            if mean < 0.0 and mean < -BEYOND_CHANCE * error:
                found.append(name)
        return found

    def lacking(self, searches: int) -> int | None:
        """Return about how many more searches would show that it helps; None if nothing does.

        searches: how many there were in all.
        """
        mean, error = self.gain()
        if mean <= 0.0:
            return None
        times = (1.1 * BEYOND_CHANCE * error / mean) ** 2
        more = max(0.1, times - 1.0) * searches
        return math.ceil(more / 10.0) * 10 if times < 100.0 else None


def clustered_mean(
    values: Doubles, weights: Doubles, clusters: Sequence[object]
) -> tuple[float, float]:
    """Return a weighted mean and its standard error; None: a cluster of its own.

    Of few clusters the error itself is uncertain: it is widened so that 1.96 of it on either side
    hold the truth in 95 of 100 cases, as Student's t has it.
    """
    total = float(weights.sum())
    if not total:
        return 0.0, math.inf
    mean = float(weights @ values) / total
    sums: dict[object, float] = {}
    for place, (value, weight, cluster) in enumerate(zip(values, weights, clusters, strict=True)):
        key = ("alone", place) if cluster is None else ("several", cluster)
        sums[key] = sums.get(key, 0.0) + float(weight * (value - mean))
    count = len(sums)
    if count < 2:
        return mean, math.inf
    spread = sum(one**2 for one in sums.values()) * count / (count - 1)
    return mean, math.sqrt(spread) / total * _widening(count - 1)


def _widening(freedom: int) -> float:
    """Return by how much the 97.5 % quantile of Student's t is beyond that of the normal.

    The expansion of Cornish and Fisher: right to a hundredth from five degrees of freedom on.
    """
    z = BEYOND_CHANCE
    second = (z**3 + z) / 4.0 / freedom
    third = (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0 / freedom**2
    fourth = (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0 / freedom**3
    return (z + second + third + fourth) / z


def compare(
    searches: Sequence[PastSearch], weights: Doubles, before: Replays, after: Replays, items: int
) -> Proof:
    """Compare two ways of replaying the same searches."""
    people = [one.person for one in searches]
    lone = len({*people}) < 2
    return Proof(
        before=before.ranks,
        after=after.ranks,
        gains=np.nanmean(after.logs - before.logs, axis=1),
        weights=weights,
        people=[None] * len(searches) if lone else people,
        kinds=_kinds(searches),
        items=items,
    )


def _kinds(searches: Sequence[PastSearch]) -> dict[str, NDArray[np.bool_]]:
    lengths = np.array([len(one.clicks) for one in searches])
    likes = np.array([all(click.liked for click in one.clicks) for one in searches])
    middle = np.median(lengths) if len(lengths) else 0
    return {
        "with dislikes": ~likes,
        "with likes only": likes,
        f"short ones (up to {middle:g} clicks)": lengths <= middle,
        f"long ones (more than {middle:g} clicks)": lengths > middle,
    }
