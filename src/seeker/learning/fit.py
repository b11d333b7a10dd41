"""Learning from searches: the learned view, and the prior of θ over all views."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from seeker.errors import BadInput
from seeker.learning.maps import FittedMatrix, fit_matrix, padded, pair_distances
from seeker.learning.observations import Observations, Pairs
from seeker.learning.theta import fit_prior, search_logs
from seeker.models import Choice
from seeker.space import View
from seeker.space.linear_map import LinearMap, MapInput
from seeker.types import Array, Doubles, Floats, Rows

LEARNED = "learned"
"""The name of the learned view."""

AXES = 256
"""Principal axes of a view that a map may turn and stretch."""

HELD_ASIDE = 0.1
"""The share of the targets whose searches decide when to stop, and the prior of θ."""

RIDGE_CLICKS = 400.0
"""The pull towards what was, in clicks: so many clicks count as much as it."""

PRIOR_SEARCHES = 10.0
"""How many searches the prior of θ without learning counts for."""

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
class Learned:
    """What was learned.

    maps: the learned views, each a linear map of views that there were. model: what sessions
    begin with: sigmas, slip, and the prior of θ over `views`, in this order: those that there
    were, then the learned ones. before, after: mean log-probability of a click of the searches
    that the map was not fitted to, without and with what was learned. scales: of every learned
    view, the mean squared distance of two items that take part, in which its sigmas are meant.
    """

    maps: tuple[LinearMap, ...]
    views: tuple[str, ...]
    model: Choice
    before: float
    after: float
    scales: tuple[float, ...]

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
    rounds: int = 60,
) -> Learned:
    """Learn a map and the prior of θ from searches.

    views: in the catalog's order, those that are measured by squared Euclidean distances.
    observations: rows number the items of the samples. model: what counts before. The same
    arguments give the same result on the same machine; another machine's linear algebra may round
    otherwise. Items that are not in any search take no part: apply the maps to them afterwards.
    """
    if not views or not observations.clicks:
        raise BadInput("There is nothing to learn from.", "Give views and searches with clicks.")
    usual = model or Choice()
    items = len(next(iter(views.values())).vectors)
    aside = hold_aside(observations.targets, seed)
    train = Pairs(observations.subset(~aside), items)
    valid = Pairs(observations.subset(aside), items)
    inputs = {name: _principal(sample, AXES) for name, sample in views.items()}
    vectors = _joined(views, inputs)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, rounds + 1)

    ridge = RIDGE_CLICKS / max(1, train.observations.clicks)
    fitted = fit_matrix(vectors, train, valid, ridge, usual.slip, rounds=rounds, progress=step)
    learned_map = _map(LEARNED, views, inputs, fitted)
    mapped = padded(learned_map.apply({name: one.vectors for name, one in views.items()}))
    scale = 2.0 * float(mapped.astype(np.float64).var(axis=0).sum()) or 1.0
    distances = [
        pair_distances(padded(one.vectors), valid) / one.scale for one in views.values()
    ] + [pair_distances(mapped, valid) / scale]
    names = (*views, LEARNED)
    chosen, before, after = _prior(np.stack(distances), valid, names, usual)
    if progress is not None:
        progress(rounds + 1, rounds + 1)
    return Learned((learned_map,), names, chosen, before, after, (scale,))


def hold_aside(targets: Rows, seed: int) -> Array:
    """Return which searches are held aside, (searches,): all those of a tenth of the targets."""
    different = np.unique(targets)
    rng = np.random.default_rng([seed, len(different)])
    count = max(1, round(HELD_ASIDE * len(different)))
    return np.isin(targets, rng.choice(different, count, replace=False))


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
    distances: Array, pairs: Pairs, views: tuple[str, ...], usual: Choice
) -> tuple[Choice, float, float]:
    """Return the model with the prior of θ under which searches are most probable.

    Also the mean log-probability of a click before, without the last view, and after.
    """
    from seeker.learning.theta import evidence

    weights = pairs.observations.weights
    clicks = float(pairs.click_weights.sum())
    sigmas = np.array(usual.sigmas)
    mixtures = usual.mixtures(len(views))
    logs = search_logs(distances, pairs, mixtures, sigmas, usual.slip)
    start = np.exp(usual.grid(views).log_weights)
    prior = fit_prior(logs, weights, start, PRIOR_SEARCHES)
    raw = usual.grid(views[:-1])
    raw_logs = search_logs(distances[:-1], pairs, raw.mixtures, sigmas, usual.slip)
    before = float(weights @ evidence(raw_logs, np.exp(raw.log_weights))) / clicks
    after = float(weights @ evidence(logs, prior)) / clicks
    # Rounded, so that the start event of a session stays short.
    rounded = tuple(float(one) for one in np.round(prior, 6))
    return Choice(usual.sigmas, usual.slip, usual.beta, rounded), before, after
