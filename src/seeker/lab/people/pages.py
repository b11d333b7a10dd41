"""People who judge a page by what is near and far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seeker.lab.people.base import Glance, Person, Reaction


@dataclass(frozen=True)
class BestAndWorst(Person):
    """Likes the nearest item of every page and dislikes the farthest."""

    name = "best + worst"

    def react(self, glance: Glance, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        return Reaction((glance.nearest,), (glance.farthest,))


@dataclass(frozen=True)
class OneClick(Person):
    """Clicks once a page: likes the nearest item if it is near, else dislikes the farthest."""

    name = "one click"

    def react(self, glance: Glance, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        if glance.distances[glance.nearest] <= glance.near:
            return Reaction(likes=(glance.nearest,))
        return Reaction(dislikes=(glance.farthest,))


@dataclass(frozen=True)
class Threshold(Person):
    """Likes what is near and dislikes what is far, up to `most` of each; else does nothing."""

    name = "threshold"
    most: int = 3

    def react(self, glance: Glance, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        order = np.argsort(glance.distances, kind="stable")
        likes = [int(p) for p in order[: self.most] if glance.distances[p] <= glance.near]
        dislikes = [int(p) for p in order[::-1][: self.most] if glance.distances[p] >= glance.far]
        return Reaction(tuple(likes), tuple(p for p in dislikes if p not in likes))


@dataclass(frozen=True)
class LikesOnly(Person):
    """Likes the nearest item of every page and never dislikes."""

    name = "likes only"

    def react(self, glance: Glance, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        return Reaction(likes=(glance.nearest,))


@dataclass(frozen=True)
class DislikesOnly(Person):
    """Dislikes the farthest item of every page and never likes."""

    name = "dislikes only"

    def react(self, glance: Glance, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        return Reaction(dislikes=(glance.farthest,))
