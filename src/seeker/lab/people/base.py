"""What every simulated person is: someone who looks at a page and reacts to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np

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
