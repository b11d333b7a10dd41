"""Where changes keep coming, a process of its own writes them; whoever loses it loses no change."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from seeker import BadInput, Catalog
from seeker.catalog.build.item_changes import ChangeResult, ItemChange
from seeker.catalog.verify import find_problems
from seeker.server.auth import make_key
from seeker.server.change_writer import WriterProcess, WriterProcessDied
from support.catalogs import build_folder
from support.servers import Server, until

linux = pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")


def patch(id: str, price: float) -> ItemChange:
    return ItemChange(id, "patch", attributes={"price": price})


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[WriterProcess]:
    process = WriterProcess(build_folder(tmp_path / "shop", 12))
    until(lambda: process.listens)
    yield process
    process.end()
    assert process.ended


def test_it_tells_what_became_of_changes_as_who_makes_them_would(
    writer: WriterProcess, tmp_path: Path
) -> None:
    changes = [patch("item-3", 70), patch("nothing", 1), ItemChange("item-4", "remove")]
    version, results = writer.apply(changes)
    assert version == 2
    assert [one.result for one in results] == ["changed", "not found", "removed"]
    catalog = Catalog.open(tmp_path / "shop")
    assert (catalog.version, catalog.item("item-3").attributes["price"]) == (2, 70)
    assert "item-4" not in catalog
    assert writer.apply([patch("item-3", 70)]) == (2, [ChangeResult("item-3", "unchanged")])


def test_what_is_refused_there_is_refused_here_and_it_goes_on(
    writer: WriterProcess, tmp_path: Path
) -> None:
    every = [ItemChange(id, "remove") for id in Catalog.open(tmp_path / "shop").ids]
    with pytest.raises(BadInput, match="Nothing would be left") as refusal:
        writer.apply(every)
    assert refusal.value.hint == "Delete its folder if that is meant."
    assert writer.apply([patch("item-1", 5.5)])[0] == 2


def test_signals_that_end_the_service_do_not_end_it_in_between(writer: WriterProcess) -> None:
    os.kill(writer.pid, signal.SIGTERM)
    os.kill(writer.pid, signal.SIGINT)
    assert writer.apply([patch("item-1", 5.5)])[0] == 2


def test_who_waits_for_one_that_is_killed_learns_it(writer: WriterProcess, tmp_path: Path) -> None:
    os.kill(writer.pid, signal.SIGKILL)
    with pytest.raises(WriterProcessDied, match="not known"):
        writer.apply([patch("item-1", 5.5)])
    until(lambda: writer.ended)
    assert find_problems(tmp_path / "shop") == []


def writers(server: Server) -> list[int]:
    """Return the processes that write changes for a server."""
    assert server.process is not None
    found = []
    for task in Path(f"/proc/{server.process.pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            if "seeker.server.change_writer" in Path(f"/proc/{child}/cmdline").read_text():
                found.append(child)
    return found


@linux
def test_changes_that_keep_coming_survive_the_death_of_who_writes_them(tmp_path: Path) -> None:
    folder, keys = build_folder(tmp_path / "shop", 40), str(tmp_path / "keys")
    headers = {"Authorization": f"Bearer {make_key('keeper', 'admin', keys)}"}
    ids = [id for id in Catalog.open(folder).ids if "/" not in id]
    server = Server(folder, "--keys", keys, "--store", "memory:", "--rate", "0")
    with server.running(tmp_path / "log"), server.client() as http:
        answered, enough = dict[str, int](), threading.Event()

        def change(id: str) -> None:
            """Change a price again and again; a change that may be lost is made again."""
            price = 0
            while not (enough.is_set() and price):
                price += 1
                body = {"attributes": {"price": price}}
                status = 503
                while status == 503:
                    address = f"/v1/items/shop/{id}"
                    status = http.patch(address, json=body, headers=headers).status_code
                assert status == 200
                answered[id] = price

        with ThreadPoolExecutor(8) as people:
            try:
                tasks = [people.submit(change, id) for id in ids[:8]]
                (first,) = until(lambda: writers(server))
                before = dict(answered)
                until(lambda: all(answered[id] > before[id] + 3 for id in before))
                assert writers(server) == [first]
                os.kill(first, signal.SIGKILL)
                before = dict(answered)
                until(lambda: all(answered[id] > before[id] + 3 for id in before))
            finally:
                enough.set()
            for task in tasks:
                task.result()
        assert find_problems(folder) == []
        catalog = Catalog.open(folder)
        assert {id: catalog.item(id).attributes["price"] for id in answered} == answered
        shown = httpx.get(f"{server.url}/v1/items/shop/{ids[0]}", headers=headers).json()
        assert shown["id"] == ids[0]
    assert "no process to write changes" in (tmp_path / "log").read_text()


@linux
def test_a_lone_change_needs_no_process(tmp_path: Path) -> None:
    folder, keys = build_folder(tmp_path / "shop", 12), str(tmp_path / "keys")
    headers = {"Authorization": f"Bearer {make_key('keeper', 'admin', keys)}"}
    server = Server(folder, "--keys", keys, "--store", "memory:", "--rate", "0")
    with server.running(tmp_path / "log"), server.client() as http:
        body = {"attributes": {"price": 3.5}}
        answer = http.patch("/v1/items/shop/item-1", json=body, headers=headers)
        assert answer.json()["result"] == "changed"
        assert writers(server) == []
