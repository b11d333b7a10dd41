"""What tests share is sound itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from support.builds import Letters, MeanColour
from support.servers import TIMEOUT_SECONDS, until


def test_until_gives_up() -> None:
    with pytest.raises(AssertionError, match="not within"):
        until(lambda: False, within=0.02)


def test_the_small_embedders_are_embedders() -> None:
    red = Image.new("RGB", (4, 4), (255, 0, 0))
    assert MeanColour().embed([red]).tolist() == [[1.0, 0.0, 0.0]]
    assert Letters().embed_text(["abba"])[0, :3].tolist() == [2.0, 2.0, 0.0]


DYING = """
import os
import pytest

@pytest.mark.parametrize("n", range(12))
def test_quick(n): pass

def test_dying(): os._exit(3)

@pytest.mark.parametrize("n", range(12))
def test_late(n): pass
"""


def test_a_run_ends_although_one_of_its_processes_dies(tmp_path: Path) -> None:
    (tmp_path / "test_dying.py").write_text(DYING)
    hook = "def pytest_xdist_make_scheduler(config, log): return GroupScheduling(config, log)\n"
    (tmp_path / "conftest.py").write_text(
        f"from support.scheduling import GroupScheduling\n{hook}", encoding="utf-8"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup"]
    command += ["--max-worker-restart", "4", "-p", "no:cacheprovider", str(tmp_path)]
    tests = str(Path(__file__).parents[1])
    run = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": tests, "PYTEST_ADDOPTS": ""},
    )
    assert run.returncode == 1
    assert "24 passed" in run.stdout
