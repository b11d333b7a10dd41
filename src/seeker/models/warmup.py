"""Compiling the kernels before the first click, so that the first click does not wait for it."""

from __future__ import annotations

import numpy as np

from seeker.models.base import ClickEvidence, Evidence, TextEvidence
from seeker.models.scores import ItemScores, Scores
from seeker.models.words import WordsTerm
from seeker.space.columns import DirectionProbe

_warm: set[object] = set()


def warm_up(scores: ItemScores) -> None:
    """Run every kernel that sessions of this kind will need once, on next to nothing.

    It is done once per process and kind. With numba's cache on disk it takes a fraction of a
    second; the very first time on a machine it takes as long as compiling.
    """
    space = scores.space
    kind = (type(scores.model), space.dtype, tuple(view.stored.dtype for view in space.views))
    details = (space.summed_in, space.fast, tuple(type(view.stored) for view in space.views))
    if (kind, details) in _warm:
        return
    from seeker.kernels.noise import above, bound, gumbel
    from seeker.kernels.posterior import mass, mass_by_theta, round_up
    from seeker.kernels.posterior import scores as average_thetas

    rows = np.arange(1)
    direction = (0.0,) * space.views[0].dimensions
    clicks = (
        ClickEvidence(0, True, (0,)),
        ClickEvidence(scores.count - 1, False, (scores.count - 1, 0)),
    )
    said = WordsTerm("", 0.5, 0.25, 1.0, DirectionProbe(0, direction, plain=True))
    example = ClickEvidence(0, True, (0,), times=2, doubt=0.5)
    words = Evidence((example,), (TextEvidence(0, direction),), (said,))
    for evidence in (Evidence(clicks), words):
        terms = scores.model.terms(evidence, space)
        scores.values(terms, rows)
        if isinstance(scores, Scores):
            # Sums that are kept here are added to where they are, in 32 bits while these hold them.
            scores.evaluator.values(terms, rows, np.dtype(np.int32))
    values, floats = scores.at(rows), np.zeros(1, np.float32)
    round_up(values, floats)
    gumbel(np.uint64(1), rows, values)
    bound(floats, 0, np.uint64(1), np.float32(1.0), floats.copy(), 1)
    above(floats, np.float32(0.0), 1)
    mass(values, 0.0)
    for dtype in (np.int32, np.int64):
        weights = scores.grid.log_weights
        sums = np.zeros((len(weights), 1), dtype)
        average_thetas(sums, weights, np.zeros(1))
        mass_by_theta(sums, 0, weights, np.zeros(1), np.zeros(len(weights)))
    _warm.add((kind, details))
