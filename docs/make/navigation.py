"""The contents of the site: every page of every room, the first ones in an order of our choice.

MkDocs calls `on_config` while it builds the site. A page that is added to a folder is in the
contents without being named anywhere; the build is strict about links, not about lists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

FIRST = {
    "tutorial": ["photos"],
    "how-to": [
        "a-table",
        "your-own-vectors",
        "your-own-embedder",
        "in-a-notebook",
        "say-more",
        "run-it",
        "see-what-people-do",
        "nginx-and-api-keys",
        "postgresql",
        "learn-from-searches",
        "evaluate-your-catalog",
        "run-a-study",
        "shards-on-ray",
    ],
    "reference": ["cli", "http", "python", "settings", "page", "catalog-format", "events"],
    "explanation": [
        "mathematics",
        "why-choice",
        "exploration",
        "belief",
        "learning",
        "large-catalogs",
        "capacity",
        "limits",
    ],
    "decisions": [],
    "benchmarks": ["click", "scale", "load", "latency", "page", "cluster", "peers"],
}
TITLES = {
    "tutorial": "Tutorial",
    "how-to": "How to",
    "reference": "Reference",
    "explanation": "Explanation",
    "decisions": "Decisions",
    "benchmarks": "Benchmarks",
}


def pages(docs: Path, room: str) -> list[str]:
    """Return the pages of a room, those that have a place first."""
    there = {path.stem: f"{room}/{path.name}" for path in sorted((docs / room).glob("*.md"))}
    order = [*(name for name in FIRST[room] if name in there), *sorted(there)]
    return [there[name] for name in dict.fromkeys(order)]


def contents(docs: Path) -> list[Any]:
    """Return the contents in the form that MkDocs takes."""
    rooms = [{TITLES[room]: pages(docs, room)} for room in FIRST if pages(docs, room)]
    nav: list[Any] = [{"Start": "index.md"}, *rooms]
    if (docs / "lab" / "README.md").is_file():
        nav.append({"The lab": "lab/README.md"})
    return [*nav, {"Architecture": "architecture.md"}]


def on_config(config: Any) -> Any:
    """Give MkDocs the contents."""
    config["nav"] = contents(Path(config["docs_dir"]))
    return config
