"""Learning from searches: the learned view, and the prior of θ over all views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from seeker.catalog.view_map import LinearMap, MapInput
from seeker.errors import BadInput
from seeker.learning.maps import FittedMatrix, fit_matrix, padded, pair_distances
from seeker.learning.observations import Observations, Pairs
from seeker.learning.theta import evidence, fit_prior, search_logs
from seeker.models import Choice, Relative
from seeker.space import View
from seeker.types import Array, Doubles, Floats, Rows

LEARNED = "learned"
"""The name of the learned view."""

AXES = 256
"""Principal axes of a view that a map may turn and stretch."""

HELD_ASIDE = 0.1
"""The share of the targets whose searches decide when to stop, and the prior of θ."""

FEW_SEARCHES = 1500
"""Of fewer searches every one is held aside once, by as many fits as there are parts."""

PARTS = 5

RIDGE_CLICKS = 200.0
"""The pull towards what was, in clicks: so many clicks count as much as it."""

PRIOR_SEARCHES = 10.0
"""How many searches the prior of θ without learning counts for."""

FLOOR = 0.2
"""Distances below it, in units of the even mixture of the views, are hardly told apart."""

LEAST_FLOOR = 1e-3
"""The model's own lowest floor."""

SIGMAS = (0.5, 0.25, 0.125, 0.0625)
"""Noise levels of ratios of distances."""

SLIPS = (0.02, 0.05, 0.1, 0.2)
"""Chances of a slip that are tried. With less, a single slip could rule out what is sought."""

OTHERS = 0.05
"""What mixtures other than the learned view alone count for before any search."""

Progress = Callable[[int, int], None]
"""progress(done, total), called now and then."""


@dataclass(frozen=True, eq=False)
class ViewSample:
    """A view as far as it is learned from: vectors, (n, d), of the items that take part.

    mean, (d,), and scale are those of the whole view, as `seeker.space.View` has them.
    """

    vectors: Floats = field(repr=False)
    mean: Doubles = field(repr=False)
    scale: float

    @classmethod
    def of(cls, view: View, rows: Rows) -> ViewSample:
        """Take the items at these rows."""
        return cls(view.rows(rows).astype(np.float32), view.mean, view.scale)


@dataclass(frozen=True, eq=False)
class Part:
    """Searches that were held aside once, (searches,), and the map that was fitted without them."""

    aside: Array = field(repr=False)
    map: LinearMap


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned.

    maps: the learned views, each a linear map of views that there were. model: what sessions
    begin with: sigmas, slip, and the prior of θ over `views`, in this order: those that there
    were, then the learned ones. before, after: mean log-probability of a click of the searches
    that the map was not fitted to, without and with what was learned. scales: of every learned
    view, the mean squared distance of two items that take part, in which its floor is meant.
    parts: of few searches, all of them, each with a map that does not know it.
    """

    maps: tuple[LinearMap, ...]
    views: tuple[str, ...]
    model: Relative
    before: float
    after: float
    scales: tuple[float, ...]
    parts: tuple[Part, ...] = ()

    @property
    def mixtures(self) -> Doubles:
        """The prior of each mixture of views, (mixtures,), in the order of `model.mixtures`."""
        weights = np.array(self.model.weights)
        return np.asarray(weights.reshape(-1, len(self.model.sigmas)).sum(axis=1))


def fit(
    views: Mapping[str, ViewSample],
    observations: Observations,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    model: Choice | None = None,
    rounds: int = 40,
) -> Learned:
    """Learn a map and the prior of θ from searches.

    What people choose is explained by ratios of distances in the learned view (`Relative`).
    views: in the catalog's order, those that are measured by squared Euclidean distances.
    observations: rows number the items of the samples. model: what counts before. The same
    arguments give the same result on the same machine; another machine's linear algebra may round
    otherwise. Items that are not in any search take no part: apply the maps to them afterwards.
    """
    if not views or not observations.clicks:
        raise BadInput("There is nothing to learn from.", "Give views and searches with clicks.")
    usual = model or Choice()
    items = len(next(iter(views.values())).vectors)
    inputs = {name: _principal(sample, AXES) for name, sample in views.items()}
    vectors = _joined(views, inputs)
    folds = hold_aside(observations.targets, seed)
    tell = _Teller(progress, (len(folds) + (len(folds) > 1)) * rounds)
    names = (*views, LEARNED)
    distances: list[Array] = []
    held: list[Pairs] = []
    fits: list[FittedMatrix] = []
    for aside in folds:
        train = Pairs(observations.subset(~aside), items)
        valid = Pairs(observations.subset(aside), items)
        fits.append(_fit(vectors, train, valid, usual.slip, rounds, tell.step))
        tell.reach(len(fits) * rounds)
        mapped = vectors @ fits[-1].matrix
        raw = [pair_distances(padded(one.vectors), valid) / one.scale for one in views.values()]
        distances.append(np.stack([*raw, pair_distances(mapped, valid) / _scale(mapped)]))
        held.append(valid)
    fitted, parts = fits[0], list[Part]()
    if len(folds) > 1:
        maps = [_map(LEARNED, views, inputs, one) for one in fits]
        parts = [Part(aside, one) for aside, one in zip(folds, maps, strict=True)]
        enough = max(1, round(float(np.mean([one.rounds for one in fits]))))
        every = Pairs(observations, items)
        fitted = _fit(vectors, every, None, usual.slip, enough, tell.step)
    scale = _scale(vectors @ fitted.matrix)
    learned_map = _map(LEARNED, views, inputs, fitted)
    chosen, before, after = _prior(distances, held, names, usual, FLOOR / scale)
    tell.reach(tell.total)
    return Learned((learned_map,), names, chosen, before, after, (scale,), tuple(parts))


class _Teller:
    """Tells of rounds that are done, or were not needed."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress = progress
        self.total = total
        self.done = 0

    def step(self) -> None:
        """Tell that a round is done."""
        self.reach(self.done + 1)

    def reach(self, done: int) -> None:
        """Tell that so many rounds need not be waited for any more."""
        self.done = max(self.done, done)
        if self.progress is not None:
            self.progress(self.done, self.total)


def _fit(
    vectors: Floats,
    train: Pairs,
    valid: Pairs | None,
    slip: float,
    rounds: int,
    step: Callable[[], None],
) -> FittedMatrix:
    ridge = RIDGE_CLICKS / max(1, train.observations.clicks)
    return fit_matrix(vectors, train, valid, ridge, slip, FLOOR, rounds, progress=step)


def _scale(vectors: Floats) -> float:
    """Return the mean squared distance between two of some vectors; 1 where all are alike."""
    return 2.0 * float(vectors.astype(np.float64).var(axis=0).sum()) or 1.0


def hold_aside(targets: Rows, seed: int) -> list[Array]:
    """Return which searches are held aside by each fit, (searches,): all those of some targets.

    Of many searches, one fit holds aside a tenth of the targets. Of few, each of several fits
    holds aside its part, so that every search is foretold by a fit that does not know its target.
    """
    different = np.unique(targets)
    drawn = np.random.default_rng([seed, len(different)]).permutation(different)
    if len(targets) >= FEW_SEARCHES or len(different) < PARTS:
        return [np.isin(targets, drawn[: max(1, round(HELD_ASIDE * len(different)))])]
    return [np.isin(targets, drawn[part::PARTS]) for part in range(PARTS)]


def _principal(sample: ViewSample, axes: int) -> Doubles:
    """Return the principal axes of a view, (d, axes), as the columns of a matrix."""
    if sample.vectors.shape[1] <= axes:
        return np.eye(sample.vectors.shape[1])
    centred = sample.vectors.astype(np.float64) - sample.mean
    return np.asarray(np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :axes])


def _joined(views: Mapping[str, ViewSample], inputs: Mapping[str, Doubles]) -> Floats:
    """Return all views side by side, (n, d), such that distances are those of the even mixture."""
    parts = [
        (one.vectors - one.mean) @ inputs[name] / np.sqrt(one.scale * len(views))
        for name, one in views.items()
    ]
    return padded(np.concatenate(parts, axis=1))


def _map(
    name: str,
    views: Mapping[str, ViewSample],
    inputs: Mapping[str, Doubles],
    fitted: FittedMatrix,
) -> LinearMap:
    """Return the map that leads from the views as they are to the fitted ones."""
    parts, first = [], 0
    width = sum(axes.shape[1] for axes in inputs.values())
    for view, sample in views.items():
        axes = inputs[view]
        rows = fitted.matrix[first : first + axes.shape[1], :width].astype(np.float64)
        matrix = axes @ rows / np.sqrt(sample.scale * len(views))
        parts.append(MapInput(view, sample.mean.astype(np.float32), matrix.astype(np.float32)))
        first += axes.shape[1]
    return LinearMap(name, tuple(parts))


def _prior(
    distances: Sequence[Array],
    held: Sequence[Pairs],
    views: tuple[str, ...],
    usual: Choice,
    floor: float,
) -> tuple[Relative, float, float]:
    """Return the model with slip and prior of θ under which searches held aside are most probable.

    distances: by part, (views, pairs), the learned view last. Also returned: the mean
    log-probability of a click before, without the last view, and after.
    """
    weights = np.concatenate([one.observations.weights for one in held])
    clicks = float(sum(one.click_weights.sum() for one in held))

    def logs(model: Choice, count: int) -> Doubles:
        """Return the log-likelihood of all searches by the first views, (searches, thetas)."""
        parts = zip(distances, held, strict=True)
        return np.concatenate([search_logs(one[:count], pairs, model) for one, pairs in parts])

    known = np.exp(usual.grid(views[:-1]).log_weights)
    before = float(weights @ evidence(logs(usual, len(views) - 1), known)) / clicks
    shares = np.full(len(Relative.mixtures(len(views))), OTHERS)
    shares[-1] = 1.0  # the last is the learned view alone
    start = np.repeat(shares, len(SIGMAS))
    chosen, after = Relative(), -np.inf
    for slip in SLIPS:
        model = Relative(SIGMAS, slip, usual.beta, words=usual.words, floor=max(floor, LEAST_FLOOR))
        likelihoods = logs(model, len(views))
        prior = fit_prior(likelihoods, weights, start, PRIOR_SEARCHES)
        explained = float(weights @ evidence(likelihoods, prior)) / clicks
        if explained > after:
            # Rounded, so that the start event of a session stays short.
            rounded = tuple(float(one) for one in np.round(prior, 6))
            chosen, after = replace(model, weights=rounded), explained
    return chosen, before, after
