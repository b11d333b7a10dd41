"""Engines for tests."""

from __future__ import annotations

from seeker import Catalog
from seeker.engine import Catalogs, Engine, SessionSnapshot
from seeker.session import Click
from seeker.stores import MemoryStore, Store


def engine(catalog: Catalog, store: Store | None = None, **options: object) -> Engine:
    return Engine(Catalogs({"shop": catalog}), store or MemoryStore(), **options)  # type: ignore[arg-type]


def clicks(one: Engine, snapshot: SessionSnapshot, count: int) -> SessionSnapshot:
    for n in range(count):
        verdict = "dislike" if n % 3 == 2 else "like"
        item = snapshot.page.ids[n % 12]
        snapshot = one.act(snapshot.id, Click(item, verdict), snapshot.step)  # type: ignore[arg-type]
    return snapshot
