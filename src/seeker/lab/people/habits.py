"""Habits that any person may have: slips, a wrong idea at first, half an eye, second thoughts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from seeker.lab.people.base import PageView, Person, Reaction
from seeker.lab.people.pages import BestAndWorst


@dataclass(frozen=True)
class Slipping(Person):
    """Each click lands on any item of the page with a small chance."""

    name = "slips"
    base: Person = field(default_factory=BestAndWorst)
    chance: float = 0.15

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        intent = self.base.react(page, rng, memory)
        return _with_slips(intent, len(page.distances), self.chance, rng)


@dataclass(frozen=True)
class Drifting(Person):
    """Has another item in mind for the first half of the search, then the right one.

    They would know the right one at any time if they saw it.
    """

    name = "drifting"
    base: Person = field(default_factory=BestAndWorst)
    until: float = 0.5

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        return self.base.react(page, rng, memory)

    def has_wrong_target(self, step: int, pages: int) -> bool:
        return step < self.until * pages


@dataclass(frozen=True)
class Inattentive(Person):
    """Looks at only a share of every page, and the system does not know at which."""

    name = "inattentive"
    base: Person = field(default_factory=BestAndWorst)
    share: float = 0.5

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        count = len(page.distances)
        places = rng.permutation(count)[: max(2, round(self.share * count))]
        part = replace(page, distances=page.distances[places])
        reaction = self.base.react(part, rng, memory)
        return Reaction(
            tuple(int(places[p]) for p in reaction.likes),
            tuple(int(places[p]) for p in reaction.dislikes),
        )


@dataclass(frozen=True)
class SecondThoughts(Person):
    """Slips, but notices on the next page and takes the last page's clicks back."""

    name = "undo"
    base: Person = field(default_factory=BestAndWorst)
    chance: float = 0.3

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        intent = self.base.react(page, rng, memory)
        reaction = _with_slips(intent, len(page.distances), self.chance, rng)
        undo = bool(memory.get("slipped"))
        memory["slipped"] = reaction != intent
        return replace(reaction, undo=undo)


@dataclass(frozen=True)
class SaysLabel(Person):
    """Says on the first page what the thing is called, in one word, and then clicks."""

    name = "says label"
    kind: ClassVar[str] = "label"
    base: Person = field(default_factory=BestAndWorst)

    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        reaction = self.base.react(page, rng, memory)
        if memory.get("spoken"):
            return reaction
        memory["spoken"] = True
        return replace(reaction, words=page.words.get(self.kind, ""))


@dataclass(frozen=True)
class SaysWrongLabel(SaysLabel):
    """Says on the first page what the thing is not called."""

    name = "says wrong label"
    kind = "wrong label"


@dataclass(frozen=True)
class SaysColour(SaysLabel):
    """Says on the first page what colour the thing has."""

    name = "says colour"
    kind = "colour"


def _with_slips(intent: Reaction, count: int, chance: float, rng: np.random.Generator) -> Reaction:
    """Return what happens where each click may slip on a page of so many items."""
    likes = _slip(intent.likes, count, chance, rng, ())
    dislikes = _slip(intent.dislikes, count, chance, rng, likes)
    return replace(intent, likes=likes, dislikes=dislikes)


def _slip(
    places: tuple[int, ...],
    count: int,
    chance: float,
    rng: np.random.Generator,
    other_clicks: tuple[int, ...],
) -> tuple[int, ...]:
    """Move each click to an even pick of the page with this chance; no item is clicked twice."""
    clicks: list[int] = []
    for place in places:
        if rng.random() < chance or place in other_clicks:
            free = [p for p in range(count) if p not in other_clicks and p not in clicks]
            if not free:
                continue
            place = int(rng.choice(free))
        if place not in clicks:
            clicks.append(place)
    return tuple(clicks)
