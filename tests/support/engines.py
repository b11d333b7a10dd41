"""Engines for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from seeker import Catalog
from seeker.engine import Catalogs, Engine, SessionSnapshot
from seeker.lab.perception import Perception
from seeker.session import Click
from seeker.session.events import Found
from seeker.stores import MemoryStore, Store


def engine(catalog: Catalog, store: Store | None = None, **options: object) -> Engine:
    return Engine(Catalogs({"shop": catalog}), store or MemoryStore(), **options)  # type: ignore[arg-type]


def clicks(one: Engine, snapshot: SessionSnapshot, count: int) -> SessionSnapshot:
    for n in range(count):
        verdict = "dislike" if n % 3 == 2 else "like"
        item = snapshot.page.ids[n % 12]
        snapshot = one.act(snapshot.id, Click(item, verdict), snapshot.step)  # type: ignore[arg-type]
    return snapshot


def find(
    one: Engine, perception: Perception, target: int, pages: int = 20, **start: Any
) -> SessionSnapshot:
    """Search as a person does, who likes the best of every page and dislikes the worst."""
    catalog = one.catalogs.get(None)[1]
    now = one.start(seed=target, **start)
    for _ in range(pages):
        ids = now.page.ids
        rows = np.array([catalog.row(id) for id in ids])
        if target in rows:
            return one.act(now.id, Found(catalog.ids[target]), now.step)
        order = perception.distances(target, rows).argsort()
        for place, verdict in ((order[0], "like"), (order[-1], "dislike")):
            now = one.act(now.id, Click(ids[place], verdict, ids), now.step)  # type: ignore[arg-type]
    return now
