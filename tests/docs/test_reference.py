"""The reference is complete: what is public has a line in it, and drawings match the code."""

from __future__ import annotations

import dataclasses
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import numpy as np

import seeker
from seeker import display, models
from seeker.cli import cli
from seeker.server.settings import Settings
from seeker.session import Start, events
from support.documents import ROOT, blocks
from support.rooms import ROOMS


def test_the_reference_is_what_the_code_says() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/make/reference.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _commands(group: click.Group, path: str = "seeker") -> Iterator[str]:
    for name, command in group.commands.items():
        yield f"{path} {name}"
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path} {name}")


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    assert [name for name in _commands(cli) if f"## `{name}`" not in page] == []


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    names = [one.name for one in dataclasses.fields(Settings)]
    assert [name for name in names if f"| `{name}` |" not in page] == []


def test_every_public_name_is_documented() -> None:
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    public = [f"seeker.{name}" for name in seeker.__all__]
    public += [f"{name}" for module in (models, display) for name in module.__all__]
    missing = [name for name in public if not re.search(rf"`{re.escape(name)}\b|\.{name}`", page)]
    assert [name for name in missing if name != "DEFAULT"] == []


def test_every_event_is_documented() -> None:
    page = (ROOT / "docs/reference/events.md").read_text(encoding="utf-8")
    shown = {
        event["type"]
        for block in blocks(ROOT / "docs/reference/events.md")
        if block.language == "jsonl"
        for event in _events(block.code)
    }
    known: set[str] = set()
    for kind in {*events.EVENTS.values()}:
        written = _some(kind).to_json()
        known.add(written["type"])
        assert all(f"`{key}`" in page for key in written), f"{written['type']}: {sorted(written)}"
    assert shown == known


def _some(kind: type[Any]) -> Any:
    """Return some event of a kind."""
    if kind is Start:
        return Start(models.Choice(), display.Boltzmann(), 12, 0)
    given: dict[str, Any] = {
        "item": "a",
        "verdict": "like",
        "text": "red",
        "filter": {"colour": "red"},
        "level": 2.0,
        "views": {"colour": 2.0},
    }
    names = [
        one.name
        for one in dataclasses.fields(kind)
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    ]
    return kind(**{name: given[name] for name in names})


def _events(code: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in code.splitlines() if line.strip()]
    for event in found:
        assert events.parse_event(event).to_json() == event
    return found


def test_the_catalogs_head_is_documented(tmp_path: Path) -> None:
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).normal(size=(30, 4)))
    catalog = seeker.build(tmp_path / "vectors.npy", tmp_path / "catalog")
    assert catalog.manifest is not None
    page = (ROOT / "docs/reference/catalog-format.md").read_text(encoding="utf-8")
    manifest = catalog.manifest.to_json()
    (view,) = manifest["views"].values()
    keys = [*manifest, *view, *manifest["items"]]
    assert [key for key in keys if f"`{key}`" not in page] == []
    tables = _tables(tmp_path / "catalog" / "items.sqlite")
    assert [name for name in tables if f"`{name}`" not in page] == []


def _tables(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [name for (name,) in rows if not name.startswith(("words_", "sqlite_"))]


def test_every_room_is_described() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rooms = {name for rooms in ROOMS for name in rooms if not name.startswith("__")}
    there = {room for room in rooms if list((ROOT / "src/seeker").glob(f"{room}*"))}
    assert sorted(room for room in there if not re.search(rf"`{room}(/|\.py)`", page)) == []
