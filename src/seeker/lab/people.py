"""Simulated people: someone who looks at a page and reacts to it, and their habits; by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from seeker.errors import NotFound
from seeker.types import Doubles


@dataclass(frozen=True, eq=False)
class PageView:
    """A page as a person sees it.

    distances: (shown,), how far every item on the page seems from the target. near, far: what
    this person calls near and far: the nearest tenth of the catalog, and beyond the middle of it.
    words: what could be said of the target, by kind (label, colour), and a wrong label of it.
    """

    distances: Doubles
    near: float
    far: float
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def nearest(self) -> int:
        """The place of the nearest item."""
        return int(np.argmin(self.distances))

    @property
    def farthest(self) -> int:
        """The place of the farthest item."""
        return int(np.argmax(self.distances))


@dataclass(frozen=True)
class Reaction:
    """What a person does: likes and dislikes, by places on the page.

    undo: they first take back all they clicked on the page before. words: what they say beside.
    """

    likes: tuple[int, ...] = ()
    dislikes: tuple[int, ...] = ()
    undo: bool = False
    words: str = ""


class Person(ABC):
    """How somebody judges pages. Persons are frozen dataclasses: settings, and no memory.

    What they must remember within one search they keep in `memory`, a dictionary that is empty
    when the search begins.
    """

    name: ClassVar[str]

    @abstractmethod
    def react(self, page: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        """Return what this person does with a page that does not hold the target."""

    def has_wrong_target(self, step: int, pages: int) -> bool:
        """Return whether the person has another item in mind at this page, from 0, of so many."""
        return False

    def settings(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]


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


SIX: tuple[Person, ...] = (
    BestAndWorst(),
    OneClick(),
    Threshold(),
    LikesOnly(),
    DislikesOnly(),
    Slipping(),
)
"""The six kinds of people on whom methods are compared."""

ALL: tuple[Person, ...] = (
    *SIX,
    Ideal(),
    Null(),
    Power(),
    Logit(),
    Drifting(),
    Inattentive(),
    SecondThoughts(),
    SaysLabel(),
    SaysWrongLabel(),
    SaysColour(),
)


def named(name: str) -> Person:
    """Return the person of this name with their usual settings."""
    for person in ALL:
        if person.name == name:
            return person
    raise NotFound(
        f"There is no simulated person {name!r}.", f"Use one of {[one.name for one in ALL]}."
    )
