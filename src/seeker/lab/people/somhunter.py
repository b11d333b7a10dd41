"""The four people of SOMHunter's simulator, each of whom likes one item of every page.

After https://github.com/siret-junior/somhunter-simulator: the ideal user takes the item nearest
to the target, the null user any item, the power user draws with probability s^power + up, where
s = (1 + cos) / 2 is the similarity to the target, and the logit user draws by a logistic
regression on distance, rank and place on the screen. A distance of ours is about (1 − cos), so
s = 1 − D / 2. The regression's coefficients were published only as a pickle; ours are chosen to
make nearness count most and the first places a little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seeker.lab.people.base import Glance, Person, Reaction
from seeker.lab.people.pages import LikesOnly
from seeker.types import Doubles


@dataclass(frozen=True)
class Ideal(LikesOnly):
    """Likes the nearest item, as our *likes only* does."""

    name = "SOMHunter ideal"


@dataclass(frozen=True)
class Null(Person):
    """Likes any item: a control nobody should find anything with."""

    name = "SOMHunter null"

    def react(self, glance: Glance, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        return Reaction(likes=(int(rng.integers(len(glance.distances))),))


@dataclass(frozen=True)
class Power(Person):
    """Likes an item with probability proportional to similarity^power + up."""

    name = "SOMHunter power"
    power: float = 12.0
    up: float = 0.0

    def react(self, glance: Glance, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        similarity = np.maximum(1.0 - glance.distances / 2.0, 1e-3)
        return Reaction(likes=(_drawn(similarity**self.power + self.up, rng),))


@dataclass(frozen=True)
class Logit(Person):
    """Likes an item by logistic regression on its distance, its rank and its place on screen."""

    name = "SOMHunter logit"
    constant: float = 1.0
    distance: float = -3.0
    rank: float = -0.5
    first: float = 0.3
    columns: int = 4

    def react(self, glance: Glance, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        place = np.arange(len(glance.distances))
        rank = np.argsort(np.argsort(glance.distances, kind="stable"), kind="stable")
        logit = (
            self.constant
            + self.distance * glance.distances
            + self.rank * rank
            + self.first * np.maximum(1.0 - place / self.columns, 0.0)
        )
        return Reaction(likes=(_drawn(1.0 / (1.0 + np.exp(-logit)), rng),))


def _drawn(weights: Doubles, rng: np.random.Generator) -> int:
    return int(rng.choice(len(weights), p=weights / weights.sum()))
