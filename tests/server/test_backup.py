"""Backups of a running service, the way back, and moving sessions between stores."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from seeker import Catalog
from seeker.cli import main
from seeker.engine import Catalogs, Engine
from seeker.session import Click
from seeker.stores import open_store
from support.servers import serving, start


def test_a_running_service_is_copied_and_goes_on_from_the_copy(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path / "sessions.sqlite")
    flags = ("--store", store, "--rate", "0")
    done, answers = threading.Event(), list[int]()
    with serving(f"shop={folder}", tmp_path / "log", *flags) as http:
        mine = start(http, seed=3, page_size=4)
        address = f"/v1/sessions/{mine['id']}"
        item = mine["page"]["items"][0]["id"]
        after = http.post(f"{address}/clicks", json={"item": item, "verdict": "like"}).json()

        def search() -> None:
            while not done.is_set():
                answers.append(http.post("/v1/sessions", json={}).status_code)

        others = threading.Thread(target=search)
        others.start()
        try:
            assert main(["backup", str(tmp_path / "copy"), f"shop={folder}", "--store", store]) == 0
        finally:
            done.set()
            others.join()
        assert {*answers} == {201}
        assert "The catalog 'shop', 120 items, is in" in capsys.readouterr().out
        # What happens later is not in the copy.
        http.post(f"{address}/undo")
    assert {path.name for path in (tmp_path / "copy").iterdir()} == {
        *("backup.json", "sessions.sqlite", "catalogs")
    }
    assert os.stat(tmp_path / "copy").st_mode & 0o077 == 0
    back, files = tmp_path / "back.sqlite", tmp_path / "back"
    restore = ["restore", str(tmp_path / "copy"), "--store", str(back), "--catalogs", str(files)]
    assert main(restore) == 0
    assert os.stat(back).st_mode & 0o077 == 0
    assert main(["verify", str(files / "shop")]) == 0
    with serving(files / "shop", tmp_path / "log", "--store", str(back)) as http:
        assert http.get(address).json() == after
        media = next(one["media"] for one in after["page"]["items"] if one["media"])
        assert http.get(media).status_code == 200


def test_nothing_is_replaced_and_damage_is_found(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, copy = tmp_path / "sessions.sqlite", tmp_path / "copy"
    open_store(str(store)).close()
    backup = ["backup", str(copy), f"shop={folder}", "--store", str(store), "--quiet"]
    assert main(backup) == 0
    assert main(backup) == 4
    assert main(["restore", str(copy), "--store", str(store)]) == 4
    assert main(["restore", str(copy)]) == 2
    assert main(["restore", str(tmp_path)]) == 3
    (tmp_path / "new.sqlite-wal").touch()
    assert main(["restore", str(copy), "--store", str(tmp_path / "new.sqlite")]) == 4
    capsys.readouterr()
    vectors = next((copy / "catalogs/shop/views").glob("*.npy"))
    vectors.write_bytes(vectors.read_bytes()[:-1] + b"!")
    place = tmp_path / "new"
    assert main(["restore", str(copy), "--catalogs", str(place)]) == 2
    assert f"{vectors.name}' is not what was written" in capsys.readouterr().err
    vectors.unlink()
    assert main(["restore", str(copy), "--catalogs", str(place)]) == 2
    assert f"{vectors.name}' is missing" in capsys.readouterr().err
    assert list(place.iterdir()) == []
    about = json.loads((copy / "backup.json").read_text())
    out = {**about, "catalogs": {"../out": 1}}
    told: list[object] = [{**about, "schema": 99}, out, {}, []]
    for wrong in told:
        (copy / "backup.json").write_text(json.dumps(wrong))
        assert main(["restore", str(copy), "--catalogs", str(place)]) == 2
    strange = tmp_path / "strange.sqlite"
    with closing(sqlite3.connect(strange)) as connection:
        connection.execute("CREATE TABLE mine (a)")
    assert main(["backup", str(tmp_path / "b"), "--store", str(strange)]) == 2
    assert main(["backup", str(tmp_path / "b"), "--store", "postgresql://nobody"]) == 2
    assert main(["backup", str(tmp_path / "b"), "--store", str(tmp_path / "none")]) == 3
    assert main(["backup", str(tmp_path / "b"), "x=nowhere", "--no-store"]) == 3
    assert not list(tmp_path.glob("b*"))
    assert "Traceback" not in capsys.readouterr().err


def test_sessions_move_between_stores(
    folder: Path, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def engine(address: str) -> Engine:
        return Engine(Catalogs({"shop": Catalog.open(folder)}), open_store(address))

    with closing(engine(store)) as before:
        first = before.start("shop", seed=5, user="moving")
        after = before.act(first.id, Click(first.page.ids[0], "like"))
        events = before.stored(first.id)
    file, new = tmp_path / "all.jsonl", str(tmp_path / "new.sqlite")
    export = ["sessions", "export", str(file), "--store", store, "--user", "moving"]
    bring = ["sessions", "import", str(file), "--store", new]
    assert main(export) == 0
    assert main(bring) == 2
    assert "names its session by a pseudonym" in capsys.readouterr().err
    assert main([*export, "--ids"]) == 0
    assert main(bring) == 0
    assert "1 sessions were put into" in capsys.readouterr().out
    assert main(bring) == 0
    assert "0 sessions were put into" in capsys.readouterr().out
    with closing(engine(new)) as moved:
        assert moved.stored(first.id) == events
        assert moved.show(first.id) == after
    line = json.loads(file.read_text())
    parts = (
        {"events": line["events"][1:]},
        {"times": [1.0]},
        {"times": [1.0, "2"]},
        {"began": None},
        {"id": 7},
        {"user": ["a"]},
    )
    for wrong in ("{", "[]", "7", "{}", *(json.dumps({**line, **part}) for part in parts)):
        file.write_text(wrong)
        assert main(bring) == 2
        assert "Line 1 is not a session" in capsys.readouterr().err
