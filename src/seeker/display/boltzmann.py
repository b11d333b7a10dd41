"""Boltzmann exploration: items drawn without replacement by their probability (Gumbel-max)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from seeker.display import keys
from seeker.display.base import First, Ranking, Scene, Strategy, check_first
from seeker.display.cover import Covered
from seeker.errors import BadInput
from seeker.models.checks import check_number
from seeker.numbers import few_numbers
from seeker.types import Doubles, Rows

PAPER_C = math.sqrt(1.0 / 8.0)

_TABULATED = 256


@dataclass(frozen=True)
class Boltzmann(Strategy):
    """z = g + C γ / √n, γ ~ Gumbel(0, 1), n = 1 + clicks on the item; the highest z first.

    score: g is the log-posterior ("log") or the posterior ("probability"). schedule: the inverse
    temperatures η of steps 0, 1, …, the last one staying in force; then z = g + γ / η, and c is
    not used. η = 0 is pure exploration, infinity pure exploitation. A function of the step is
    tabulated for the first 256 steps. first="cover": a covering page while nothing is known.
    """

    name = "boltzmann"
    c: float = PAPER_C
    score: Literal["log", "probability"] = "log"
    schedule: Sequence[float] | Callable[[int], float] | None = None
    first: First = "cover"

    def __post_init__(self) -> None:
        check_number("c", self.c, 0.0)
        check_first(self.first)
        if self.score not in ("log", "probability"):
            raise BadInput(f"score is {self.score!r}, but it must be 'log' or 'probability'.")
        if self.schedule is not None:
            object.__setattr__(self, "schedule", _tabulated(self.schedule))

    def rank(self, scene: Scene) -> Ranking:
        width = self._width(scene.step)
        if width is None:
            return scene.shuffled()
        per_click = self.schedule is None
        order: Ranking
        if self.score == "log":
            order = scene.ordered(width, per_click)
        else:
            order = scene.by_probability(width, per_click)
        return Covered(scene, order) if scene.blank and self.first == "cover" else order

    def bolder(self, level: float) -> Strategy:
        if self.schedule is None:
            return replace(self, c=self.c * level)
        assert isinstance(self.schedule, tuple)
        etas = [math.inf if level == 0.0 else eta / level for eta in self.schedule]
        return replace(self, schedule=etas)

    def _width(self, step: int) -> float | None:
        """Return the factor of the noise; None where there is nothing but noise."""
        if self.schedule is None:
            return self.c
        etas = self.schedule
        assert isinstance(etas, tuple)
        eta = etas[min(step, len(etas) - 1)]
        return None if eta == 0.0 else 1.0 / eta


def _tabulated(schedule: Sequence[float] | Callable[[int], float]) -> tuple[float, ...]:
    """Return the inverse temperatures of the first steps, without repeating the last."""
    given = [schedule(step) for step in range(_TABULATED)] if callable(schedule) else schedule
    if isinstance(given, tuple | list):
        given = [math.inf if eta == "inf" else eta for eta in given[:10_001]]  # as JSON has it
    etas = list(few_numbers("schedule", given, 10_000))
    if not etas or any(math.isnan(eta) or eta < 0.0 for eta in etas):
        raise BadInput("schedule must hold at least one inverse temperature, and none below 0.")
    while len(etas) > 1 and etas[-1] == etas[-2]:
        etas.pop()
    return tuple(etas)


def noisy_probabilities(
    scene: Scene,
    width: float,
    per_click: bool,
    log_total: float | None = None,
    rows: Rows | None = None,
) -> Doubles:
    """Return posterior + width · noise / √n of all items, or of some rows, (items,) or (rows,).

    log_total: the log of the sum of e**score over the whole catalog, where this is a part of it.
    """
    from seeker.kernels.noise import gumbel

    logs = scene.scores.everywhere() if rows is None else scene.scores.at(rows)
    places = np.arange(len(logs)) if rows is None else rows
    logs -= np.logaddexp.reduce(logs) if log_total is None else log_total
    noise = np.empty(len(logs))
    gumbel(keys.key(scene.seed, scene.step, keys.RANKING), places + scene.first, noise)
    noise *= width
    if per_click:
        for row, count in scene.clicks.items():
            noise[places == row] /= math.sqrt(1.0 + count)
    return np.exp(logs) + noise
