"""Which pages of figures are out of date; and the measurements behind them, in one command.

    make figures                                    measures what takes less than an hour
    python -P benchmarks/figures.py --list          only says which pages are out of date
    python -P benchmarks/figures.py load page       measures these

A page is out of date if a commit after the one it names changed what it measures. The lab's page
names one in every section with a table; its commands stand there.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from benchmarks import pages

FOLDER = pages.ROOT / "docs" / "benchmarks"
CORE = ("kernels", "space", "models", "display", "session")
SERVICE = (*CORE, "engine", "stores", "server")
LAB = (*CORE, "lab", "learning")
LAB_PAGE = pages.ROOT / "docs" / "lab" / "README.md"


@dataclass(frozen=True)
class Figures:
    """A page of figures; minutes: about how long its command takes; rooms: what it measures."""

    command: str
    minutes: int
    rooms: tuple[str, ...]


PAGES = {
    "click": Figures("-P benchmarks/click.py", 10, CORE),
    "latency": Figures("-P benchmarks/latency.py", 1, SERVICE),
    "page": Figures("-P benchmarks/page.py", 2, (*SERVICE, "web")),
    "load": Figures("-P benchmarks/load.py", 15, SERVICE),
    "worst_cases": Figures("-P benchmarks/worst_cases.py", 5, SERVICE),
    "kills": Figures("-P benchmarks/kills.py", 12, ("engine", "stores", "server")),
    "peers": Figures("-P benchmarks/peers.py", 60, CORE),
    "scale": Figures("-P benchmarks/scale.py --dtype float16 --rounds 12", 90, CORE),
    "cluster": Figures("-m benchmarks.cluster", 60, (*CORE, "cluster")),
}
UNDER_AN_HOUR = ("latency", "page", "click", "kills", "load", "worst_cases")


def out_of_date(measured: str | None, rooms: tuple[str, ...]) -> str | None:
    """Return why figures are out of date, or None; measured: the commit that they name."""
    if measured is None:
        return "names no commit"
    folders = [f"src/seeker/{room}" for room in rooms]
    try:
        since = pages.git("rev-list", "--count", f"{measured}..HEAD", "--", *folders, "benchmarks")
    except subprocess.CalledProcessError:
        return f"names the commit {measured}, which is not in this history"
    return None if since == "0" else f"measured at {measured}; {since} commits changed it since"


def main() -> int:
    """Measure, and say what is out of date."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[[], *PAGES], metavar="PAGE")
    parser.add_argument("--list", action="store_true", help="measure nothing")
    options = parser.parse_args()
    failed = []
    for name in () if options.list else options.names or UNDER_AN_HOUR:
        figures = PAGES[name]
        print(f"{name}: about {figures.minutes} minutes …", flush=True)
        command = [sys.executable, *shlex.split(figures.command)]
        if subprocess.run(command, cwd=pages.ROOT, check=False).returncode:
            failed.append(name)
    for name, figures in PAGES.items():
        state = out_of_date(pages.measured_at(FOLDER / f"{name}.md"), figures.rooms)
        state = "measuring failed" if name in failed else state or "up to date"
        print(f"{name:12}{figures.minutes:3} min  {state}")
    for heading, measured in pages.sections(LAB_PAGE).items():
        print(f"lab, {heading}: {out_of_date(measured, LAB) or 'up to date'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
