"""What every simulated person is: someone who looks at a page and reacts to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from seeker.types import Doubles


@dataclass(frozen=True, eq=False)
class PageView:
    """A page as a person sees it.

    distances: (shown,), how far every item on the page seems from the target. near, far: what
    this person calls near and far: the nearest tenth of the catalog, and beyond the middle of it.
    page, pages: the number of this page from 0, and how many there will be.
    """

    distances: Doubles
    near: float
    far: float
    page: int
    pages: int

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

    undo: they first take back all they clicked on the page before. seen: the places they looked
    at, or None for all; what they did not look at was not on their screen.
    """

    likes: tuple[int, ...] = ()
    dislikes: tuple[int, ...] = ()
    undo: bool = False
    seen: tuple[int, ...] | None = None


class Person(ABC):
    """How somebody judges pages. Persons are frozen dataclasses: settings, and no memory.

    What they must remember within one search they keep in `memory`, a dictionary that is empty
    when the search begins.
    """

    name: ClassVar[str]

    @abstractmethod
    def react(self, glance: PageView, rng: np.random.Generator, memory: dict[str, Any]) -> Reaction:
        """Return what this person does with a page that does not hold the target."""

    def mistaken(self, page: int, pages: int) -> bool:
        """Return whether the person still has another item in mind than the right one."""
        return False

    def settings(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]
