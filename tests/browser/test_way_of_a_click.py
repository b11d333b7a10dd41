"""The way of a click is as short as docs/architecture.md says, and passes the files it shows."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from support.documents import ROOT

MAX_FILES = 45


@pytest.mark.chromium("Only Chromium tells what code has run.")
def test_a_click_passes_the_files_of_the_picture(browser: Browser, tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOT / "docs/make/way_of_a_click.py"))
    files = script["follow"](browser, tmp_path).files
    assert sorted(files) == sorted(script["files_in_picture"]()), "run docs/make/way_of_a_click.py"
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    (count,) = re.findall(r"\*\*(\d+) files\*\*", page)
    assert len(files) == int(count) <= MAX_FILES
