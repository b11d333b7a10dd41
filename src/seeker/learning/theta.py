"""The prior of θ, mixtures of views × noise levels, from searches of which the target is known."""

from __future__ import annotations

import numpy as np

from seeker.kernels.parallel import over_blocks
from seeker.learning.observations import Pairs
from seeker.models import Choice, Relative
from seeker.types import Array, Doubles


def search_logs(distances: Array, pairs: Pairs, model: Choice) -> Doubles:
    """Return the log-likelihood of every search's clicks given its target, (searches, thetas).

    distances: (views, pairs), in the units in which two random items are 1 apart. θ: those of the
    model for so many views.
    """
    from seeker.kernels.pairs import choice_logs

    observations = pairs.observations
    mixtures = model.mixtures(len(distances))
    sharpness = 1.0 / np.array(model.sigmas)
    out = np.empty((observations.clicks, len(mixtures) * len(sharpness)))
    over_blocks(
        observations.clicks,
        lambda start, stop: choice_logs(
            distances,
            mixtures,
            sharpness,
            model.slip,
            floor_of(model),
            observations.offsets,
            pairs.of_shown,
            pairs.signs,
            start,
            stop,
            out,
        ),
    )
    total = np.zeros((len(observations), out.shape[1]))
    np.add.at(total, observations.searches, out)
    return total


def floor_of(model: Choice) -> float:
    """Return the floor below which a model does not tell distances apart; 0 where it has none."""
    return model.floor if isinstance(model, Relative) else 0.0


def fit_prior(
    logs: Doubles, weights: Doubles, start: Doubles, strength: float, rounds: int = 200
) -> Doubles:
    """Return the prior of θ under which searches are most probable, (thetas,), by EM.

    logs: (searches, thetas); weights: (searches,). The prior before any search, `start`, counts
    as much as `strength` searches: few searches change little, and nothing becomes impossible.
    """
    prior = start / start.sum()
    shrunk = strength * prior
    for _ in range(rounds):
        shares = posterior(logs, prior)
        after = shrunk + weights @ shares
        after /= after.sum()
        if np.abs(after - prior).max() < 1e-9:
            break
        prior = after
    return np.asarray(prior)


def posterior(logs: Doubles, prior: Doubles) -> Doubles:
    """Return the probability of every θ given each search, (searches, thetas)."""
    with np.errstate(divide="ignore"):
        joint = logs + np.log(prior)
    joint -= joint.max(axis=1, keepdims=True)
    shares = np.exp(joint)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def evidence(logs: Doubles, prior: Doubles) -> Doubles:
    """Return log Σ_θ P(θ) P(clicks | target, θ) of every search, (searches,)."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp.reduce(logs + np.log(prior), axis=1))
