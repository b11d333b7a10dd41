"""Figures of merit over searches, with honest intervals, and calibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seeker.lab.outcomes import Outcomes
from seeker.types import Array, Doubles

MAX_RHO = 0.1
"""Recall is drawn and integrated up to this normalised rank: nobody scrolls past it."""

_BOOTSTRAP_DRAWS = 2000


@dataclass(frozen=True)
class LeaderBoardLine:
    """One line of the leader board."""

    method: str
    searches: int
    found: Estimate
    worst: float
    worst_person: str
    steps: Estimate
    median_steps: float
    recall_1: float
    area: float
    log_rank: float
    milliseconds: float


def leader_board(outcomes: Outcomes) -> list[LeaderBoardLine]:
    """Return all methods, best first: found rate averaged over people, each counting alike."""
    lines = []
    for method in outcomes.methods:
        mine = outcomes.of(method)
        by_person = {person: mine.of(person=person) for person in mine.people}
        worst = min(by_person, key=lambda person: float(by_person[person].found.mean()))
        lines.append(
            LeaderBoardLine(
                method,
                len(mine),
                mean_over_people(mine, mine.found.astype(np.float64)),
                float(by_person[worst].found.mean()),
                worst,
                mean_over_people(mine, mine.steps.astype(np.float64)),
                float(np.median(mine.steps)),
                float(np.mean([(one.best <= 0.01).mean() for one in by_person.values()])),
                float(np.mean([recall_area(one) for one in by_person.values()])),
                log_rank_area(mine),
                float(np.median(mine.milliseconds)),
            )
        )
    return sorted(lines, key=lambda line: (-line.found.value, line.steps.value, line.method))


def recall(outcomes: Outcomes, rhos: Doubles) -> Doubles:
    """Return the share of searches whose target was ever ranked at ρ or better, (rhos,)."""
    return np.asarray((outcomes.best[:, None] <= rhos).mean(axis=0))


def recall_area(outcomes: Outcomes, most: float = MAX_RHO) -> float:
    """Return the area under recall@ρ for ρ from 0 to `most`, as a share of the largest."""
    return float(np.maximum(1.0 - outcomes.best / most, 0.0).mean())


def steps_to(outcomes: Outcomes, rho: float) -> Doubles:
    """Return after how many judged pages the target was first ranked at ρ or better.

    (searches,); the number of pages where it never was.
    """
    reached = outcomes.ranks <= rho
    last = outcomes.ranks.shape[1] - 1
    return np.asarray(np.where(reached.any(axis=1), reached.argmax(axis=1), last), np.float64)


def log_rank_area(outcomes: Outcomes) -> float:
    """Return the mean over pages of log10 of the normalised rank: lower is better."""
    return float(np.log10(outcomes.ranks).mean())


@dataclass(frozen=True)
class CalibrationBin:
    """Pages for which about the same was claimed."""

    claimed: float
    happened: float
    low: float
    high: float
    pages: int


def calibration(outcomes: Outcomes, bins: int = 10) -> tuple[list[CalibrationBin], float]:
    """Return what was claimed beside what happened, and the expected calibration error.

    The error is the mean over all pages of |claimed − happened| of the page's bin. Pages before
    which nothing was known count as well. Without any claim the bins are empty and the error NaN.
    """
    has_claim = ~np.isnan(outcomes.claims)
    claims, hits = outcomes.claims[has_claim], outcomes.hits[has_claim]
    if not len(claims):
        return [], float("nan")
    where = np.minimum((claims * bins).astype(np.int64), bins - 1)
    in_bins, error = [], 0.0
    for place in range(bins):
        inside = where == place
        count = int(inside.sum())
        if not count:
            continue
        claimed, happened = float(claims[inside].mean()), float(hits[inside].mean())
        low, high = wilson(int(hits[inside].sum()), count)
        in_bins.append(CalibrationBin(claimed, happened, low, high, count))
        error += abs(claimed - happened) * count / len(claims)
    return in_bins, error


@dataclass(frozen=True)
class Estimate:
    """A mean with a 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f}–{self.high:.2f})"


def mean_over_people(outcomes: Outcomes, values: Doubles, seed: int = 0) -> Estimate:
    """Return the mean of people's means; the bootstrap redraws targets, shared by all people.

    For studies, it redraws participants with all their searches.
    """
    tasks, place = np.unique(outcomes.unit.astype(str), return_inverse=True)
    people, who = np.unique(outcomes.person.astype(str), return_inverse=True)
    sums, counts = np.zeros((len(people), len(tasks))), np.zeros((len(people), len(tasks)))
    np.add.at(sums, (who, place), values)
    np.add.at(counts, (who, place), 1.0)
    rng = np.random.default_rng(seed)
    picks = rng.integers(len(tasks), size=(_BOOTSTRAP_DRAWS, len(tasks)))
    weights = np.zeros((_BOOTSTRAP_DRAWS, len(tasks)))
    for row, pick in zip(weights, picks, strict=True):
        row += np.bincount(pick, minlength=len(tasks))
    top, bottom = weights @ sums.T, weights @ counts.T
    draws = (top / np.maximum(bottom, 1e-12)).mean(axis=1)
    value = float((sums.sum(axis=1) / counts.sum(axis=1)).mean())
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def bootstrap(
    values: Array, statistic: Callable[[Doubles], float] | None = None, seed: int = 0
) -> Estimate:
    """Return the mean, or another statistic, of values with a 95 % percentile interval."""
    sample = np.asarray(values, np.float64)
    rng = np.random.default_rng(seed)
    picks = rng.integers(len(sample), size=(_BOOTSTRAP_DRAWS, len(sample)))
    if statistic is None:
        value, draws = float(sample.mean()), sample[picks].mean(axis=1)
    else:
        value = statistic(sample)
        draws = np.array([statistic(sample[pick]) for pick in picks])
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share; unlike the bootstrap it is not 0 wide at 1."""
    z = 1.959964
    share = hits / count
    centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))
