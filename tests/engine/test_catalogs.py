"""The catalogs that are served: their names, and their new versions."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event

import pytest

import seeker
from seeker import BadInput, Catalog, Conflict, NotFound
from seeker.catalog.build.versions import compact
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


def test_whether_a_start_is_brief_is_told_without_opening_anything(tmp_path: Path) -> None:
    """It is asked in the event loop, where nobody waits for a disk."""
    folder = build_folder(tmp_path / "shop")
    one = Engine(Catalogs.open([str(folder)]), MemoryStore())
    before = one.catalogs.peek()
    seeker.remove(folder, ids=[before.ids[0]])
    one.catalogs.look_again("shop")
    assert one.brief_start(None)
    assert one.brief_start("a name that the start itself refuses")
    assert one.catalogs.peek() is before
    assert one.catalogs.get()[1] is not before
    one.close()


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


def test_a_change_is_seen_by_all_who_ask_after_it(tmp_path: Path) -> None:
    """Also by who asks while somebody else is opening the new version."""
    folder = build_folder(tmp_path / "shop")
    opening, ready = Event(), Event()

    def opener(place: str | Path) -> Catalog:
        opening.set()
        assert ready.wait(60.0)
        return Catalog.open(place)

    old = Catalog.open(folder)
    catalogs = Catalogs({"shop": old}, clock=lambda: 0.0, opener=opener)
    seeker.remove(folder, ids=[old.ids[0]])
    catalogs.look_again("shop")
    assert not catalogs.is_current("shop", old)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(catalogs.get)
        assert opening.wait(60.0)
        second = threads.submit(catalogs.get)
        wait([second], timeout=0.5)  # it must not be there yet, so there is nothing to wait for
        ready.set()
        assert len(second.result()[1]) == len(old) - 1
        assert len(first.result()[1]) == len(old) - 1


def test_a_session_whose_catalog_changed_too_much_says_so(small: Catalog) -> None:
    store = MemoryStore()
    shown = clicks(engine(small, store), engine(small, store).start(), 1)
    fewer = random_catalog(20)
    with pytest.raises(Conflict, match="changed"):
        engine(fewer, store).act(shown.id, Click("item 1", "like"), 0)


def test_a_renamed_catalog_keeps_its_sessions(tmp_path: Path) -> None:
    folder = build_folder(tmp_path / "shop")
    store = MemoryStore()
    one = Engine(Catalogs({"shop": Catalog.open(folder)}), store)
    session = clicks(one, one.start(seed=1, user="ann"), 2)
    seeker.update(folder, jsonl(tmp_path / "more.jsonl", [{"id": "item-3", "price": 1}]))
    compact(folder)
    # Now it has another name, and its old one is that of another catalog.
    others = {"shop": random_catalog(30), "sale": Catalog.open(folder)}
    other = Engine(Catalogs(others), store)
    again = other.show(session.id)
    assert (again.catalog, again.likes, again.page.ids) == ("sale", session.likes, session.page.ids)
    assert clicks(other, again, 1).step == session.step + 1
    assert other.fork(session.id).catalog == "sale"
    # Where nobody serves it, the name must do, as before there were ids.
    same = Catalog.open(build_folder(tmp_path / "other"))
    assert same.id != Catalog.open(folder).id
    anew = Engine(Catalogs({"shop": same}), store)
    assert anew.show(session.id).likes[:2] == session.likes
    with pytest.raises(NotFound, match="no catalog 'shop'"):
        Engine(Catalogs({"elsewhere": same}), store).show(session.id)


def test_a_catalog_keeps_its_id(tmp_path: Path) -> None:
    rows = [{"id": f"{n}", "title": "thing", "vector": [n, n % 3]} for n in range(9)]
    source = jsonl(tmp_path / "rows.jsonl", rows)
    catalog = seeker.build(source, tmp_path / "shop", views=["vector"])
    assert len(catalog.id) == 32
    assert seeker.build(source, tmp_path / "shop", views=["vector"], replace=True).id == catalog.id
    seeker.update(tmp_path / "shop", jsonl(tmp_path / "one.jsonl", [{**rows[0], "title": "x"}]))
    seeker.remove(tmp_path / "shop", ids=["1"])
    assert compact(tmp_path / "shop").id == catalog.id
    file = tmp_path / "shop" / "catalog.json"
    told = json.loads(file.read_text())
    del told["id"]
    file.write_text(json.dumps(told))
    assert Catalog.open(tmp_path / "shop").id == ""
    seeker.update(tmp_path / "shop", jsonl(tmp_path / "one.jsonl", [{**rows[0], "title": "y"}]))
    assert len(Catalog.open(tmp_path / "shop").id) == 32
    file.write_text(json.dumps({**json.loads(file.read_text()), "id": "../x"}))
    with pytest.raises(BadInput, match="has an id that is not 32 digits"):
        Catalog.open(tmp_path / "shop")
