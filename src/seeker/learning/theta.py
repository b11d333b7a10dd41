"""The prior of θ, mixtures of views × noise levels, from searches of which the target is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seeker.kernels.parallel import over_blocks
from seeker.learning.observations import Pairs
from seeker.models import Choice, Relative
from seeker.types import Array, Doubles

Shares = tuple[float, float, float]
"""Of all words that people say, how many are by letters, by meaning, and by chance."""

LEAST_WORDS = 40
WORDS_STRENGTH = 40.0
LEAST_CHANCE = 0.05
"""Fewer words teach nothing; so many words count what was usual; and so many are never excluded."""


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


def fit_words(
    said: Sequence[tuple[float | None, float | None]], weights: Doubles, aside: Array, usual: Shares
) -> Shares:
    """Return how many words stand for their target by letters, by meaning, and by chance, by EM.

    said: for each, how much more the target matches by letters, and by meaning, than the average
    item; where no words have a meaning, its share stays. weights, aside: (said,), how much each
    counts, and which are held aside. The usual shares count as much as WORDS_STRENGTH words, and
    stay where there are fewer than LEAST_WORDS, or where those held aside are not more probable.
    """
    parts = [0, 2] if all(meaning is None for _, meaning in said) else [0, 1, 2]
    comparable = np.array([all((*one, 1.0)[part] is not None for part in parts) for one in said])
    if (comparable & ~aside).sum() < LEAST_WORDS or not (comparable & aside).any():
        return usual
    matches = [[float((*one, 1.0)[part] or 0.0) for part in parts] for one in said]
    logs = np.log(np.maximum(matches, 1e-30))
    whole = sum(usual[part] for part in parts)
    start = np.array([usual[part] for part in parts]) / whole
    train, test = comparable & ~aside, comparable & aside
    shares = fit_prior(logs[train], weights[train], start, WORDS_STRENGTH)
    shares[-1] = max(shares[-1], LEAST_CHANCE)
    shares /= shares.sum()
    if weights[test] @ (evidence(logs[test], shares) - evidence(logs[test], start)) <= 0.0:
        return usual
    fitted = list(usual)
    for part, share in zip(parts, np.round(shares * whole, 3).tolist(), strict=True):
        fitted[part] = share
    return fitted[0], fitted[1], 1.0 - fitted[0] - fitted[1]


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
