"""What a newcomer runs into: each failure is one clear sentence and an exit code, no traceback."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import seeker
from seeker.files import CACHE_VARIABLE

COMMAND = "import sys; from seeker.cli import main; sys.exit(main(sys.argv[1:]))"
OBEY_RIGHTS = f"""
import ctypes, os, sys
# Even the superuser shall be bound by the rights of files: Linux's call 24 takes power 1 away.
if os.geteuid() == 0 and ctypes.CDLL(None).prctl(24, 1, 0, 0, 0) != 0:
    sys.exit(77)
os.execv(sys.executable, [sys.executable, "-c", {COMMAND!r}, *sys.argv[1:]])
"""
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_{0}, ({1}, {1}))\n" + COMMAND


def run(*arguments: str, cwd: Path, code: str = COMMAND) -> tuple[int, str]:
    """Run the command in a process of its own; return the exit code and what it said of trouble."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("seeker: ")]
    assert len(said) <= 1, done.stderr
    return done.returncode, said[0] if said else ""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with vectors and a catalog made of them."""
    folder = tmp_path_factory.mktemp("place")
    np.save(folder / "vectors.npy", np.random.default_rng(0).normal(size=(50_000, 16)))
    np.save(folder / "few.npy", np.random.default_rng(0).normal(size=(40, 4)))
    seeker.build(folder / "few.npy", folder / "catalog")
    return folder


def test_a_port_that_is_taken(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, said = run("serve", "catalog", "--port", port, "--store", "s.sqlite", cwd=place)
    assert code == 1
    assert said == (
        f"seeker: Nothing can listen at 127.0.0.1, port {port} (Address already in use). "
        "Choose another with --port; 0 takes any that is free."
    )


def test_a_port_that_is_taken_is_known_before_the_demo_is_built(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        elsewhere = f"import os; os.environ[{CACHE_VARIABLE!r}] = {str(tmp_path / 'cache')!r}\n"
        code, said = run("demo", "--port", port, cwd=tmp_path, code=elsewhere + COMMAND)
    assert code == 1
    assert "Choose another with --port" in said
    assert list(tmp_path.iterdir()) == []


def test_no_right_to_write(place: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    code, said = run(
        "build", "few.npy", "--out", str(locked / "catalog"), cwd=place, code=OBEY_RIGHTS
    )
    if code == 77:
        pytest.skip("this machine does not let a superuser lay down rights")
    assert code == 1
    assert said.startswith(f"seeker: There is no right to read or write '{locked}")
    code, said = run(
        "serve", "catalog", "--store", str(locked / "s.sqlite"), cwd=place, code=OBEY_RIGHTS
    )
    assert code == 5
    assert "sessions cannot be kept" in said
    assert "--store" in said


def test_a_full_disk(place: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "catalog")
    code, said = run(
        "build", "vectors.npy", "--out", out, cwd=place, code=LIMITED.format("FSIZE", 10**6)
    )
    assert code == 1
    assert "The disk is full" in said
    assert not Path(out).exists()
    # The sentence promises that the same command goes on once there is space.
    assert run("build", "vectors.npy", "--out", out, cwd=place) == (0, "")
    assert len(seeker.Catalog.open(out)) == 50_000


def test_not_enough_memory(place: Path, tmp_path: Path) -> None:
    np.lib.format.open_memmap(tmp_path / "huge.npy", "w+", np.float32, (16_000_000, 64)).flush()

    little = LIMITED.format("AS", 25 * 10**8)
    code, said = run("build", "huge.npy", "--out", "huge", cwd=tmp_path, code=little)
    assert code in (1, 2)
    assert "memory" in said


def test_memory_that_runs_out_in_the_midst_of_it(tmp_path: Path) -> None:
    code, said = run(
        cwd=tmp_path,
        code="import sys\nfrom seeker.cli import errors\n"
        "try:\n    bytearray(1 << 62)\nexcept MemoryError as error:\n"
        "    sys.exit(errors.report_errors(error))",
    )
    assert (code, said.startswith("seeker: There is not enough memory")) == (1, True)


def test_pictures_in_a_format_that_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.heic").write_bytes(b"\0\0\0\x18ftypheic" + bytes(100))
    code, said = run("build", "photos", "--out", "catalog", cwd=tmp_path)
    assert code == 2
    assert "There are no pictures in 'photos'" in said
    assert ".jpg" in said


def test_no_library_that_draws_a_format(tmp_path: Path) -> None:
    (tmp_path / "drawings").mkdir()
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="5"/></svg>'
    (tmp_path / "drawings" / "a.svg").write_text(drawing)
    code, said = run(
        *("build", "drawings", "--out", "catalog", "--views", "colour"),
        cwd=tmp_path,
        code="import sys; sys.modules['resvg_py'] = None\n"
        "from seeker.cli import main; sys.exit(main(sys.argv[1:]))",
    )
    assert code == 1
    assert said == (
        "seeker: SVG pictures cannot be drawn, for the package 'resvg-py' is missing. "
        "Install it: pip install resvg-py."
    )


@pytest.mark.parametrize("command", [("info",), ("serve",), ("search",), ("verify",)])
def test_a_catalog_from_a_newer_version(
    place: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    newer = tmp_path / "newer"
    shutil.copytree(place / "catalog", newer)
    manifest = json.loads((newer / "catalog.json").read_text())
    (newer / "catalog.json").write_text(json.dumps(manifest | {"schema": 99}))
    words = ("word",) if command == ("search",) else ()
    code, said = run(*command, "newer", *words, cwd=tmp_path)
    assert code == 2
    assert "has schema 99" in said
    assert "Install a newer Seeker" in said


def test_a_catalog_that_is_not_there(tmp_path: Path) -> None:
    code, said = run("info", "nowhere", cwd=tmp_path)
    assert code == 3
    assert said == (
        "seeker: There is no catalog at 'nowhere'. Make one with `seeker build SOURCE --out …`."
    )
