"""Calibration: does a claimed 80 % that the target is on this page mean 80 %."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seeker.lab.metrics import wilson
from seeker.lab.outcomes import Outcomes


@dataclass(frozen=True)
class Bin:
    """Pages for which about the same was claimed."""

    claimed: float
    happened: float
    low: float
    high: float
    pages: int


def calibration(outcomes: Outcomes, bins: int = 10) -> tuple[list[Bin], float]:
    """Return what was claimed beside what happened, and the expected calibration error.

    The error is the mean over all pages of |claimed − happened| of the page's bin. Pages before
    which nothing was known count as well. Without any claim the bins are empty and the error NaN.
    """
    known = ~np.isnan(outcomes.claims)
    claims, hits = outcomes.claims[known], outcomes.hits[known]
    if not len(claims):
        return [], float("nan")
    where = np.minimum((claims * bins).astype(np.int64), bins - 1)
    made, error = [], 0.0
    for place in range(bins):
        inside = where == place
        count = int(inside.sum())
        if not count:
            continue
        claimed, happened = float(claims[inside].mean()), float(hits[inside].mean())
        low, high = wilson(int(hits[inside].sum()), count)
        made.append(Bin(claimed, happened, low, high, count))
        error += abs(claimed - happened) * count / len(claims)
    return made, error
