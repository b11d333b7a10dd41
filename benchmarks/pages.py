"""What benchmarks found out, as pages of the docs; each names the commit it was measured at."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_MARK = re.compile(
    r"^Measured at (?:or just before )?commit `([0-9a-f]{7,40})(, changed)?`\.$", re.MULTILINE
)
_HEADING = re.compile(r"^##+ (.*)$", re.MULTILINE)


def write(folder: Path, name: str, text: str, data: Any = None) -> None:
    """Write a page, and its data beside it; folder: made if there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(f"{text.rstrip()}\n\n{_mark()}\n", encoding="utf-8")
    if data is not None:
        lines = json.dumps(data, indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(lines + "\n", encoding="utf-8")


def _mark() -> str:
    try:
        commit = git("rev-parse", "--short=10", "HEAD")
        changed = git("status", "--porcelain", "--", "src", "benchmarks")
    except (OSError, subprocess.CalledProcessError):
        return "Measured outside a repository."
    return f"Measured at commit `{commit}{', changed' if changed else ''}`."


def measured_at(page: Path) -> str | None:
    """Return the commit a page was measured at, if it names one and the code was that."""
    return _commit(page.read_text(encoding="utf-8")) if page.exists() else None


def sections(page: Path) -> dict[str, str | None]:
    """Return the sections of a page that hold tables or name the commit they were measured at."""
    _, *parts = _HEADING.split(page.read_text(encoding="utf-8"))
    texts = zip(parts[::2], parts[1::2], strict=True)
    named = {heading: (_commit(text), "\n| ---" in text) for heading, text in texts}
    return {heading: commit for heading, (commit, table) in named.items() if table or commit}


def _commit(text: str) -> str | None:
    found = _MARK.search(text)
    return found[1] if found and not found[2] else None


def git(*arguments: str) -> str:
    """Return what Git says."""
    run = subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
    )
    return run.stdout.strip()
