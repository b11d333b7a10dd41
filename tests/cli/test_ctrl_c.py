"""Ctrl-C in each long command: one sentence, the exit code 130, and nothing that must be mended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import seeker
from support.servers import TIMEOUT_SECONDS

ATTENDED = """
import signal, sys
# Whoever runs tests in the background ignores the keyboard; a person at a terminal does not.
signal.signal(signal.SIGINT, signal.default_int_handler)
from seeker.cli import main
sys.exit(main(sys.argv[1:]))
"""


def stopped(*arguments: str, cwd: Path, when: Callable[[], bool]) -> tuple[int, str]:
    """Run a command, press Ctrl-C when it is under way; return its exit code and words."""
    with (cwd / "said").open("w+") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", ATTENDED, *arguments],
            cwd=cwd,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not when():
            said.flush()
            assert process.poll() is None, (cwd / "said").read_text()
            assert time.monotonic() < deadline, (cwd / "said").read_text()
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        code = process.wait(TIMEOUT_SECONDS)
    return code, (cwd / "said").read_text()


def is_quiet(said: str) -> bool:
    return "Traceback" not in said and "Process " not in said


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(400, 8)))
    seeker.build(tmp_path / "v.npy", tmp_path / "catalog")
    return tmp_path


def test_a_build_can_go_on(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    for n in range(600):
        Image.new("RGB", (24, 24), (n % 256, n // 3, 90)).save(tmp_path / "photos" / f"{n}.png")
    build = ("build", "photos", "--out", "catalog", "--views", "image")
    chunks = tmp_path / "catalog.building" / "chunks"
    code, said = stopped(*build, cwd=tmp_path, when=lambda: any(chunks.glob("*.npz")))
    assert code == 130
    assert is_quiet(said)
    assert said.endswith(
        "seeker: Stopped. Run the same command again, and it goes on where it was.\n"
    )
    assert not (tmp_path / "catalog").exists()


def test_a_service_ends(catalog: Path) -> None:
    code, said = stopped(
        *("serve", "catalog", "--port", "0"),
        cwd=catalog,
        when=lambda: "Seeker is at" in (catalog / "said").read_text(),
    )
    assert code == 130
    assert is_quiet(said)


def test_an_evaluation_ends_with_all_its_processes(catalog: Path) -> None:
    evaluate = ("evaluate", "catalog", "--out", "runs", "--method", "board", "--processes", "2")
    code, said = stopped(
        *evaluate, cwd=catalog, when=lambda: any((catalog / "runs").glob("*.parquet"))
    )
    assert code == 130
    assert is_quiet(said), said
