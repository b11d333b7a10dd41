"""Seeker itself: a click, and the page after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest.base import Click, Contestant, Round, Way
from benchmarks.datasets import Vectors
from benchmarks.simulated_person import SimulatedPerson
from seeker import Catalog, Session
from seeker.models import Choice, Model, Pairwise

CLICKS = 16
MODELS: dict[str, Model] = {"choice": Choice(), "pairwise": Pairwise(alpha=10.0)}


def catalog_of(vectors: Vectors) -> Catalog:
    """Make a catalog of one view."""
    return Catalog.from_arrays([str(row) for row in range(len(vectors))], {"view": vectors})


def play_rounds(vectors: Vectors, count: int) -> Iterator[Round]:
    """Yield rounds, each of a person with a target of their own."""
    catalog = catalog_of(vectors)
    rng = np.random.default_rng(len(vectors))
    for number in range(count):
        target = int(rng.integers(len(vectors)))
        session = catalog.session(seed=number)
        person = SimulatedPerson(catalog, target)
        clicks = []
        for _ in range(CLICKS):
            page = session.page().ids
            item, verdict = person.judge(page)
            session.click(item, verdict, page)
            clicks.append(Click(int(item), verdict == "like", [int(one) for one in page]))
            session.refresh()
        yield Round(number, clicks)


def _click(session: Session, click: Click) -> None:
    verb = session.like if click.liked else session.dislike
    verb(str(click.item), shown=[str(row) for row in click.shown])


class Seeker(Contestant):
    """The last click and the page after it: exact, with noise, over the whole catalog."""

    name = "Seeker"
    packages = ("seeker-search",)

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Make the catalog; ask after a refresh, for a page it foresaw or did not, and without."""
        catalog = catalog_of(vectors)
        yield (
            "catalog",
            [
                self._way(catalog, name, when)
                for name in MODELS
                for when in ("after refresh", "after refresh, not foreseen", "never refreshed")
            ],
        )

    def _way(self, catalog: Catalog, model: str, when: str) -> Way:
        def last(round: Round) -> Click:
            click = round.clicks[-1]
            if "not foreseen" not in when:
                return click
            others = [row for row in click.shown if row != click.item]
            return replace(click, shown=[click.item, *others[1:]])

        def prepare(round: Round) -> Any:
            session = catalog.session(model=MODELS[model], seed=round.seed)
            for click in round.clicks[:-1]:
                _click(session, click)
                session.page()
                if when.startswith("after refresh"):
                    session.refresh()
            return session, last(round)

        def ask(prepared: Any) -> list[int]:
            session, click = prepared
            _click(session, click)
            return [int(item) for item in session.page().ids]

        def truth(round: Round) -> list[int]:
            session, click = prepare(round)
            _click(session, click)
            session.belief.rank(str(click.item))  # scores every item
            return [int(item) for item in session.page().ids]

        return Way(f"{model}, {when}", True, ask, prepare, truth)
