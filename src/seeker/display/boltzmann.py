"""Boltzmann exploration: items drawn without replacement by their probability (Gumbel-max)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from seeker.display.base import RankingContext, Strategy
from seeker.display.first_page import First, check_first, first_page
from seeker.display.ranking import Ranking
from seeker.errors import BadInput, short_repr
from seeker.validation import check_few_numbers, check_number

PAPER_C = math.sqrt(1.0 / 8.0)

_TABLE_STEPS = 256
_MAX_SCHEDULE_STEPS = 10_000

_MAX_WIDTH = 1e30
"""Beyond this factor there is nothing but noise, and soon no number for it."""


@dataclass(frozen=True)
class Boltzmann(Strategy):
    """z = g + C γ / √n, γ ~ Gumbel(0, 1), n = 1 + clicks on the item; the highest z first.

    score: g is the log-posterior ("log") or the posterior ("probability"). schedule: the inverse
    temperatures η of steps 0, 1, …, the last one staying in force; then z = g + γ / η, and c is
    not used. η = 0 is pure exploration, infinity pure exploitation. A function of the step is
    tabulated for the first 256 steps. first="pool": while nothing is known, one of a few pages that
    cover the catalog; "cover": one found for this search alone; "ranked": as any other.
    """

    name = "boltzmann"
    c: float = PAPER_C
    score: Literal["log", "probability"] = "log"
    schedule: Sequence[float] | Callable[[int], float] | None = None
    first: First = "pool"

    def __post_init__(self) -> None:
        check_number("c", self.c, 0.0, below=_MAX_WIDTH)
        check_first(self.first)
        if self.score not in ("log", "probability"):
            raise BadInput(
                f"score is {short_repr(self.score)}, but it must be 'log' or 'probability'."
            )
        if self.schedule is not None:
            object.__setattr__(self, "schedule", _schedule_table(self.schedule))

    def rank(self, context: RankingContext) -> Ranking:
        width = self._width(context.step)
        if width is None:
            return context.shuffled()
        ordered = context.ordered if self.score == "log" else context.by_probability
        return first_page(context, ordered(width, self._etas is None), self.first)

    def with_exploration(self, level: float) -> Strategy:
        if self._etas is None:
            return replace(self, c=self.c * level)
        etas = [math.inf if level == 0.0 else eta / level for eta in self._etas]
        return replace(self, schedule=etas)

    @property
    def _etas(self) -> tuple[float, ...] | None:
        """The schedule, which was tabulated at the beginning."""
        return cast("tuple[float, ...] | None", self.schedule)

    def _width(self, step: int) -> float | None:
        """Return the factor of the noise; None where there is nothing but noise."""
        if self._etas is None:
            return self.c
        eta = self._etas[min(step, len(self._etas) - 1)]
        return None if eta * _MAX_WIDTH < 1.0 else 1.0 / eta


def _schedule_table(schedule: Sequence[float] | Callable[[int], float]) -> tuple[float, ...]:
    """Return the inverse temperatures of the first steps, without repeating the last."""
    table = [schedule(step) for step in range(_TABLE_STEPS)] if callable(schedule) else schedule
    if isinstance(table, tuple | list):  # JSON has no infinity
        table = [math.inf if eta == "inf" else eta for eta in table[: _MAX_SCHEDULE_STEPS + 1]]
    etas = list(check_few_numbers("schedule", table, _MAX_SCHEDULE_STEPS))
    if not etas or any(math.isnan(eta) or eta < 0.0 for eta in etas):
        raise BadInput("schedule must hold at least one inverse temperature, and none below 0.")
    while len(etas) > 1 and etas[-1] == etas[-2]:
        etas.pop()
    return tuple(etas)
