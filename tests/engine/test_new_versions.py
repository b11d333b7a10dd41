"""Sessions go on in new versions of their catalog; what they show is what a replay shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import Catalog, Session, models
from seeker.catalog.build.item_changes import ItemChange
from seeker.catalog.build.update import apply_changes
from seeker.catalog.build.versions import compact
from seeker.engine import Catalogs, Engine
from seeker.models.scores import Limits
from seeker.session import Click
from seeker.session.base import Event
from seeker.session.events import Filter, Undo
from seeker.session.words import Say
from seeker.stores import MemoryStore
from support.builds import jsonl
from support.servers import until

ITEMS = 300
KINDS = ("wool", "silk", "linen", "felt")
LIMITS = {
    "usual": Limits(),
    "large": Limits(sorted_items=16, prefetch_items=16, part_items=64),
    "bounds only": Limits(sorted_items=16, session_bytes=1000, part_items=64),
}
SEARCHES: dict[str, dict[str, Any]] = {
    "plain": {},
    "filtered": {"filter": {"price": {"lt": 12}}},
    "words": {"query": "silk thing"},
    "pairwise": {"model": models.Pairwise()},
}


def vectors(n: int, turn: int) -> dict[str, Any]:
    rng = np.random.default_rng([n, turn])
    return {"looks": rng.normal(size=12).tolist(), "colour": rng.normal(size=3).tolist()}


def thing(n: int, turn: int = 0) -> dict[str, Any]:
    title = f"{KINDS[n % 4]} thing"
    return {"id": f"t{n}", "title": title, "price": n % 17, "stock": 3, **vectors(n, turn)}


class LiveShop:
    """A catalog that changes under an engine with some searches, which look for it in time."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        source = jsonl(folder / "shop.jsonl", [thing(n) for n in range(ITEMS)])
        self.path = folder / "shop"
        seeker.build(source, self.path, views=["looks", "colour"], only={"stock": {"gt": 0}})
        self._seconds = 0.0
        catalog = Catalog.open(self.path)
        catalog.limits = limits
        catalogs = Catalogs({"shop": catalog}, clock=lambda: self._seconds)
        self.engine = Engine(catalogs, MemoryStore())
        self.ids = {
            name: self.engine.start(seed=n, **options).id
            for n, (name, options) in enumerate(SEARCHES.items())
        }

    def change(self, *changes: ItemChange) -> None:
        apply_changes(self.path, [*{one.id: one for one in changes}.values()])
        self.look()

    def look(self, seconds: float = 2.0) -> None:
        self._seconds += seconds

    def do(self, step: int) -> None:
        """Let something happen in each search, in the background, too."""
        for id in self.ids.values():
            page = self.engine.show(id).page.ids
            events: list[Event] = [
                Click(page[step % 5], "like"),
                Click(page[(step + 2) % 5], "dislike"),
                Undo() if step else Click(page[1], "like"),
                Say("linen") if step % 4 == 1 else Click(page[4], "like"),
            ]
            if step == 6:
                events.append(Filter({"price": {"ge": 3}}))
            self.engine.act(id, events[step % 4])
            if step == 6:
                self.engine.act(id, events[-1])
            if step % 3:
                self.engine.look(id, Session.refresh)

    def compare(self) -> None:
        """Hold that all searches are those of a replay in a catalog that was just opened."""
        fresh = Catalog.open(self.path)
        for name, id in self.ids.items():
            again = fresh.replay(self.engine.stored(id).events)
            assert self.engine.look(id, seen) == seen(again), name
            assert self.engine.show(id).page == again.page(), name


def seen(session: Session) -> Any:
    """Return what a session shows now, to the bit."""
    page, rest = session.page(), session.more(12, 40)
    return page.items, page.total, rest.items, session.belief.log_posterior.tobytes()


@pytest.fixture(params=[*LIMITS])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LiveShop]:
    shop = LiveShop(tmp_path, LIMITS[request.param])
    yield shop
    shop.engine.close()


def said(n: int, **attributes: Any) -> ItemChange:
    return ItemChange(f"t{n}", "patch", attributes=attributes)


def test_what_is_said_of_items_changes_and_nothing_is_replayed(shop: LiveShop) -> None:
    views = shop.engine.catalogs.get()[1].views
    for step in range(8):
        shop.do(step)
        page = shop.engine.show(shop.ids["plain"]).page
        shop.change(
            *(said(n * 7 % ITEMS, price=100 + step) for n in range(10)),
            ItemChange(f"t{step}", "patch", title=f"silk thing of step {step}"),
            # What is seen now, and some of what is not, is sold out; some of it comes back.
            ItemChange(page.ids[step], "patch", attributes={"stock": 0, "price": 100 + step}),
            said(step + 20, stock=0),
            *([said(step + 18, stock=5)] if step > 2 else ()),
        )
        assert page.ids[step] not in shop.engine.show(shop.ids["plain"]).page.ids
        shop.compare()
    served = shop.engine.catalogs.get()[1]
    assert served.version == 9
    assert served.views == views, "the views are the very same"
    assert shop.engine.rebuilder.rebuilt == 0
    prices = [item.attributes["price"] for item in served.items([42, 49, 63])]
    assert prices == [107, 107, 107]


def test_items_come_and_leave_and_vectors_change(shop: LiveShop) -> None:
    for step in range(8):
        shop.do(step)
        catalog = shop.engine.catalogs.get()[1]
        likes = shop.engine.show(shop.ids["plain"]).likes
        judged = next(id for id in likes if id in catalog)
        arrays = {name: np.array(one) for name, one in vectors(step, 1).items()}
        match step % 4:
            case 0:
                change = ItemChange(f"t{step}", "patch", vectors=arrays)
            case 1:
                new = {"price": 5, "stock": 2}
                change = ItemChange(f"n{step}", "merge", "silk", "", new, arrays)
            case 2:
                change = ItemChange(judged, "remove")
            case _:
                change = said(step, price=55)
        rebuilt = shop.engine.rebuilder.rebuilt
        shop.change(change)
        shop.compare()
        again = shop.engine.rebuilder.rebuilt - rebuilt
        assert again == (0 if step % 4 == 3 else len(SEARCHES))
    compact(shop.path)
    shop.look()
    shop.compare()
    shop.do(3)
    shop.compare()


def test_a_search_that_nothing_is_left_for_comes_back_with_its_items(shop: LiveShop) -> None:
    id = shop.ids["filtered"]
    cheap = [n for n in range(ITEMS) if n % 17 < 12]
    shop.change(*(said(n, price=99) for n in cheap))
    with pytest.raises(seeker.Conflict, match="passes the filter"):
        shop.engine.show(id)
    shop.change(*(said(n, price=n % 17) for n in cheap))
    shop.compare()


def test_a_catalog_put_in_the_place_of_another_shares_nothing_with_it(tmp_path: Path) -> None:
    one, other = ([thing(n) for n in range(first, first + 40)] for first in (0, 40))
    for row, same in zip(one, other, strict=True):
        row.update({name: same[name] for name in ("looks", "colour")})
    options: dict[str, Any] = {"views": ["looks", "colour"]}
    shop = seeker.build(jsonl(tmp_path / "a.jsonl", one), tmp_path / "shop", **options)
    seeker.build(jsonl(tmp_path / "b.jsonl", other), tmp_path / "shop", replace=True, **options)
    replaced = shop.reopen()
    assert [*replaced.ids][:2] == ["t40", "t41"]
    assert all(replaced.views[name] is not view for name, view in shop.views.items())


def test_versions_from_before_are_let_go_of(tmp_path: Path) -> None:
    shop = LiveShop(tmp_path, Limits())
    first = shop.engine.catalogs.get()[1]
    opened = []
    for step in range(6):
        shop.change(said(step, price=70))
        shop.look(18.0)
        opened.append(shop.engine.catalogs.get()[1])
    connections = [one._collection._connections for one in opened]  # type: ignore[attr-defined]

    def in_use() -> list[bool]:
        return [bool(one._idle or one._lent) for one in connections]

    until(lambda: in_use() == [False] * 2 + [True] * 4)  # work in the background may use one
    assert first.item("t0").attributes["price"] == 0, "it was not opened here"
    shop.compare()
    shop.engine.close()
