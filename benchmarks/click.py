"""What a click costs, beside the paper's algorithm, one numpy pass and the memory's speed.

    python -P benchmarks/click.py [--quick] [--out docs/benchmarks]

(-P, because this file is called like a package that is needed.) Times on a shared machine mean
little by themselves, so everything is measured side by side in one run and reported as a ratio to
one reading of the catalog's float32 vectors at the speed of the memory. Writes click.json, click.md
and click.svg.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))

import seeker
from benchmarks import datasets, pages
from benchmarks.simulated_person import SimulatedPerson
from benchmarks.timing import MemoryReader, seconds
from seeker import Catalog, Session
from seeker.kernels.parallel import cores
from seeker.models import Choice, Model, Pairwise

PASS_ROUNDS = 9
"""How often a pass is timed; the median counts."""

ONE_CORE_BYTES = 30_000_000
"""One core reads fewer sooner than several do."""

STEPS = (1, 2, 4, 8, 16)
SIZES = {
    "paper": (2_228, (2_048,)),
    "hundred thousand": (100_000, (512,)),
    "million": (1_000_000, (256,)),
    "million, two views": (1_000_000, (256, 64)),
}
MODELS: dict[str, Model] = {
    "pairwise, α = 10": Pairwise(alpha=10.0),
    "pairwise, α = 1": Pairwise(alpha=1.0),
    "choice": Choice(),
}
COLOURS = dict(zip(MODELS, ("tab:blue", "tab:cyan", "tab:orange"), strict=True))
MAX_RATIOS = {
    ("million", "pairwise, α = 10", "page"): 0.15,
    ("million", "pairwise, α = 1", "page"): 0.15,
    ("million", "choice", "page"): 0.6,
    ("million", "pairwise, α = 10", "belief"): 1.5,
    ("million", "pairwise, α = 1", "belief"): 1.5,
    ("million", "choice", "belief"): 4.0,
}

Times = dict[str, Any]
"""By what was timed, a list of seconds; later their ratios to one pass."""


def numpy_pass(catalog: Catalog) -> float:
    """Seconds for X @ q."""
    x = next(iter(catalog.views.values())).vectors
    q = np.ones(x.shape[1], np.float32)
    return statistics.median(seconds(lambda: x @ q) for _ in range(PASS_ROUNDS))


def algorithm_1(catalog: Catalog, likes: int, dislikes: int) -> float:
    """Seconds for the paper's Algorithm 1: for every pair, log P(s_ij | t) for all t, in numpy."""
    x = next(iter(catalog.views.values())).vectors.astype(np.float64)

    def scores() -> None:
        total = np.zeros(len(x))
        for i in range(likes):
            for j in range(likes, likes + dislikes):
                far = ((x - x[j]) ** 2).sum(axis=1)
                near = ((x - x[i]) ** 2).sum(axis=1)
                total += -np.log1p(np.exp(-np.clip(far - near, -700, 700)))

    return seconds(scores)


def search(
    catalog: Catalog, model: Model, target: int, times: Times, measure_limit: Callable[[], None]
) -> None:
    """One search of 30 clicks, timed; measure_limit: reads the memory beside it."""
    session = catalog.session(model=model, seed=target)
    person = SimulatedPerson(catalog, target)
    for step in range(1, 31):
        page = session.page().ids
        item, verdict = person.judge(page)
        session.click(item, verdict, page)
        if step in STEPS:
            measure_limit()
            times.setdefault(f"page {step}", []).append(seconds(session.page))
            replayed = Session.replay(catalog, session.events[:-1])
            replayed.refresh()
            replayed.click(item, verdict, page)
            times.setdefault(f"belief {step}", []).append(seconds(lambda: replayed.belief))  # noqa: B023
            replayed.undo()
            times.setdefault(f"undo {step}", []).append(seconds(replayed.page))
            del replayed
        session.refresh()
    if session.nbytes > times.setdefault("bytes", [0.0])[0]:
        times["bytes"] = [float(session.nbytes)]
    events = session.events
    times.setdefault("replay 30", []).append(
        seconds(lambda: Session.replay(catalog, events).page())
    )


def measure(name: str, rounds: int) -> dict[str, Any]:
    """Measure one size with all its models."""
    items, dimensions = SIZES[name]
    catalog = Catalog.from_arrays(
        [str(n) for n in range(items)],
        {f"view {n}": datasets.synthetic(items, d, n) for n, d in enumerate(dimensions)},
    )
    models = MODELS if len(dimensions) == 1 else {"choice": MODELS["choice"]}
    result: dict[str, Any] = {"items": items, "dimensions": dimensions, "models": {}}
    arrays = [view.vectors for view in catalog.views.values()]
    read = MemoryReader(
        *arrays, cores=1 if sum(x.nbytes for x in arrays) < ONE_CORE_BYTES else None
    )
    read()
    limits = [statistics.median(seconds(read) for _ in range(PASS_ROUNDS))]
    result["numpy"] = numpy_pass(catalog) / limits[0]
    for label, model in models.items():
        search(catalog, model, 1, {}, read)  # warm up: compile, touch the memory
        times: Times = {}
        for target in range(2, 2 + rounds):
            search(catalog, model, target * 13, times, lambda: limits.append(seconds(read)))
            print(f"  {name}, {label}: search {target - 1} of {rounds}", flush=True)
        result["models"][label] = times
    limit = statistics.median(limits)
    result["limit_ms"] = 1e3 * limit
    if name == "paper":
        slow = statistics.median(algorithm_1(catalog, 10, 10) for _ in range(3))
        result["algorithm 1"] = slow / limit
    for times in result["models"].values():
        times["megabytes"] = times.pop("bytes")[0] / 1e6
        for key, values in list(times.items()):
            if isinstance(values, list):
                ratios = np.array(values) / limit
                times[key] = {
                    "median": float(np.median(ratios)),
                    "p95": float(np.percentile(ratios, 95)),
                }
    return result


def shape_of(result: dict[str, Any]) -> str:
    """Items × dimensions of each view, to be read."""
    return f"{result['items']:,} × {' + '.join(map(str, result['dimensions']))}"


def table(results: dict[str, Any]) -> str:
    """The results as Markdown."""
    lines = [
        "| size | model | what | " + " | ".join(f"step {step}" for step in STEPS) + " |",
        "| --- | --- | --- |" + " --- |" * len(STEPS),
    ]
    for result in results["sizes"].values():
        shape = shape_of(result)
        for label, times in result["models"].items():
            for what in ("page", "belief", "undo"):
                cells = [f"{times[f'{what} {step}']['median']:.2f}" for step in STEPS]
                lines.append(f"| {shape} | {label} | {what} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "| size | model | replay of 30 clicks | memory of the session |",
        "| --- | --- | --- | --- |",
    ]
    for result in results["sizes"].values():
        shape = shape_of(result)
        for label, times in result["models"].items():
            lines.append(
                f"| {shape} | {label} | {times['replay 30']['median']:.1f} | "
                f"{times['megabytes']:.1f} MB |"
            )
    lines += [
        "",
        "| size | one pass at the memory's speed | numpy `X @ q` | Algorithm 1, 10 × 10 |",
        "| --- | --- | --- | --- |",
    ]
    for result in results["sizes"].values():
        shape = shape_of(result)
        slow = f"{result['algorithm 1']:,.0f}" if "algorithm 1" in result else "–"
        lines.append(
            f"| {shape} | {result['limit_ms']:.1f} ms = 1 | {result['numpy']:.1f} | {slow} |"
        )
    return "\n".join(lines) + "\n"


def verdicts(results: dict[str, Any]) -> list[str]:
    """One sentence per bar."""
    sentences = []
    for (name, label, what), bar in MAX_RATIOS.items():
        if name not in results["sizes"]:
            continue
        times = results["sizes"][name]["models"][label]
        steps = [step for step in STEPS if step >= 4]
        worst = max(times[f"{what} {step}"]["median"] for step in steps)
        word = "met" if worst <= bar else "NOT met"
        sentences.append(f"{what}, {label}, {name}: {worst:.2f} (bar {bar:.2f}): {word}")
    if "paper" in results["sizes"]:
        paper = results["sizes"]["paper"]
        for label, times in paper["models"].items():
            ratio = paper["algorithm 1"] / times["page 16"]["median"]
            word = "met" if ratio >= 50 else "NOT met"
            sentences.append(
                f"page, {label}, paper's size: 1/{ratio:.0f} of Algorithm 1 (bar 1/50): {word}"
            )
    return sentences


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw the cost of a click by step."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    sizes = results["sizes"]
    figure, axes = pyplot.subplots(1, len(sizes), figsize=(3.6 * len(sizes), 3.8), sharey=True)
    for axis, result in zip(np.atleast_1d(axes), sizes.values(), strict=True):
        for label, times in result["models"].items():
            colour = COLOURS[label]
            for what, style in (("page", "-o"), ("belief", "--s")):
                ratios = [times[f"{what} {step}"]["median"] for step in STEPS]
                axis.plot(STEPS, ratios, style, color=colour, label=f"{label}: {what}", ms=4)
        axis.axhline(1.0, color="grey", lw=1)
        axis.text(STEPS[0], 1.05, "one pass at memory speed", fontsize=7, color="grey")
        axis.set(xscale="log", yscale="log", title=shape_of(result), xlabel="step")
        axis.set_xticks(STEPS, [str(step) for step in STEPS])
        axis.minorticks_off()
    np.atleast_1d(axes)[0].set_ylabel("cost of a click (1 = one pass)")
    np.atleast_1d(axes)[-1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="only the two smaller sizes, one round"
    )
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    options = parser.parse_args()
    sizes = ["paper", "hundred thousand"] if options.quick else options.sizes
    results: dict[str, Any] = {
        "version": seeker.__version__,
        "cores": cores(),
        "machine": platform.machine(),
        "sizes": {},
    }
    for name in sizes:
        results["sizes"][name] = measure(name, 1 if options.quick else options.rounds)
    print(table(results))
    print("\n".join(verdicts(results)))
    about = (
        "Ratios to one reading of the float32 vectors at the memory's speed, medians, measured by\n"
        "`make bench` in one run.\n\n"
    )
    pages.write(options.out, "click", about + table(results), results)
    draw(results, options.out / "click.svg")


if __name__ == "__main__":
    main()
