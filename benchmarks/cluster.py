"""What shards cost and what they bring: the overhead of a click, its parts, and a killed shard.

    python -m benchmarks.cluster [--quick] [--out docs/benchmarks]

Starts Ray on this machine. Single machine and shards take turns click by click, so that both meet
the same load; what a shard computes is measured as processor time, which other programs do not
lengthen. Writes cluster.json and cluster.md; `docs/explanation/capacity.md` builds on them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets, pages, timing
from seeker import Catalog, Session
from seeker.cluster import ClusterCatalog, Fleet, InProcessShards
from seeker.cluster.messages import ShardReport
from seeker.cluster.ray_runtime import connect_ray
from seeker.cluster.ray_transport import RayShards
from seeker.kernels.parallel import cores

ITEMS, DIMENSIONS = 100_000, 256
MAX_EXTRA_MS = 10.0
"""Milliseconds that the way over two shards may take longer."""

Times = dict[str, list[float]]


def catalog_of(items: int, dtype: Any = "float32") -> Catalog:
    """Return a catalog of made vectors."""
    views = {"image": datasets.synthetic(items, DIMENSIONS)}
    return Catalog.from_arrays([f"{row}" for row in range(items)], views, dtype=dtype)


def median_and_p95(times: Sequence[float]) -> str:
    """Return the median and the 95th percentile, to be read."""
    return f"{np.median(times):.1f} ({np.percentile(times, 95):.1f})"


def milliseconds(
    work: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Milliseconds that some work takes."""
    return 1000.0 * timing.seconds(work, clock)


def click_and_page(session: Session, item: str, n: int) -> Callable[[], object]:
    """Return a click and the page after it, to be timed."""

    def both() -> None:
        session.click(item, "dislike" if n % 2 else "like")
        session.page()

    return both


def overhead(catalog: Catalog, over: ClusterCatalog, model: str, clicks: int) -> Times:
    """Time the same clicks on this machine and over shards, in turns, bounds fresh for each."""
    times: Times = {"alone": [], "shards": []}
    for person in range(max(1, clicks // 12)):
        alone, far = (one.session(model=model, seed=person) for one in (catalog, over))
        for n in range(13):
            item = alone.page().ids[(person + n) % 12]
            assert alone.page().ids == far.page().ids
            alone.refresh()
            far.refresh()
            took = (
                milliseconds(click_and_page(alone, item, n)),
                milliseconds(click_and_page(far, item, n)),
            )
            if n:
                times["alone"].append(took[0])
                times["shards"].append(took[1])
    return times


def fan_out(transport: RayShards, rounds: int) -> list[float]:
    """Time a question to all shards that costs them nothing."""
    transport.reports(30.0)
    return [milliseconds(lambda: transport.reports(30.0)) for _ in range(rounds)]


def processor_times(session: Session, person: int, clicks: int) -> Times:
    """Measure the processor time of a person's clicks, and of the work after each."""
    results: Times = {"page": [], "refresh": [], "belief": []}
    for n in range(clicks):
        item = session.page().ids[(person + n) % 12]
        results["page"].append(milliseconds(click_and_page(session, item, n), time.process_time))
        results["refresh"].append(milliseconds(session.refresh, time.process_time))
        results["belief"].append(milliseconds(lambda: session.belief.entropy, time.process_time))
    return results


def one_shard(items: int, model: str, people: int, clicks: int) -> dict[str, Any]:
    """Measure what one shard of int8 vectors spends on a click and on the work after it."""
    catalog = catalog_of(items, "int8")
    results: list[Times] = []
    shard_bytes = 0
    for person in range(people + 1):
        transport = InProcessShards(catalog.views, 1)
        over = ClusterCatalog.over(catalog, Fleet(transport))
        results.append(processor_times(over.session(model=model, seed=person), person, clicks))
        shard_bytes = transport.shards[0].sessions.bytes
    counted = results[1:]  # the first one was for warming up
    times = {name: [time for one in counted for time in one[name]] for name in results[0]}
    return {"items": items, "bytes_per_item": shard_bytes / items, **times}


def recovery_seconds(catalog: Catalog, over: ClusterCatalog) -> float:
    """Seconds from the death of a shard to the answer of the click that met it."""
    transport = over.fleet.transport
    assert isinstance(transport, RayShards)
    alone, far = catalog.session(seed=99), over.session(seed=99)
    first = alone.page().ids[0]
    for session in (alone, far):
        session.like(first)
        session.page()
    report = transport.reports(30.0)[0]
    assert isinstance(report, ShardReport)
    os.kill(report.pid, signal.SIGKILL)
    item = alone.page().ids[3]
    took = milliseconds(click_and_page(far, item, 1)) / 1000.0
    alone.dislike(item)
    assert alone.page().ids == far.page().ids
    return took


def shard_catalog(catalog: Catalog, shards: int, copies: str) -> ClusterCatalog:
    """Return a catalog over shards on Ray."""
    name = f"bench-{os.getpid()}-{len(catalog)}"
    transport = RayShards(catalog.views, name, shards, None, copies=copies)
    over = ClusterCatalog.over(catalog, Fleet(transport, 120.0))
    over.wait_until_ready()
    return over


def measure_on_ray(quick: bool) -> dict[str, Any]:
    """Measure clicks over shards, the way to them, and what the death of one costs."""
    clicks = 24 if quick else 48
    connect_ray("local")
    results: dict[str, Any] = {"load": os.getloadavg()[0]}
    catalog = catalog_of(ITEMS)
    with tempfile.TemporaryDirectory(prefix="seeker-bench-") as copies:
        results["fan out"], results["overhead"] = {}, {}
        for shards in (1, 2, 4, 8):
            over = shard_catalog(catalog, shards, copies)
            transport = over.fleet.transport
            assert isinstance(transport, RayShards)
            results["fan out"][shards] = fan_out(transport, clicks)
            if shards <= 4:
                results["overhead"][shards] = {
                    model: overhead(catalog, over, model, clicks)
                    for model in ("choice", "pairwise")
                }
            if shards == 2:
                results["killed"] = [
                    recovery_seconds(catalog, over) for _ in range(2 if quick else 5)
                ]
            transport.end()
    return results


def measure_one_process(quick: bool) -> dict[str, Any]:
    """Measure the work of one shard."""
    sizes = (50_000, 200_000) if quick else (100_000, 300_000, 1_000_000)
    people, models = (1 if quick else 5), ("choice", "pairwise")
    return {"shard": {model: [one_shard(n, model, people, 8) for n in sizes] for model in models}}


PARTS = {"ray": measure_on_ray, "shard": measure_one_process}


def page(results: dict[str, Any]) -> str:
    """Return the measurements as a page."""
    lines = [
        "# Shards on Ray: what they cost",
        "",
        f"`python -m benchmarks.cluster`, {results['machine']}. Milliseconds, medians (95th "
        "percentile). Wall-clock figures hold for this machine with whatever else ran on it.",
        "",
        f"## A click at {ITEMS:,} × {DIMENSIONS}, float32",
        "",
        "Single machine and shards in turns, bounds fresh; every page was compared. The least "
        "disturbed are the fastest tenths of both. Programs that wanted a core when it began: "
        f"{results['load']:.0f}.",
        "",
        "| shards | model | single machine | over shards | median difference | least disturbed |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for shards, models in results["overhead"].items():
        for model, times in models.items():
            alone, far = times["alone"], times["shards"]
            more = float(np.median(np.subtract(far, alone)))
            note = (
                f" ({'within' if more <= MAX_EXTRA_MS else 'beyond'} the bar of {MAX_EXTRA_MS:g})"
            )
            last = f"{more:.1f}{note if int(shards) == 2 else ''}"
            least = np.percentile(far, 10) - np.percentile(alone, 10)
            cells = f"{median_and_p95(alone)} | {median_and_p95(far)} | {last} | {least:.1f}"
            lines.append(f"| {shards} | {model} | {cells} |")
    lines += [
        "",
        "## A question that costs the shards nothing",
        "",
        "| shards | ms |",
        "| --- | --- |",
    ]
    for shards, times in results["fan out"].items():
        lines.append(f"| {shards} | {median_and_p95(times)} |")
    lines += [
        "",
        "## What one shard spends, int8, milliseconds of processor time",
        "",
        "| model | items | page after a click | refresh after it | belief | kept, bytes per item |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for model, sizes in results["shard"].items():
        for one in sizes:
            cells = " | ".join(median_and_p95(one[name]) for name in ("page", "refresh", "belief"))
            memory = f"{one['bytes_per_item']:.1f}"
            lines.append(f"| {model} | {one['items']:,} | {cells} | {memory} |")
    took = ", ".join(f"{seconds:.1f}" for seconds in results["killed"])
    lines += [
        "",
        "## A shard killed",
        "",
        f"Seconds from the kill to the right answer of the click that met it: {took}.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer and smaller")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    parser.add_argument("--only", choices=list(PARTS), help="measure one part, keep the other")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    record = options.out / "cluster.json"
    results = json.loads(record.read_text()) if options.only and record.exists() else {}
    results["machine"] = f"{cores()} cores, {platform.machine()}"
    for part in [options.only] if options.only else PARTS:
        results |= PARTS[part](options.quick)
    pages.write(options.out, "cluster", page(results), results)
    print(page(results))


if __name__ == "__main__":
    main()
