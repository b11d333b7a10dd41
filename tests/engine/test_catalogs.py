"""The catalogs that are served: their names, and their new versions."""

from __future__ import annotations

from pathlib import Path

import pytest

import seeker
from seeker import BadInput, Catalog, Conflict, NotFound
from seeker.engine import Catalogs, Engine
from seeker.session import Click
from seeker.stores import MemoryStore
from support.builds import jsonl
from support.catalogs import build_folder, random_catalog
from support.engines import clicks, engine


def test_names_of_catalogs(small: Catalog, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="name"):
        Catalogs({"../x": small})
    with pytest.raises(BadInput, match="no catalog"):
        Catalogs({})
    two = Catalogs({"a": small, "b": random_catalog(20)})
    assert two.get()[0] == "a"
    assert len(two.get("b")[1]) == 20
    with pytest.raises(NotFound):
        two.get("c")
    folder = build_folder(tmp_path / "shop", 12)
    opened = Catalogs.open([str(folder), f"again={folder}"])
    assert opened.names == ["shop", "again"]
    with pytest.raises(BadInput, match="two catalogs"):
        Catalogs.open([str(folder), str(folder)])


def test_a_new_version_of_a_catalog_is_taken_up(tmp_path: Path) -> None:
    now = [0.0]
    folder = build_folder(tmp_path / "shop")
    catalogs = Catalogs({"shop": Catalog.open(folder)}, clock=lambda: now[0])
    one = Engine(catalogs, MemoryStore())
    shown = clicks(one, one.start(), 2)
    gone = shown.page.ids[0]
    other = one.act(one.start().id, Click(gone, "like"))
    more = [{"id": "new", "title": "new thing", "price": 1, "vector": [0.5] * 12}]
    seeker.update(folder, jsonl(tmp_path / "more.jsonl", more))
    assert one.show(shown.id) == shown
    now[0] = 2.0
    assert one.show(shown.id).page.total == 121
    assert one.show(shown.id).likes == shown.likes
    seeker.remove(folder, ids=[gone])
    now[0] = 4.0
    assert one.start().page.total == 120
    assert other.likes == [gone]


def test_people_go_on_until_a_new_version_is_ready(tmp_path: Path) -> None:
    now, ready = [0.0], [False]
    folder = build_folder(tmp_path / "shop")
    catalogs = Catalogs(
        {"shop": Catalog.open(folder)},
        clock=lambda: now[0],
        renewer=lambda place: Catalog.open(place) if ready[0] else None,
    )
    old = catalogs.get()[1]
    seeker.remove(folder, ids=[old.ids[0]])
    now[0] = 2.0
    assert catalogs.get()[1] is old
    ready[0], now[0] = True, 4.0
    assert len(catalogs.get()[1]) == len(old) - 1
    ready[0] = False
    seeker.remove(folder, ids=[old.ids[1]])
    catalogs.look_again("shop")
    assert len(catalogs.get()[1]) == len(old) - 2, "who must not be shown any more is not"


def test_a_session_whose_catalog_changed_too_much_says_so(small: Catalog) -> None:
    store = MemoryStore()
    shown = clicks(engine(small, store), engine(small, store).start(), 1)
    fewer = random_catalog(20)
    with pytest.raises(Conflict, match="changed"):
        engine(fewer, store).act(shown.id, Click("item 1", "like"), 0)
