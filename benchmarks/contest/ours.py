"""Seeker itself: a click, and the page after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest.base import Click, Contestant, Round, Way
from benchmarks.data import Vectors
from benchmarks.person import Person
from seeker import Catalog, Session
from seeker.models import Choice, Model, Pairwise

CLICKS = 16
MODELS: dict[str, Model] = {"choice": Choice(), "pairwise": Pairwise(alpha=10.0)}


def catalog_of(vectors: Vectors) -> Catalog:
    """Make a catalog of one view."""
    return Catalog.from_arrays([str(row) for row in range(len(vectors))], {"view": vectors})


def played(vectors: Vectors, count: int) -> Iterator[Round]:
    """Yield rounds, each of a person with a target of their own."""
    catalog = catalog_of(vectors)
    rng = np.random.default_rng(len(vectors))
    for number in range(count):
        target = int(rng.integers(len(vectors)))
        session = catalog.session(seed=number)
        person = Person(catalog, target)
        clicks = []
        for _ in range(CLICKS):
            shown = session.page().ids
            item, verdict = person.judge(shown)
            session.click(item, verdict, shown)
            clicks.append(Click(int(item), verdict == "like", [int(one) for one in shown]))
            session.refresh()
        yield Round(number, clicks)


def _click(session: Session, click: Click) -> None:
    verb = session.like if click.liked else session.dislike
    verb(str(click.item), shown=[str(row) for row in click.shown])


class Seeker(Contestant):
    """The last click and the page after it: exact, with noise, over the whole catalog."""

    name = "Seeker"
    packages = ("seeker",)

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Make the catalog; ask after all bounds were refreshed, and without it."""
        catalog = catalog_of(vectors)
        yield (
            "catalog",
            [self._way(catalog, name, refreshed) for name in MODELS for refreshed in (True, False)],
        )

    def _way(self, catalog: Catalog, model: str, refreshed: bool) -> Way:
        def prepare(round: Round) -> Any:
            session = catalog.session(model=MODELS[model], seed=round.seed)
            for click in round.clicks[:-1]:
                _click(session, click)
                session.page()
                if refreshed:
                    session.refresh()
            return session, round.clicks[-1]

        def ask(prepared: Any) -> list[int]:
            session, click = prepared
            _click(session, click)
            return [int(item) for item in session.page().ids]

        def truth(round: Round) -> list[int]:
            session, click = prepare(round)
            _click(session, click)
            session.belief.rank(str(click.item))  # scores every item
            return [int(item) for item in session.page().ids]

        words = "after refresh" if refreshed else "never refreshed"
        return Way(f"{model}, {words}", True, ask, prepare, truth)
