"""Seeker's own sessions under the same contract as everything else."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from seeker import display, models
from seeker.catalog import Catalog
from seeker.lab.baselines.base import Feedback, Search, Searcher
from seeker.lab.perception import who_searches
from seeker.session.start import Repeat
from seeker.types import Doubles, Rows


@dataclass(frozen=True)
class Seeker(Searcher):
    """A session of the engine with any of its models and strategies."""

    name = "Seeker"
    model: models.Model = field(default_factory=lambda: models.named(models.DEFAULT))
    strategy: display.Strategy = field(default_factory=lambda: display.named(display.DEFAULT))
    repeat: Repeat = "never"

    def begin(self, catalog: Catalog, page_size: int, seed: int) -> Search:
        return SeekerSearch(self, catalog, page_size, seed)


@dataclass(frozen=True, eq=False)
class KnownPerson:
    """What is known of somebody who comes back: the model of their start, and c by view."""

    model: models.Model
    vectors: Mapping[str, Doubles] | None = None


@dataclass(frozen=True, eq=False)
class PersonalSeeker(Seeker):
    """Seeker that knows the people of a crowd, each by what they have searched for before."""

    people: tuple[KnownPerson, ...] = ()

    def begin(self, catalog: Catalog, page_size: int, seed: int) -> Search:
        known = self.people[who_searches(seed, len(self.people))]
        return SeekerSearch(
            replace(self, model=known.model), catalog, page_size, seed, known.vectors
        )

    def settings(self) -> dict[str, Any]:
        """Return the settings, with a name for what is known of the people."""
        known = hashlib.sha256(repr([one.model for one in self.people]).encode())
        for one in self.people:
            for view, c in (one.vectors or {}).items():
                known.update(view.encode() + np.asarray(c, "<f8").tobytes())
        return {
            **Seeker(self.model, self.strategy, self.repeat).settings(),
            "people": known.hexdigest()[:16],
        }


class SeekerSearch:
    """A search by one of the engine's sessions."""

    def __init__(
        self,
        searcher: Seeker,
        catalog: Catalog,
        page_size: int,
        seed: int,
        user: Mapping[str, Doubles] | None = None,
    ) -> None:
        self.catalog = catalog
        self.session = catalog.session(
            model=searcher.model,
            strategy=searcher.strategy,
            page_size=page_size,
            seed=seed,
            repeat=searcher.repeat,
            user=user,
        )
        self.size = page_size
        self._grid = searcher.model.grid(list(catalog.views))
        self._offset = 0
        self._clicks: list[int] = []
        self._seen: set[int] = set()

    def page(self) -> Rows:
        """Return the items on display, (page size,): further down after a page without clicks."""
        page = self.session.more(self._offset, self.size)
        return np.array([self.catalog.row(item) for item in page.ids])

    def feedback(self, feedback: Feedback) -> None:
        """Take in the clicks on a page, likes first, all made with the page on screen."""
        ids = self.catalog.ids
        self._seen.update(feedback.shown)
        shown = [ids[row] for row in feedback.shown]
        for row in feedback.likes:
            self.session.like(ids[row], shown=shown)
        for row in feedback.dislikes:
            self.session.dislike(ids[row], shown=shown)
        if feedback.words:
            self.session.say(feedback.words)
        clicks = len(feedback.likes) + len(feedback.dislikes) + bool(feedback.words)
        self._clicks.append(clicks)
        last = self._offset + 2 * self.size > len(self.catalog)
        self._offset = 0 if clicks or last else self._offset + self.size

    def undo(self) -> None:
        """Take back all clicks of the last page that had any."""
        while self._clicks:
            count = self._clicks.pop()
            for _ in range(count):
                self.session.undo()
            if count:
                return

    def scores(self) -> Doubles:
        """Return the log-posterior of every item, (items,)."""
        return self.session.belief.log_posterior

    def on_page(self) -> float:
        """Return how probable it is held that the target is on the page."""
        if not self._offset:
            return self.session.belief.on_page
        shown, page = np.exp(self.scores()), self.page()
        rest = 1.0 - float(shown[np.setdiff1d([*self._seen], page)].sum())
        return self._grid.claimed(float(min(1.0, shown[page].sum() / rest)))
