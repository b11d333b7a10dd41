"""The wheel and the sdist: what is in them, and that the wheel works without the checkout.

`make wheel-test` goes further: it installs everything into an empty environment and serves.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from distribution import release, wheel

TRIAL = """
import sys
from importlib.resources import files
from pathlib import Path
import numpy as np
import seeker
from seeker.cli import main
assert Path(seeker.__file__).is_relative_to(sys.argv[1]), seeker.__file__
assert "<seeker-search" in (files("seeker.web") / "index.html").read_text()
np.save("vectors.npy", np.random.default_rng(0).normal(size=(30, 4)))
seeker.build("vectors.npy", "catalog")
assert main(["verify", "catalog"]) == 0
assert len(seeker.Catalog.open("catalog")) == 30
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return wheel.build(tmp_path_factory.mktemp("dist"))


def test_both_hold_the_page_and_the_wheel_nothing_else_than_the_package(
    made: tuple[Path, Path],
) -> None:
    wheel.check_contents(*made)


def test_the_wheel_works_without_the_checkout(made: tuple[Path, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(made[0]) as packed:
        packed.extractall(tmp_path / "installed")
    work = tmp_path / "work"
    work.mkdir()
    subprocess.run(
        [sys.executable, "-c", TRIAL, str(tmp_path / "installed")],
        cwd=work,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
        check=True,
    )


def test_the_metadata_name_the_command_and_the_extras(made: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(made[0]) as packed:
        (points,) = (name for name in packed.namelist() if name.endswith("entry_points.txt"))
        (metadata,) = (name for name in packed.namelist() if name.endswith("METADATA"))
        assert "seeker = seeker.cli:main" in packed.read(points).decode()
        said = packed.read(metadata).decode()
    for extra in ("postgres", "cluster", "lab", "clip"):
        assert f"Provides-Extra: {extra}" in said
    assert "License-Expression: Apache-2.0" in said


def test_it_could_be_published_as_it_is(made: tuple[Path, Path]) -> None:
    release.check_metadata(*made)
    release.check_description(made[0])
    told = release.licences()
    assert {"numpy", "onnxruntime", "starlette", "huggingface-hub"} <= told.keys()
    release.check_licences(told)


def test_a_package_without_a_licence_is_named() -> None:
    with pytest.raises(SystemExit, match="mystery has the licence ''"):
        release.check_licences({"numpy": "BSD-3-Clause", "mystery": ""})
    with pytest.raises(SystemExit, match="AGPL"):
        release.check_licences({"strict": "MIT AND AGPL-3.0"})


def test_installing_it_alone_stays_light() -> None:
    project = tomllib.loads((wheel.ROOT / "pyproject.toml").read_text())["project"]
    heavy = ("torch", "ray", "pandas", "scipy", "scikit", "matplotlib", "pyarrow", "transformers")
    assert [one for one in project["dependencies"] if one.startswith(heavy)] == []
    # Another one is a decision: docs/decisions/packaging.md has what all of them weigh.
    assert len(project["dependencies"]) <= 18
