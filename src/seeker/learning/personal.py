"""One's own eyes: what a person's found searches say of how they see, beside everybody's.

The paper's φ(c, x) = c ⊙ x: a vector c of weights on the axes of a learned view, and a prior of θ
of their own. Both are drawn towards everybody's, the more the fewer searches there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from seeker.catalog import Catalog
from seeker.catalog.view_map import LinearMap
from seeker.learning.searches import PastSearch
from seeker.learning.theta import fit_prior
from seeker.models import Choice, Relative
from seeker.space import View
from seeker.types import Doubles, Floats, Rows

AXIS_CLICKS = 100.0
"""The pull of an axis towards the others that come from the same views, in clicks."""

VIEW_CLICKS = 4.0
"""The pull of what comes from one view towards everybody's weight, in clicks."""

PRIOR_SEARCHES = 4.0
"""How many of a person's searches everybody's prior of θ counts for."""

MOST_SHOWN = 3000
"""So many items on screen are looked at, those of about 250 clicks, of the searches named first."""

_ROUNDS, _RATE = 40, 0.1
_LARGEST_LOG = 1.5


@dataclass(frozen=True, eq=False)
class PersonalPrior:
    """How a person's next session begins.

    weights: the prior of θ, (thetas,). vectors: by learned view, c, (d,); of every view, two
    random items are as far apart on average as without it.
    """

    weights: Doubles
    vectors: dict[str, Doubles]


def personal_prior(
    catalog: Catalog,
    model: Choice,
    searches: Iterable[PastSearch],
    maps: Mapping[str, LinearMap] | None = None,
) -> PersonalPrior:
    """Return what a person's found searches teach; their order does not matter if all count.

    catalog: with the views by which everybody's sessions compare items, model: with which they
    begin. searches: theirs, in this catalog. maps: of the learned views, if not the catalog's own.
    """
    views = catalog.views
    maps = catalog.maps if maps is None else maps
    choices = Choices.of(catalog, searches)
    grid = model.grid(list(views))
    start = np.exp(grid.log_weights)
    if not len(choices.signs):
        return PersonalPrior(start, {})
    noise = _usual_noise(model, list(views))
    vectors = {
        name: fit_axes(view, _origins(maps[name], catalog.raw_views), choices, model, noise)
        for name, view in views.items()
        if name in maps
    }
    distances = np.stack(
        [choices.distances(view, vectors.get(name)) for name, view in views.items()]
    )
    logs = []
    for mixture in grid.mixtures:
        told = told_apart(mixture @ distances, model)
        for sigma in grid.sigmas:
            chances, _ = choices.chances(told, 1.0 / sigma, model.slip)
            logs.append(np.bincount(choices.of_search, np.log(chances), choices.searches))
    weights = fit_prior(np.stack(logs, axis=1), np.ones(choices.searches), start, PRIOR_SEARCHES)
    return PersonalPrior(weights, vectors)


@dataclass(frozen=True, eq=False)
class Choices:
    """Clicks, one after the other: what was on screen, the item first, and what was found.

    targets, shown: (entries,) rows; clicks: (entries,), of which click they are; first: (clicks,),
    the entry of the item that was clicked; signs: (clicks,), −1 for dislikes; of_search: (clicks,).
    """

    targets: Rows
    shown: Rows
    clicks: Rows
    first: Rows
    signs: Doubles
    of_search: Rows
    searches: int

    @classmethod
    def of(cls, catalog: Catalog, searches: Iterable[PastSearch]) -> Choices:
        """Take the first searches up to `MOST_SHOWN`, in an order that says nothing of when."""
        chosen: list[PastSearch] = []
        left = MOST_SHOWN
        for one in searches:
            left -= sum(len(click.among) for click in one.clicks)
            if left < 0 and chosen:
                break
            chosen.append(one)
        chosen.sort(key=lambda one: (one.target, repr(one.clicks)))
        targets, clicks, first, of_search = [], [], [], []
        shown: list[int] = []
        signs: list[float] = []
        for number, one in enumerate(chosen):
            for click in one.clicks:
                if len(shown) + len(click.among) > MOST_SHOWN:
                    break
                first.append(len(shown))
                clicks.extend([len(signs)] * len(click.among))
                targets.extend([catalog.row(one.target)] * len(click.among))
                shown.extend(catalog.row(item) for item in click.among)
                signs.append(1.0 if click.liked else -1.0)
                of_search.append(number)
        return cls(
            np.array(targets, np.int64),
            np.array(shown, np.int64),
            np.array(clicks, np.int64),
            np.array(first, np.int64),
            np.array(signs),
            np.array(of_search, np.int64),
            len(chosen),
        )

    def squares(self, view: View) -> Floats:
        """Return (x_k − x_t)² of every entry by axis, (entries, d)."""
        rows, places = np.unique(np.concatenate([self.shown, self.targets]), return_inverse=True)
        vectors = view.rows(rows).astype(np.float32)
        shown, targets = np.split(places, 2)
        return np.asarray((vectors[shown] - vectors[targets]) ** 2)

    def distances(self, view: View, c: Doubles | None) -> Doubles:
        """Return the distances of every entry in a view as a person sees it, (entries,)."""
        squares = self.squares(view)
        if c is None:
            return np.asarray(squares.sum(axis=1, dtype=np.float64) / view.scale)
        return np.asarray(squares @ c**2 / (2.0 * float(c**2 @ view.variance) or 1.0))

    def chances(self, distances: Doubles, sharpness: float, slip: float) -> tuple[Doubles, Doubles]:
        """Return the probability of every click, (clicks,), and its log's slopes, (entries,).

        distances: (entries,), as far as they are told apart; the slopes are by these.
        """
        scaled = -sharpness * self.signs[self.clicks] * distances
        shares = np.exp(scaled - np.maximum.reduceat(scaled, self.first)[self.clicks])
        shares /= np.add.reduceat(shares, self.first)[self.clicks]
        count = np.bincount(self.clicks)
        meant = (1.0 - slip) * shares[self.first]
        chances = np.maximum(meant + slip / count, 1e-300)
        slopes = (meant / chances)[self.clicks] * shares
        slopes[self.first] -= meant / chances
        return chances, slopes * sharpness * self.signs[self.clicks]


def fit_axes(
    view: View, origins: Doubles, choices: Choices, model: Choice, noise: float
) -> Doubles:
    """Return c, (d,), under which the clicks are most probable, with a pull towards everybody's.

    origins: (d, views), of which views an axis is made, adding up to 1. log c adds up from a weight
    of each view, as far as the axis is made of it, and one of the axis itself. noise: σ.
    """
    loss = AxisLoss(view, choices, model, noise)
    # In units of the pulls: with these, the pull is the same for all.
    scales = np.sqrt([AXIS_CLICKS, VIEW_CLICKS])
    u = np.zeros(view.dimensions + origins.shape[1])
    first, second = np.zeros_like(u), np.zeros_like(u)
    a = np.zeros(view.dimensions)
    for number in range(1, _ROUNDS + 1):
        slopes = loss.gradient(a)
        gradient = u + np.concatenate([slopes / scales[0], slopes @ origins / scales[1]])
        first += 0.1 * (gradient - first)
        second += 0.001 * (gradient**2 - second)
        step = first / (1.0 - 0.9**number)
        u = u - _RATE * step / (np.sqrt(second / (1.0 - 0.999**number)) + 1e-8)
        of_axes, of_views = np.split(u, [view.dimensions])
        a = of_axes / scales[0] + origins @ of_views / scales[1]
        a = np.clip(a, -_LARGEST_LOG, _LARGEST_LOG)
    c = np.exp(a)
    return np.asarray(c * np.sqrt(view.variance.sum() / (c**2 @ view.variance or 1.0)))


class AxisLoss:
    """How badly a view with weights on its axes explains clicks: Σ −log P, by a = log c.

    Distances are in units of what two items are apart with c, as `Space` has them. noise: σ.
    """

    def __init__(self, view: View, choices: Choices, model: Choice, noise: float) -> None:
        self._squares = choices.squares(view)
        self._spread = 2.0 * view.variance
        self._choices = choices
        self._model = model
        self._sharpness = 1.0 / noise

    def value(self, a: Doubles) -> float:
        """Return the loss."""
        distances = self._distances(np.exp(2.0 * a))
        told = told_apart(distances, self._model)
        chances, _ = self._choices.chances(told, self._sharpness, self._model.slip)
        return -float(np.log(chances).sum())

    def gradient(self, a: Doubles) -> Doubles:
        """Return the derivatives of the loss, (d,)."""
        w = np.exp(2.0 * a)
        distances = self._distances(w)
        told = told_apart(distances, self._model)
        _, slopes = self._choices.chances(told, self._sharpness, self._model.slip)
        by_distance = -slopes
        if isinstance(self._model, Relative):
            by_distance /= distances + self._model.floor
        by_w = by_distance.astype(np.float32) @ self._squares
        by_w = by_w - float(by_distance @ distances) * self._spread
        return np.asarray(by_w * 2.0 * w / self._unit(w))

    def _unit(self, w: Doubles) -> float:
        return float(w @ self._spread) or 1.0

    def _distances(self, w: Doubles) -> Doubles:
        return np.asarray(self._squares @ w.astype(np.float32), np.float64) / self._unit(w)


def told_apart(distances: Doubles, model: Choice) -> Doubles:
    """Return distances as a model compares them: by differences, or by ratios."""
    return np.log(distances + model.floor) if isinstance(model, Relative) else distances


def _usual_noise(model: Choice, views: Sequence[str]) -> float:
    """Return the geometric mean of σ before any click."""
    grid = model.grid(views)
    prior = np.exp(grid.log_weights).reshape(-1, len(grid.sigmas)).sum(axis=0)
    return float(np.exp(prior @ np.log(grid.sigmas) / prior.sum()))


def _origins(view_map: LinearMap, views: Mapping[str, View]) -> Doubles:
    """Return by which share each view makes up each axis of a learned one, (d, views)."""
    parts = [
        views[part.view].variance @ part.matrix.astype(np.float64) ** 2 for part in view_map.inputs
    ]
    spread = np.stack(parts, axis=1)
    total = spread.sum(axis=1, keepdims=True)
    return np.asarray(spread / np.where(total > 0.0, total, 1.0))
