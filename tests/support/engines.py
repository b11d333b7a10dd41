"""Engines for tests."""

from __future__ import annotations

from seeker import Catalog
from seeker.engine import Catalogs, Engine, SessionSnapshot
from seeker.session import Click
from seeker.stores import MemoryStore, Store


def engine(catalog: Catalog, store: Store | None = None, **given: object) -> Engine:
    return Engine(Catalogs({"shop": catalog}), store or MemoryStore(), **given)  # type: ignore[arg-type]


def clicks(one: Engine, shown: SessionSnapshot, count: int) -> SessionSnapshot:
    for n in range(count):
        verdict = "dislike" if n % 3 == 2 else "like"
        item = shown.page.ids[n % 12]
        shown = one.act(shown.id, Click(item, verdict), shown.step)  # type: ignore[arg-type]
    return shown
