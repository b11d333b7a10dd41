"""Benchmarks run, on next to nothing, and tell what they should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import seeker
from support.documents import ROOT

pytest.importorskip("matplotlib")


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = str(ROOT / "benchmarks" / f"{name}.py")
    command = [sys.executable, "-P", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_a_small_contest(tmp_path: Path) -> None:
    done = run(
        *("peers", "--items", "700", "--dims", "8", "--rounds", "2", "--seconds", "1"),
        *("--only", "memory,seeker,numpy", "--out", str(tmp_path)),
    )
    assert done.returncode == 0, done.stderr
    (size,) = json.loads((tmp_path / "peers.json").read_text())["sizes"]
    assert size["missing"] == {}
    engines = {line["engine"] for line in size["lines"]}
    assert engines == {"Seeker", "numpy", "one pass over the memory"}
    ours = [line for line in size["lines"] if line["engine"] == "Seeker"]
    assert len(ours) == 6
    assert {line["recall"] for line in ours} == {1.0}
    assert all(line["megabytes"] > 0 for line in ours)
    page = (tmp_path / "peers.md").read_text()
    assert "| Seeker | choice, after refresh | yes |" in page
    assert (tmp_path / "peers.svg").stat().st_size > 1000

    run(
        *("peers", "--items", "500", "--dims", "8", "--rounds", "2"),
        *("--only", "memory", "--out", str(tmp_path)),
    )
    both = json.loads((tmp_path / "peers.json").read_text())["sizes"]
    assert [one["items"] for one in both] == [500, 700]
    assert both[1] == size


def test_an_engine_that_is_not_known_is_refused() -> None:
    done = run("peers", "--only", "seeker,nobody")
    assert done.returncode == 2
    assert "'nobody' is none of memory, seeker" in done.stderr


def test_sizes_come_in_pairs() -> None:
    done = run("peers", "--items", "10")
    assert done.returncode == 2
    assert "belong together" in done.stderr


def test_how_a_click_grows_with_a_catalog(tmp_path: Path) -> None:
    sizes = ("--sizes", "400", "700", "--rounds", "1")
    done = run("scale", *sizes, "--folder", str(tmp_path / "made"), "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "scale.json").read_text())["sizes"]
    assert [one["items"] for one in found] == [400, 700]
    for one in found:
        assert one["dtype"] == "float16"
        assert one["limit_ms"] > 0
        for rows in one["models"].values():
            assert rows["page"]["ms"] > 0
            assert rows["bytes"] > 0
    assert "| 700 | float16 | choice |" in (tmp_path / "scale.md").read_text()
    assert (tmp_path / "scale.svg").stat().st_size > 1000


def test_what_the_service_adds_to_http(folder: Path, tmp_path: Path) -> None:
    done = run("latency", "--searches", "2", "--catalog", str(folder), "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "latency.json").read_text())
    assert found["clicks"] == 20
    assert found["healthz_per_second"] > 0
    assert set(found["times"]) == {"bare", "healthz", "start", "click"}
    assert found["times"]["bare"]["median_ratio"] == 1.0
    page = (tmp_path / "latency.md").read_text()
    assert "on the catalog shop: " in page
    assert "| a click: kept, " in page


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_a_few_kills() -> None:
    done = run("kills", "--kills", "1", "--people", "2", "--only", "SQLite, one process")
    assert done.returncode == 0, done.stdout + done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("| SQLite, one"))
    killed, answered, sessions, _, lost, doubled, *_ = map(str.strip, line.split("|")[2:])
    assert (killed, lost, doubled) == ("server 1", "0", "0")
    assert int(answered) >= 12
    assert int(sessions) >= 2


def test_a_variant_is_evaluated_as_any_method_is(tmp_path: Path) -> None:
    catalog, out = tmp_path / "catalog", tmp_path / "runs"
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "v.npz", looks=rng.normal(size=(60, 6)), sounds=rng.normal(size=(60, 4)))
    seeker.build(tmp_path / "v.npz", catalog)
    few = ("--person", "likes only", "--targets", "30", "--pages", "2", "--processes", "2")
    done = run("lab/variants", str(catalog), "--method", "even mixture", *few, "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "30 searches" in done.stdout
    assert "even mixture" in done.stdout
