"""The documentation says what is so: its code runs, its reference is complete, links lead on."""

from __future__ import annotations

import dataclasses
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import seeker
from documents import ROOT, Reader, blocks, pages
from seeker.cli import cli
from seeker.server.settings import Settings, read
from test_architecture import ROOMS
from test_server_parts import postgres

# Decisions, the lab's and the benchmarks' pages are records: they quote what was run then.
RUN = [
    page
    for page in pages(
        "README.md",
        "CONTRIBUTING.md",
        "docs/index.md",
        "docs/architecture.md",
        "docs/tutorial",
        "docs/how-to",
        "docs/reference",
        "docs/explanation",
    )
    if page.is_file()
]
LANGUAGES = {
    "python",
    "sh",
    "bash",
    "json",
    "jsonl",
    "toml",
    "html",
    "js",
    "css",
    "nginx",
    "diff",
    "text",
}
OTHERS_RUN_IT = {"docs/reference/http.md", "docs/how-to/shards-on-ray.md"}
"""Pages with tests of their own, which need more than a folder."""


QUOTING = ("why-choice", "exploration", "belief", "limits")
"""Explanations that quote what was measured."""


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with postgres(tmp_path_factory.mktemp("postgres")) as address:
        yield address


@pytest.mark.parametrize("page", RUN, ids=_name)
def test_every_block_says_what_it_is(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{_name(page)}, line {block.line}: {block.language!r}"


@pytest.mark.parametrize(
    "page", [page for page in RUN if _name(page) not in OTHERS_RUN_IT], ids=_name
)
def test_code_runs(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    found = blocks(page)
    if not any(block.language in ("python", "sh", "bash") for block in found):
        return
    environment = {}
    if "$DATABASE" in page.read_text(encoding="utf-8"):
        environment["DATABASE"] = request.getfixturevalue("database")
    if page.name == "README.md":
        _things_at_hand(tmp_path)
    with Reader(tmp_path, environment) as reader:
        for block in found:
            reader.do(block, f"{_name(page)}, line {block.line}")


def _things_at_hand(folder: Path) -> None:
    """Make what a reader of the README is supposed to have: photos and a table."""
    from PIL import Image

    (folder / "photos").mkdir()
    for n in range(15):
        Image.new("RGB", (40, 40), (15 * n, 90, 255 - 15 * n)).save(folder / f"photos/{n}.jpg")
    rows = [f"{n},A book about {word}" for n, word in enumerate(["foxes", "tea", "snow"] * 5)]
    (folder / "books.csv").write_text("\n".join(["id,title", *rows]))


def test_the_readme_shows_what_the_lab_found() -> None:
    def rows(page: str) -> dict[str, list[str]]:
        cells = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in (ROOT / page).read_text(encoding="utf-8").splitlines()
            if re.match(r"\| [^|]+ \| \d\.\d+ \(\d", line)
        ]
        return {row[0].split(",")[0]: row[1:3] for row in cells}

    measured, told = rows("docs/lab/README.md"), rows("README.md")
    assert "Seeker" in told
    assert {name: measured[name] for name in told} == told


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/explanation/{name}.md" for name in QUOTING)]
)
def test_figures_are_those_that_were_measured(page: str) -> None:
    records = pages("docs/lab", "docs/decisions", "docs/benchmarks")
    measured = {float(one) for record in records for one in _decimals(record)}
    # 0.05 and the like are settings, not results; two decimals may be a rounded third.
    quoted = [one for one in _decimals(ROOT / page) if float(one) > 0.05]
    digits = {one: len(one.partition(".")[2]) for one in quoted}
    unknown = [
        one
        for one in quoted
        if not any(abs(value - float(one)) <= 0.5001 * 10.0 ** -digits[one] for value in measured)
    ]
    assert unknown == []


def _decimals(page: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"(?<![\d.])\d+\.\d+(?![\d.])", text)


@pytest.mark.parametrize("page", RUN, ids=_name)
def test_settings_files_are_understood(page: Path, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.language == "toml":
            file = tmp_path / "seeker.toml"
            file.write_text(block.code, encoding="utf-8")
            read({}, {}, str(file))


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_nginx_understands_the_configuration(tmp_path: Path) -> None:
    page = ROOT / "docs/how-to/nginx-and-api-keys.md"
    (found,) = (block.code for block in blocks(page) if block.language == "nginx")
    # Certificates and the port are this machine's matter; all the rest is as documented.
    served = re.sub(r"^\s*ssl_certificate.*\n", "", found, flags=re.MULTILINE)
    served = served.replace("listen 443 ssl;", f"listen unix:{tmp_path}/socket;")
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log {tmp_path}/errors; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {tmp_path}/a; proxy_temp_path {tmp_path}/b;"
        f" fastcgi_temp_path {tmp_path}/c; uwsgi_temp_path {tmp_path}/d;"
        f" scgi_temp_path {tmp_path}/e;\n{served} }}"
    )
    done = subprocess.run(
        ["nginx", "-t", "-e", str(tmp_path / "early"), "-c", str(tmp_path / "nginx.conf")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


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
    public += [f"{name}" for module in (seeker.models, seeker.display) for name in module.__all__]
    missing = [name for name in public if not re.search(rf"`{re.escape(name)}\b|\.{name}`", page)]
    assert [name for name in missing if name != "DEFAULT"] == []


def test_every_route_is_documented(tmp_path: Path) -> None:
    page = ROOT / "docs/reference/http.md"
    if not page.is_file():
        pytest.skip("the page about HTTP is not written yet")
    from seeker.server.app import create_app

    catalog = seeker.build(_vectors(tmp_path), tmp_path / "catalog")
    assert catalog.folder is not None
    app = create_app(read({"catalogs": (str(catalog.folder),), "store": "memory:"}, {}))
    text = page.read_text(encoding="utf-8")
    routes = {
        f"{method.upper()} {path}"
        for path, methods in app.openapi()["paths"].items()
        for method in methods
    }
    assert sorted(route for route in routes if route.replace(":path", "") not in text) == []


def _vectors(folder: Path) -> Path:
    import numpy as np

    np.save(folder / "vectors.npy", np.random.default_rng(0).normal(size=(30, 4)))
    return folder / "vectors.npy"


def test_every_event_is_documented() -> None:
    from typing import get_args

    from seeker.session import events

    page = (ROOT / "docs/reference/events.md").read_text(encoding="utf-8")
    shown = {
        event["type"]
        for block in blocks(ROOT / "docs/reference/events.md")
        if block.language == "jsonl"
        for event in _events(block.code)
    }
    known: set[str] = set()
    for kind in get_args(events.Event):
        written = events.to_json(_some(kind))
        known.add(written["type"])
        assert all(f"`{key}`" in page for key in written), f"{written['type']}: {sorted(written)}"
    assert shown == known


def _some(kind: type[Any]) -> Any:
    """Return some event of a kind."""
    from seeker import display, models
    from seeker.session.events import Start

    if kind is Start:
        return Start(models.Choice(), display.Boltzmann(), 12, 0)
    given: dict[str, Any] = {
        "item": "a",
        "verdict": "like",
        "text": "red",
        "filter": {"colour": "red"},
        "level": 2.0,
    }
    names = [
        one.name
        for one in dataclasses.fields(kind)
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    ]
    return kind(**{name: given[name] for name in names})


def _events(code: str) -> list[dict[str, Any]]:
    import json

    from seeker.session.events import from_json, to_json

    found = [json.loads(line) for line in code.splitlines() if line.strip()]
    for event in found:
        assert to_json(from_json(event)) == event
    return found


def test_the_catalogs_head_is_documented(tmp_path: Path) -> None:
    catalog = seeker.build(_vectors(tmp_path), tmp_path / "catalog")
    assert catalog.head is not None
    page = (ROOT / "docs/reference/catalog-format.md").read_text(encoding="utf-8")
    head = catalog.head.to_json()
    (view,) = head["views"].values()
    keys = [*head, *view, *head["items"]]
    assert [key for key in keys if f"`{key}`" not in page] == []
    tables = _tables(tmp_path / "catalog" / "items.sqlite")
    assert [name for name in tables if f"`{name}`" not in page] == []


def _tables(file: Path) -> list[str]:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [name for (name,) in rows if not name.startswith(("words_", "sqlite_"))]


def test_the_picture_of_a_click_matches_the_code() -> None:
    drawn = (ROOT / "docs/architecture.svg").read_text(encoding="utf-8")
    made = runpy.run_path(str(ROOT / "docs/make/way_of_a_click.py"))
    assert drawn == made["drawn"](), "run docs/make/way_of_a_click.py"
    files = [file for _, _, file, _ in made["STATIONS"]]
    assert [file for file in files if not (ROOT / "src/seeker" / file).is_file()] == []


def test_every_room_is_described() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rooms = {name for rooms in ROOMS for name in rooms if not name.startswith("__")}
    there = {room for room in rooms if list((ROOT / "src/seeker").glob(f"{room}*"))}
    assert sorted(room for room in there if not re.search(rf"`{room}(/|\.py)`", page)) == []


def test_links_between_pages_lead_somewhere() -> None:
    link = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)\s]*)?\)")
    lost = []
    for page in pages("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs"):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for match in link.finditer(text):
            target = match[1]
            outside = target.startswith(("http:", "https:", "mailto:"))
            if not outside and not (page.parent / target).exists():
                lost.append(f"{_name(page)}: {target}")
    assert lost == []


def test_the_site_is_built_without_a_complaint(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    made = {path.relative_to(tmp_path / "site") for path in (tmp_path / "site").rglob("*.html")}
    assert {Path("index.html"), Path("tutorial/photos.html"), Path("reference/cli.html")} <= made


def test_the_extras_of_the_readme_are_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert {"postgres", "cluster", "lab", "clip"} <= extras.keys()
