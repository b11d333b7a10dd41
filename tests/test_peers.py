"""The contest with other engines runs, on next to nothing, and tells what it should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from documents import ROOT

PEERS = ROOT / "benchmarks" / "peers.py"


def contest(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", str(PEERS), *arguments], capture_output=True, text=True, timeout=300
    )


def test_a_small_contest(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = contest(
        *("--items", "700", "--dims", "8", "--rounds", "2", "--seconds", "1"),
        *("--only", "memory,seeker,numpy", "--out", str(tmp_path)),
    )
    assert done.returncode == 0, done.stderr
    (size,) = json.loads((tmp_path / "peers.json").read_text())["sizes"]
    assert size["missing"] == {}
    engines = {line["engine"] for line in size["lines"]}
    assert engines == {"Seeker", "numpy", "one pass over the memory"}
    ours = [line for line in size["lines"] if line["engine"] == "Seeker"]
    assert len(ours) == 4
    assert {line["recall"] for line in ours} == {1.0}
    assert all(line["megabytes"] > 0 for line in ours)
    page = (tmp_path / "peers.md").read_text()
    assert "| Seeker | choice, after refresh | yes |" in page
    assert (tmp_path / "peers.svg").stat().st_size > 1000

    contest(
        "--items", "500", "--dims", "8", "--rounds", "2", "--only", "memory", "--out", str(tmp_path)
    )
    both = json.loads((tmp_path / "peers.json").read_text())["sizes"]
    assert [one["items"] for one in both] == [500, 700]
    assert both[1] == size


def test_an_engine_that_is_not_known_is_refused() -> None:
    done = contest("--only", "seeker,nobody")
    assert done.returncode == 2
    assert "'nobody' is none of memory, seeker" in done.stderr


def test_sizes_come_in_pairs() -> None:
    done = contest("--items", "10")
    assert done.returncode == 2
    assert "belong together" in done.stderr
