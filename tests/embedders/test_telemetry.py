"""What is built and searched stays on the machine: no library reports home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seeker.embedders.base import disable_telemetry

READ = "from seeker.embedders import named; named('text').embed(['a red dress'])"
# Where tests run by themselves, the runtime reports nothing in any case; people are elsewhere.
UNATTENDED = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "ORT_DISABLE_TELEMETRY")


def test_reading_a_text_leaves_no_mark_in_the_home_of_a_person(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in UNATTENDED}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    subprocess.run([sys.executable, "-c", READ], env=environment, check=True)
    files = [str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*") if one.is_file()]
    assert [one for one in files if not one.startswith(".cache/seeker")] == []


def test_who_has_decided_to_report_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")
    disable_telemetry()
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "0"
