"""The contest in words, a table and a figure."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

OURS = ("Seeker", "choice, after refresh")
OUR_ENGINES = ("Seeker", "Seeker's service")
NOT_PEERS = (*OUR_ENGINES, "one pass over the memory", "numpy")
EXACT_BAR = 10.0
APPROXIMATE_BAR = 2.0

Line = dict[str, Any]
"""One way of one contestant: engine, way, exact, milliseconds, p95, recall, build, megabytes."""


def lines(records: list[dict[str, Any]]) -> list[Line]:
    """Return the table's lines of what one contestant printed."""
    table_lines: list[Line] = []
    name, build, fresh = "", 0.0, 0
    for one in records:
        if "contestant" in one:
            name = one["contestant"]
        elif "seconds" in one:
            build, fresh = build + one["seconds"], len(table_lines)
        elif "bytes" in one:
            for line in table_lines[fresh:]:
                line["megabytes"] = one["bytes"] / 1e6
        elif "way" in one:
            times = 1e3 * np.array(one["times"])
            table_lines.append(
                {
                    "engine": name,
                    "way": one["way"],
                    "exact": one["exact"],
                    "rounds": one["rounds"],
                    "milliseconds": float(np.median(times)),
                    "p95": float(np.percentile(times, 95)),
                    "recall": one["recall"],
                    "build": build,
                    "megabytes": None,
                }
            )
    return table_lines


def passes(records: list[dict[str, Any]]) -> float | None:
    """Return the median milliseconds of one pass over the memory beside a contestant."""
    seen = [seconds for one in records for seconds in one.get("passes", [])]
    return 1e3 * statistics.median(seen) if seen else None


def ours(size: dict[str, Any]) -> float | None:
    """Return the milliseconds of our default, to which all are compared."""
    for line in size["lines"]:
        if (line["engine"], line["way"]) == OURS:
            return float(line["milliseconds"])
    return None


def table(size: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of one size as Markdown."""
    base = ours(size)
    yield "| engine | question | exact | ms (p95) | × Seeker | recall | build, s | MB held |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for line in sorted(size["lines"], key=lambda line: line["milliseconds"]):
        times = f"{_figure(line['milliseconds'])} ({_figure(line['p95'])})"
        ratio = "–" if base is None else _figure(line["milliseconds"] / base)
        recall = "–" if line["recall"] is None else f"{line['recall']:.3f}"
        megabytes = "–" if line["megabytes"] is None else f"{line['megabytes']:,.0f}"
        yield (
            f"| {line['engine']} | {line['way']} | {'yes' if line['exact'] else 'no'} | {times} "
            f"| {ratio} | {recall} | {line['build']:,.1f} | {megabytes} |"
        )
    for name, why in size["missing"].items():
        yield f"\n{name}: {why}."


def verdicts(size: dict[str, Any]) -> Iterator[str]:
    """Yield one sentence per bar."""
    base = ours(size)
    peers = [line for line in size["lines"] if line["engine"] not in NOT_PEERS]
    exact = [line for line in peers if line["exact"]]
    rough = [line for line in peers if not line["exact"]]
    if base and exact:
        best = min(exact, key=lambda line: float(line["milliseconds"]))
        ratio = best["milliseconds"] / base
        word = "reached" if ratio >= EXACT_BAR else "NOT reached"
        yield (
            f"The fastest exact peer, {best['engine']} ({best['way']}), takes {_figure(ratio)} "
            f"times as long as Seeker (bar: {EXACT_BAR:.0f}): {word}."
        )
    judged = [line for line in exact if not line["way"].startswith("average")]
    if base and judged:
        best = min(judged, key=lambda line: float(line["milliseconds"]))
        yield (
            f"The fastest exact peer that is told likes and dislikes one by one, {best['engine']} "
            f"({best['way']}), takes {_figure(best['milliseconds'] / base)} times as long."
        )
    if base and rough:
        best = min(rough, key=lambda line: float(line["milliseconds"]))
        ratio = base / best["milliseconds"]
        word = "reached" if ratio <= APPROXIMATE_BAR else "NOT reached"
        yield (
            f"Seeker takes {_figure(ratio)} times as long as the fastest approximate peer, "
            f"{best['engine']} ({best['way']}; recall {best['recall']:.2f}) "
            f"(bar: at most {APPROXIMATE_BAR:.0f}): {word}."
        )


def page(results: dict[str, Any]) -> str:
    """Return the whole result as a Markdown page."""
    text = [
        "# Seeker and its peers",
        "",
        "Eight likes and eight dislikes → twelve results, in one run on the same vectors, each "
        "engine in a process of its own; medians. Written by `python -P benchmarks/peers.py`; "
        f"{results['cores']} cores, {results['machine']}.",
        "",
        "- **Seeker**: the sixteenth click and the page after it, exact, with exploration. *After "
        "refresh*: while the person looked at the page before, bounds were brought up to date and "
        "the pages that a click on it can lead to were found, as the service does; the click takes "
        "one of them. *Not foreseen*: the same, but one item of the page was not on screen, so "
        "that this page had to be found within the click. *Never refreshed*: nothing was ever done "
        "between clicks. The peers do nothing between clicks, and would have no use for it.",
        "- **Seeker's service**: the same click as a browser makes it, over HTTP to a server that "
        "writes it to disk before it answers with the page. The peers are asked within their "
        "process, without HTTP, except pgvector, which is asked over a socket.",
        "- **averaged vector**: 2 · mean of the likes − mean of the dislikes, and its nearest "
        "neighbours (Qdrant's formula; the engine is asked only for neighbours). *best_score*, "
        "*sum_scores*, *context*: Qdrant's own questions for likes and dislikes. These are simpler "
        "questions than Seeker's: a fixed score, no posterior, no noise.",
        "- **recall**: the share of the twelve that the exact answer to the same question has, "
        "too. For Seeker: the page against the page when every item has been scored. *context* "
        "gives many items the same best score, so its recall says little.",
        "- **build** and **MB held** grow from stage to stage (the graph is built beside the "
        "table). What is held counts the vectors once, where the engine keeps a copy, its copy.",
        "- The range of *one pass* shows how even the machine was: it is measured beside each "
        "engine.",
        "",
    ]
    for size in results["sizes"]:
        seen = [value for value in size["passes"].values() if value is not None]
        text += [
            f"## {size['items']:,} × {size['dimensions']} ({size['source']})",
            "",
            f"One pass over the vectors beside each engine: {min(seen):.1f} to {max(seen):.1f} ms.",
            "",
            *table(size),
            "",
            *(f"- {sentence}" for sentence in verdicts(size)),
            "",
        ]
    text += ["![Milliseconds per round, by engine](peers.svg)", ""]
    return "\n".join(text)


def quickest(size: dict[str, Any]) -> list[Line]:
    """Return the quickest way of every engine, exact and not; of Seeker what a click takes."""
    best: dict[tuple[str, bool], Line] = {}
    for line in size["lines"]:
        mine = line["engine"] == OURS[0]
        if (mine and line["way"] != OURS[1]) or line["way"] == "read only":
            continue
        key = line["engine"], line["exact"]
        if key not in best or line["milliseconds"] < best[key]["milliseconds"]:
            best[key] = line
    return sorted(best.values(), key=lambda line: -line["milliseconds"])


def draw_click(size: dict[str, Any], path: Path) -> None:
    """Draw what a click takes in the service, beside the quickest way of every other engine."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "seeker"
    shown = quickest(size)
    figure, axis = pyplot.subplots(figsize=(7.2, 0.8 + 0.28 * len(shown)))
    names = [f"{line['engine']}{'' if line['exact'] else ' (approximate)'}" for line in shown]
    times = [line["milliseconds"] for line in shown]
    bars = axis.barh(names, times, color=[_colour(line) for line in shown])
    axis.bar_label(bars, [_figure(time) for time in times], padding=3, fontsize=8)
    axis.set(
        xscale="log",
        xlim=(None, 3.0 * max(times)),
        xlabel=f"ms for twelve results of {size['items']:,} × {size['dimensions']}",
    )
    axis.tick_params(axis="y", labelsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw the milliseconds of every way, one panel per size."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "seeker"
    sizes = results["sizes"]
    most = max(len(size["lines"]) for size in sizes)
    figure, axes = pyplot.subplots(
        1, len(sizes), figsize=(7.0 * len(sizes), 1.2 + 0.27 * most), squeeze=False
    )
    for axis, size in zip(axes[0], sizes, strict=True):
        ordered = sorted(size["lines"], key=lambda line: -line["milliseconds"])
        names = [f"{line['engine']}: {line['way']}" for line in ordered]
        axis.barh(
            names,
            [line["milliseconds"] for line in ordered],
            color=[_colour(line) for line in ordered],
        )
        base = ours(size)
        if base is not None:
            axis.axvline(base, color="tab:orange", lw=1)
        axis.set(
            xscale="log",
            xlabel="ms per round (orange: Seeker, blue: exact, grey: approximate)",
            title=f"{size['items']:,} × {size['dimensions']} ({size['source']})",
        )
        axis.tick_params(axis="y", labelsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def _colour(line: Line) -> str:
    if line["engine"] in OUR_ENGINES:
        return "tab:orange"
    return "tab:blue" if line["exact"] else "tab:grey"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
