"""What an earlier version has written is read by this one; what a later one has is refused."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seeker import Catalog
from seeker.catalog.verify import find_problems
from seeker.cli import main
from seeker.engine import Catalogs, Engine
from seeker.session import Click, Undo
from seeker.stores import open_store
from seeker.stores.migrations import newest

HERE = Path(__file__).parent


@dataclass(frozen=True)
class StoredFormats:
    """What a version has written, and what it was to show."""

    catalog: Path
    store: Path
    expected: dict[str, Any]

    def engine(self) -> Engine:
        catalogs = Catalogs({"catalog": Catalog.open(self.catalog)})
        return Engine(catalogs, open_store(str(self.store)))


@pytest.fixture(params=sorted(path.name for path in HERE.glob("written_by_*.zip")))
def written(request: pytest.FixtureRequest, tmp_path: Path) -> StoredFormats:
    with zipfile.ZipFile(HERE / request.param) as packed:
        packed.extractall(tmp_path)
    expected = json.loads((tmp_path / "expected.json").read_text())
    return StoredFormats(tmp_path / "catalog", tmp_path / "sessions.sqlite", expected)


def test_catalogs_and_sessions_of_before_go_on(written: StoredFormats) -> None:
    assert find_problems(written.catalog) == []
    expected = written.expected
    with closing(written.engine()) as engine:
        session = engine.show(expected["id"])
        assert (session.step, session.page.ids) == (expected["step"], expected["page"])
        assert engine.shared_session(expected["share"]) == expected["id"]
        stored = engine.stored(expected["id"])
        assert (stored.times, stored.owner, stored.person) == (expected["times"], "site", "ann")
        record = engine.store.idempotency_record(expected["id"], "a-key-that-was-used-once")
        assert record is not None
        engine.act(expected["id"], Undo(1))
        after = engine.act(expected["id"], Click(expected["page"][0], "like"))
        assert after.step == expected["step"]
    catalog = Catalog.open(written.catalog)
    assert len(catalog) == 23
    assert catalog.item("thing 3").attributes == {"price": 3.0, "kind": "cup"}
    assert main(["remove", str(written.catalog), "--ids", "thing 8"]) == 0
    assert len(Catalog.open(written.catalog)) == 22


def test_a_backup_is_the_way_back_after_an_upgrade(written: StoredFormats, tmp_path: Path) -> None:
    def schema(store: Path) -> int:
        with closing(sqlite3.connect(store)) as connection:
            return int(connection.execute("SELECT max(version) FROM seeker_schema").fetchone()[0])

    before = schema(written.store)
    copy, back = str(tmp_path / "copy"), tmp_path / "back"
    where = [f"catalog={written.catalog}", "--store", str(written.store)]
    assert main(["backup", copy, *where, "--quiet"]) == 0
    assert schema(written.store) == before  # looking does not upgrade
    with closing(written.engine()):
        assert schema(written.store) == newest()
    files = ["--store", str(back / "sessions.sqlite"), "--catalogs", str(back)]
    assert main(["restore", copy, *files, "--quiet"]) == 0
    assert schema(back / "sessions.sqlite") == before
    old = StoredFormats(back / "catalog", back / "sessions.sqlite", written.expected)
    with closing(old.engine()) as engine:
        assert engine.show(written.expected["id"]).page.ids == written.expected["page"]


def test_what_a_later_version_has_written_is_refused_and_left_alone(
    written: StoredFormats, capsys: pytest.CaptureFixture[str]
) -> None:
    open_store(str(written.store)).close()
    with closing(sqlite3.connect(written.store)) as connection:
        connection.execute("INSERT INTO seeker_schema VALUES (?)", (newest() + 1,))
        connection.commit()
    store = written.store.read_bytes()
    assert main(["sessions", "export", "x.jsonl", "--store", str(written.store)]) == 2
    assert f"has schema {newest() + 1}, but this Seeker knows" in capsys.readouterr().err
    assert written.store.read_bytes() == store
    manifest = written.catalog / "catalog.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "schema": 99}))
    assert main(["info", str(written.catalog)]) == 2
    assert "has schema 99, but this Seeker reads" in capsys.readouterr().err
