"""People who judge a page by what is near and far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seeker.lab.people.base import PageView, Person, Reaction
from seeker.types import Doubles


@dataclass(frozen=True)
class BestAndWorst(Person):
    """Likes the nearest item of every page and dislikes the farthest."""

    name = "best + worst"

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        return Reaction((page.nearest,), (page.farthest,))


@dataclass(frozen=True)
class OneClick(Person):
    """Clicks once a page: likes the nearest item if it is near, else dislikes the farthest."""

    name = "one click"

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        if page.distances[page.nearest] <= page.near:
            return Reaction(likes=(page.nearest,))
        return Reaction(dislikes=(page.farthest,))


@dataclass(frozen=True)
class Threshold(Person):
    """Likes what is near and dislikes what is far, up to `most` of each; else does nothing."""

    name = "threshold"
    most: int = 3

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        order = np.argsort(page.distances, kind="stable")
        likes = [int(p) for p in order[: self.most] if page.distances[p] <= page.near]
        dislikes = [int(p) for p in order[::-1][: self.most] if page.distances[p] >= page.far]
        return Reaction(tuple(likes), tuple(p for p in dislikes if p not in likes))


@dataclass(frozen=True)
class LikesOnly(Person):
    """Likes the nearest item of every page and never dislikes."""

    name = "likes only"

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        return Reaction(likes=(page.nearest,))


@dataclass(frozen=True)
class DislikesOnly(Person):
    """Dislikes the farthest item of every page and never likes."""

    name = "dislikes only"

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        return Reaction(dislikes=(page.farthest,))


@dataclass(frozen=True)
class Ideal(LikesOnly):
    """Likes the nearest item, as our *likes only* does."""

    name = "SOMHunter ideal"


@dataclass(frozen=True)
class Null(Person):
    """Likes any item: a control nobody should find anything with."""

    name = "SOMHunter null"

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        return Reaction(likes=(int(rng.integers(len(page.distances))),))


@dataclass(frozen=True)
class Power(Person):
    """Likes an item with probability proportional to similarity^power + up."""

    name = "SOMHunter power"
    power: float = 12.0
    up: float = 0.0

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        similarity = np.maximum(1.0 - page.distances / 2.0, 1e-3)
        return Reaction(likes=(_draw(similarity**self.power + self.up, rng),))


@dataclass(frozen=True)
class Logit(Person):
    """Likes an item by logistic regression on its distance, its rank and its place on screen."""

    name = "SOMHunter logit"
    constant: float = 1.0
    distance: float = -3.0
    rank: float = -0.5
    first: float = 0.3
    columns: int = 4

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        place = np.arange(len(page.distances))
        rank = np.argsort(np.argsort(page.distances, kind="stable"), kind="stable")
        logit = (
            self.constant
            + self.distance * page.distances
            + self.rank * rank
            + self.first * np.maximum(1.0 - place / self.columns, 0.0)
        )
        return Reaction(likes=(_draw(1.0 / (1.0 + np.exp(-logit)), rng),))


def _draw(weights: Doubles, rng: np.random.Generator) -> int:
    return int(rng.choice(len(weights), p=weights / weights.sum()))
