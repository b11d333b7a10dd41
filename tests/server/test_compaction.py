"""A service writes a catalog with many changes anew in quiet times, in nobody's way."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from seeker import Catalog
from seeker.catalog.build import versions
from seeker.catalog.build.item_changes import ItemChange
from seeker.catalog.build.publish import tidy_catalog
from seeker.catalog.build.segments import MIN_ITEMS, fullness
from seeker.catalog.build.update import apply_changes
from seeker.catalog.manifest import Manifest, compaction_folder
from seeker.catalog.manifest_reader import read_manifest
from seeker.catalog.verify import find_problems
from seeker.server.auth import make_key
from support.catalogs import build_folder
from support.servers import serving, until

NEW = int(0.6 * MIN_ITEMS)


def additions() -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    return [
        {"id": f"new {n}", "title": "new", "vectors": {"vector": rng.normal(size=12).tolist()}}
        for n in range(NEW)
    ]


def added(folder: Path) -> Manifest:
    changes = [
        ItemChange(str(one["id"]), "merge", "new", vectors={"vector": np.full(12, n % 7)})
        for n, one in enumerate(additions())
    ]
    apply_changes(folder, changes)
    manifest = read_manifest(folder)
    assert 0.5 < fullness(manifest) < 1.0
    return manifest


def test_a_service_compacts_when_nobody_changes_anything(tmp_path: Path) -> None:
    folder, keys = build_folder(tmp_path / "shop", 40), str(tmp_path / "keys")
    admin = {"Authorization": f"Bearer {make_key('keeper', 'admin', keys)}"}
    flags = ("--keys", keys, "--store", "memory:", "--rate", "0", "--compact-after", "0.2")
    with serving(folder, tmp_path / "log", *flags) as http:

        def figure(name: str) -> float:
            text = http.get("/metrics", headers=admin).text
            found = re.search(rf'^seeker_{name}\{{catalog="shop"\}} (\S+)$', text, re.MULTILINE)
            return float(found[1]) if found else 0.0

        session = http.post("/v1/sessions", json={"seed": 1}, headers=admin).json()
        lines = "\n".join(map(json.dumps, additions()))
        headers = {**admin, "Content-Type": "application/x-ndjson"}
        answer = http.post("/v1/items/shop", content=lines, headers=headers).json()
        assert {one["result"] for one in answer["lines"]} == {"new"}
        until(lambda: figure("compactions") == 1.0)
        until(lambda: figure("catalog_changed_share") == 0.0)
        assert figure("compaction_failures") == 0.0
        assert figure("compaction_last_seconds") > 0.0
        manifest = read_manifest(folder)
        assert (manifest.log, manifest.version) == (None, answer["version"] + 1)
        assert find_problems(folder) == []
        shown = http.get(f"/v1/sessions/{session['id']}/items", params={"limit": 100}).json()
        assert shown["total"] == 40 + NEW
    assert not compaction_folder(folder).exists()


def test_a_change_meanwhile_counts_and_the_compaction_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build_folder(tmp_path / "shop", 40)
    before = added(folder)
    merge = versions._merge

    def changed_meanwhile(*arguments: object, **options: object) -> object:
        made = merge(*arguments, **options)  # type: ignore[arg-type]
        apply_changes(folder, [ItemChange("item-3", "patch", "Meanwhile")])
        return made

    monkeypatch.setattr(versions, "_merge", changed_meanwhile)
    assert not versions.compact_aside(folder)
    monkeypatch.undo()
    assert read_manifest(folder).version == before.version + 1
    assert Catalog.open(folder).item("item-3").title == "Meanwhile"
    assert find_problems(folder) == []
    assert versions.compact_aside(folder)
    assert not versions.compact_aside(folder), "there was nothing to do"
    compacted = Catalog.open(folder)
    assert compacted.item("item-3").title == "Meanwhile"
    assert find_problems(folder) == []
    assert list(tmp_path.glob("shop.*")) == []


def test_what_a_killed_compaction_leaves_is_tidied(tmp_path: Path) -> None:
    folder = build_folder(tmp_path / "shop", 40)
    before = added(folder)
    killed = (
        "import os, signal; from seeker.catalog.build import versions; "
        "versions._switch = lambda *a, **o: os.kill(os.getpid(), signal.SIGKILL); "
        f"versions.compact_aside({str(folder)!r})"
    )
    assert subprocess.run([sys.executable, "-c", killed]).returncode != 0
    assert compaction_folder(folder).exists()
    assert read_manifest(folder).identity == before.identity
    apply_changes(folder, [ItemChange("item-3", "patch", "After")])
    tidy_catalog(folder)
    assert not compaction_folder(folder).exists()
    assert find_problems(folder) == []
