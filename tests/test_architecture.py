"""The shape of the package: imports point one way, names are plain, and importing it is quick."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import seeker
from support.rooms import ROOMS

PACKAGE = Path(seeker.__file__).parent

LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
OPEN = {"__init__"}  # the public names; anything may be re-exported there
MAX_LINES = 450
OLD_WORDS = {
    "Acting", "Ahead", "Bounds", "ClickAsked", "Conducted", "Edge", "Foreseen", "Foresight",
    "Fronted", "Gate", "Head", "Inside", "Kept", "Known", "Lacking", "Ledger", "Maker", "Making",
    "Moved", "Noticed", "Remembered", "Retried", "Room", "Scene", "Served", "SessionAnswer",
    "Shown", "Sums", "Supply", "ThingDone", "Told", "Trail", "Turned", "Whereabouts", "Written",
    "assume", "bolder", "deeds", "departed", "farewell", "lighten", "settle", "_MOST", "_LOOK",
    "_AGAIN", "FEW",
}  # fmt: skip
"""Names that said nothing to who had not learned them; other, plain ones are in use."""


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "seeker":
                names = [f"seeker.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("seeker.")}
    return rooms & LEVEL.keys()


def test_every_file_has_a_room() -> None:
    rooms = {room_of(path) for path in PACKAGE.rglob("*.py")}
    assert rooms <= LEVEL.keys()


def test_imports_point_one_way() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {room}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if room_of(path) not in OPEN
        for room in sorted(imported_rooms(path) - {room_of(path)})
        if LEVEL[room] >= LEVEL[room_of(path)]
    ]
    assert not wrong


def defined_names(path: Path) -> set[str]:
    """Return what a file calls its classes, functions, parameters and variables."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                names.add(name)
            case ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(name)
    return names


def test_things_have_the_words_of_the_field() -> None:
    old = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in PACKAGE.rglob("*.py")
        for name in defined_names(path) & OLD_WORDS
    }
    assert not old


def test_no_file_is_too_long_to_be_read_in_one_go() -> None:
    files = [*PACKAGE.rglob("*.py"), *(PACKAGE / "web").rglob("*.js")]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert not {path.name: count for path, count in lines.items() if count > MAX_LINES}


def test_the_core_is_pure() -> None:
    banned = {"random", "time", "datetime", "os", "socket", "sqlite3", "pathlib", "urllib", "io"}
    for room in ("models", "display", "session", "space"):
        for path in (PACKAGE / room).glob("*.py"):
            names = {
                name.split(".")[0]
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Import | ast.ImportFrom)
                for name in (
                    [alias.name for alias in node.names]
                    if isinstance(node, ast.Import)
                    else [node.module or ""]
                )
            }
            assert not names & banned, f"{path} is not pure"
            assert "np.random" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("module", ["seeker", "seeker.cli"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(' '.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "numba",
        "llvmlite",
        "onnxruntime",
        "PIL",
        "pyarrow",
        "matplotlib",
        "fastapi",
        "ray",
        "httpx",
        "uvicorn",
        "seeker.lab.simulate",
        "seeker.server.app",
    }
    assert not heavy & set(loaded)


def test_a_constant_has_one_value() -> None:
    """A second one of the same name would be meant for all who read the first."""
    twice = []
    for path in PACKAGE.rglob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        targets = [
            target
            for node in body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        ]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        twice += [f"{path.name}: {name}" for name in {*names} if names.count(name) > 1]
    assert not twice


def test_whether_kernels_are_compiled_is_seen_without_loading_what_compiles() -> None:
    """Every build asks, and a third of the time that a small one takes went into that."""
    code = "import sys; from seeker.kernels import compiled_before; print(compiled_before())"
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    told = subprocess.run(
        [sys.executable, "-c", f"{code}; print('numba' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    ).stdout.split()
    assert told in (["True", "False"], ["False", "False"])
