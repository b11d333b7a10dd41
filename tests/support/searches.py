"""Searches by simulated people, as lines of an export, and catalogs that they see differently."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import seeker
from seeker import Catalog, Session
from seeker.lab.people import BestAndWorst, PageView, Person
from seeker.lab.perception import Perception, Sense
from seeker.lab.simulate import FAR, NEAR


def seen_catalog(
    folder: Path, items: int = 300, seed: int = 0, dtype: str = "float32"
) -> tuple[Path, Perception]:
    """Build a catalog of two views, and return it with how people see it.

    Of sixteen numbers of the one view people see four, of the other none: there is much to learn.
    """
    rng = np.random.default_rng(seed)
    views = {"looks": rng.normal(size=(items, 16)), "words": rng.normal(size=(items, 8))}
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = folder.parent / f"{folder.name}.npz"
    np.savez(file, **views)  # type: ignore[arg-type]
    seeker.build(file, folder, dtype=dtype)
    return folder, Perception([Sense("seen", views["looks"][:, :4])], noise=0.15)


def search_for(
    catalog: Catalog,
    perception: Perception,
    target: int,
    seed: int,
    person: Person | None = None,
    pages: int = 20,
    **start: Any,
) -> Session | None:
    """Search as a person does; return the session once they have found the target, or None."""
    rng = np.random.default_rng([seed, target])
    person, memory = person or BestAndWorst(), dict[str, Any]()
    limits = perception.quantiles(target, (NEAR, FAR))
    session = catalog.session(seed=seed, **start)
    for _ in range(pages):
        ids = session.page().ids
        rows = np.array([catalog.row(id) for id in ids])
        if target in rows:
            session.found(catalog.ids[target])
            return session
        view = PageView(perception.noisy_distances(target, rows, rng), *limits)
        reaction = person.react(view, rng, memory)
        for verdict, places in (("like", reaction.likes), ("dislike", reaction.dislikes)):
            for place in places:
                session.click(ids[place], verdict, ids)  # type: ignore[arg-type]
    return None


def found_searches(
    catalog: Catalog,
    perception: Perception,
    targets: Sequence[int],
    people: Sequence[Person] = (BestAndWorst(),),
    **about: Any,
) -> Iterator[str]:
    """Yield those searches for targets that succeed, as lines; about: other fields of them."""
    for number, target in enumerate(targets):
        person = people[number % len(people)]
        session = search_for(catalog, perception, int(target), number, person)
        if session is not None:
            yield line_of(session, **about)


def line_of(session: Session, **about: Any) -> str:
    """Return a session as a line of an export, with some of its fields as given."""
    return json.dumps({**json.loads(session.to_json()), **about})


def random_clicks(catalog: Catalog, target: int, seed: int, clicks: int = 8) -> Session:
    """Click on anything, and say that this item was found."""
    rng = np.random.default_rng([seed, target])
    session = catalog.session(seed=seed)
    for _ in range(clicks):
        ids = session.page().ids
        session.click(ids[int(rng.integers(len(ids)))], "like", ids)
    session.found(catalog.ids[target])
    return session
