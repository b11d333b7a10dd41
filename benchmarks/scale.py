"""How the cost of a click grows with the catalog: from ten thousand to ten million items.

    python -P benchmarks/scale.py [--sizes 10000 100000 1000000 10000000] [--dtype float16]
        [--folder build/scale] [--out docs/benchmarks]

(-P, because a neighbour of this file is called like a package that is needed.) Catalogs are made on
the spot in --folder, in clusters and with a falling spectrum, built by `seeker build`, and used
again if they are there: ten million items need 16 GB on disk while they are built and 7 GB then.
Each size is measured in a process of its own. Everything is reported as a ratio to one reading of
the stored vectors at the memory's speed, in the same run. Writes scale.json, scale.md, scale.svg.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))

import seeker
from benchmarks import datasets, pages
from benchmarks.processes import memory_bytes
from benchmarks.simulated_person import SimulatedPerson
from benchmarks.timing import MemoryReader, seconds
from seeker import Catalog, Session
from seeker.models import Choice, Model, Pairwise

DIMENSIONS = 256
SEARCH_CLICKS = 16
MODELS: dict[str, Model] = {"choice": Choice(), "pairwise, α = 10": Pairwise(alpha=10.0)}
MAX_RATIO, MAX_RATIO_UNREFRESHED = 0.2, 1.2


def build(folder: Path, items: int, dtype: str) -> float | None:
    """Build a catalog unless it is there; return how many seconds it took."""
    if (folder / "catalog.json").exists():
        return None
    folder.parent.mkdir(parents=True, exist_ok=True)
    vectors = folder.with_suffix(".npy")
    if not vectors.exists():
        datasets.write_synthetic(vectors, items, DIMENSIONS)
    took = seconds(lambda: seeker.build(vectors, folder, dtype=dtype))
    vectors.unlink()
    return took


def search(catalog: Catalog, model: Model, seed: int, refreshed: bool, times: Any) -> Session:
    """One search, every page of it timed together with the click that led to it."""
    rng = np.random.default_rng(seed)
    person = SimulatedPerson(catalog, int(rng.integers(len(catalog))))
    session = catalog.session(model=model, seed=seed)
    page = session.page().ids
    for _ in range(SEARCH_CLICKS):
        item, verdict = person.judge(page)
        start = time.perf_counter()
        session.click(item, verdict, page)
        page = session.page().ids
        times["page"].append(time.perf_counter() - start)
        if refreshed:
            times["refresh"].append(seconds(session.refresh))
    return session


def measure(folder: Path, rounds: int) -> dict[str, Any]:
    """Measure one size with all models."""
    catalog = Catalog.open(folder)
    opened = statistics.median(seconds(lambda: Catalog.open(folder)) for _ in range(5))
    view = next(iter(catalog.views.values()))
    first = seconds(lambda: catalog.session(seed=1).page())
    read = MemoryReader(view.vectors)
    read()
    result: dict[str, Any] = {
        "items": len(catalog),
        "dtype": view.dtype,
        "open_ms": 1e3 * opened,
        "first_page_ms": 1e3 * first,
        "models": {},
    }
    limits = []
    for label, model in MODELS.items():
        search(catalog, model, 1, True, {"page": [], "refresh": []})
        rows: dict[str, Any] = {}
        for refreshed in (True, False):
            times: dict[str, list[float]] = {"page": [], "refresh": []}
            for seed in range(2, 2 + rounds):
                limits.append(seconds(read))
                session = search(catalog, model, seed, refreshed, times)
            if refreshed:
                rows["page"], rows["refresh"] = times["page"], times["refresh"]
                rows["bytes"] = session.nbytes
                rows["belief"] = [seconds(lambda: session.belief.entropy)]  # noqa: B023
            else:
                rows["unrefreshed"] = times["page"]
        result["models"][label] = rows
    result["limit_ms"] = 1e3 * statistics.median(limits)
    result["private_mb"] = memory_bytes("Anonymous") / 1e6
    for rows in result["models"].values():
        for what in ("page", "unrefreshed", "refresh", "belief"):
            milliseconds = 1e3 * np.array(rows[what])
            rows[what] = {
                "ms": float(np.median(milliseconds)),
                "median": float(np.median(milliseconds) / result["limit_ms"]),
                "p95": float(np.percentile(milliseconds, 95) / result["limit_ms"]),
                "most": float(milliseconds.max() / result["limit_ms"]),
            }
    return result


def exponent(results: list[dict[str, Any]], label: str, what: str) -> float | None:
    """The power of the number of items that a cost grows with, from 100,000 items on."""
    points = [
        (np.log(one["items"]), np.log(one["models"][label][what]["ms"]))
        for one in results
        if one["items"] >= 100_000
    ]
    if len(points) < 2:
        return None
    sizes, costs = np.array(points).T
    return float(np.polyfit(sizes, costs, 1)[0])


def table(results: list[dict[str, Any]]) -> str:
    """The results as Markdown."""
    lines = [
        "| items | stored as | model | page after a click: median (p95, worst) | never refreshed: "
        "median (p95, worst) | refresh | belief | a session keeps |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in results:
        for label, rows in one["models"].items():
            cells = [
                f"{rows[what]['median']:.2f} ({rows[what]['p95']:.2f}, {rows[what]['most']:.2f})"
                for what in ("page", "unrefreshed")
            ]
            memory = f"{rows['bytes'] / 1e6:,.1f} MB, {rows['bytes'] / one['items']:.1f} B an item"
            lines.append(
                f"| {one['items']:,} | {one['dtype']} | {label} | {' | '.join(cells)} | "
                f"{rows['refresh']['median']:.1f} | {rows['belief']['median']:.1f} | {memory} |"
            )
    lines += [
        "",
        "| items | one reading of the stored vectors | open | first page, cold | built in | "
        "memory of the process itself |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in results:
        built = f"{one['build_s']:,.0f} s" if one.get("build_s") else "–"
        lines.append(
            f"| {one['items']:,} | {one['limit_ms']:.1f} ms = 1 | {one['open_ms']:.1f} ms | "
            f"{one['first_page_ms']:,.0f} ms | {built} | {one['private_mb']:,.0f} MB |"
        )
    lines.append("")
    for label in MODELS:
        for what, words in (("page", "the page"), ("unrefreshed", "the page, never refreshed")):
            power = exponent(results, label, what)
            if power is not None:
                lines.append(f"- {label}: {words} grows with the items to the power {power:.2f}.")
    largest = max(results, key=lambda one: int(one["items"]))
    for label, rows in largest["models"].items():
        for what, bar in (("page", MAX_RATIO), ("unrefreshed", MAX_RATIO_UNREFRESHED)):
            ratio = rows[what]["median" if what == "page" else "most"]
            word = "met" if ratio <= bar else "not met"
            lines.append(
                f"- {largest['items']:,} items, {label}, {what}: {ratio:.2f} (bar {bar}): {word}."
            )
    return "\n".join(lines) + "\n"


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Draw the cost of a click by the number of items."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(6.4, 4.2))
    items = [one["items"] for one in results]
    for label, colour in zip(MODELS, ("tab:orange", "tab:blue"), strict=True):
        for what, style in (("page", "-o"), ("unrefreshed", ":s")):
            times = [one["models"][label][what]["ms"] for one in results]
            words = "page after a click" if what == "page" else "page, never refreshed"
            axis.plot(items, times, style, color=colour, label=f"{label}: {words}", ms=4)
    limits = [one["limit_ms"] for one in results]
    axis.plot(items, limits, "--", color="grey", label="one reading of the vectors")
    axis.set(xscale="log", yscale="log", xlabel="items", ylabel="milliseconds")
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000, 10_000_000]
    )
    parser.add_argument("--dtype", default="float16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("build/scale"))
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(Path(options.child), options.rounds)))
        return
    results = []
    for items in sorted(options.sizes):
        folder = options.folder / f"{items}-{options.dtype}"
        took = build(folder, items, options.dtype)
        command = [sys.executable, "-P", __file__, "--child", str(folder)]
        command += ["--rounds", str(options.rounds)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        results.append({**json.loads(output), "build_s": took})
        print(table(results[-1:]), flush=True)
    about = {"version": seeker.__version__, "machine": platform.machine(), "sizes": results}
    how = (
        "Ratios to one reading of the stored vectors at the memory's speed, in one run of\n"
        f"`python -P benchmarks/scale.py --dtype {options.dtype} --rounds {options.rounds}`.\n\n"
    )
    pages.write(options.out, "scale", how + table(results), about)
    draw(results, options.out / "scale.svg")
    print(table(results))


if __name__ == "__main__":
    main()
