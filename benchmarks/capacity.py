"""What large catalogs need, from what was measured of shards: a model, checked and simulated.

    python -m benchmarks.capacity       # prints tables in Markdown
    make reference                      # after benchmarks.cluster: puts them into their page

A click over S shards takes the way to the shards and back, and as long as the slowest of them.
The way is a straight line in S, a shard's work a straight line in its items; both lines go through
the measured medians. Tails are drawn from the measured times themselves.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MEASURED = Path(__file__).parent.parent / "docs/benchmarks/cluster.json"
DIMENSIONS = 256
PER_CORE_HOUR = 0.04
"""What a core costs for an hour, in any currency; rented machines are around this."""

PER_SESSION = {"choice": 9, "pairwise": 12}
"""Bytes that a shard keeps per item and session: a bound, and one byte for each of five noises;
or a sum and a bound."""

DRAWS = 20_000


@dataclass(frozen=True)
class Line:
    """A straight line through medians, and how times scatter around them (ratios)."""

    start: float
    slope: float
    ratios: Sequence[float]

    @classmethod
    def through(cls, points: Sequence[tuple[float, Sequence[float]]]) -> Line:
        """Fit a line so that the relative errors at the medians are least."""
        x = np.array([one for one, _ in points], np.float64)
        y = np.array([np.median(times) for _, times in points])
        design = np.column_stack([np.ones_like(x), x]) / y[:, None]
        (start, slope), *_ = np.linalg.lstsq(design, np.ones_like(y), rcond=None)
        ratios = [time / np.median(times) for _, times in points for time in times]
        return cls(float(max(start, 0.0)), float(slope), ratios)

    def at(self, x: float) -> float:
        """Return the height of the line."""
        return self.start + self.slope * x


@dataclass(frozen=True)
class Model:
    """A model's lines in milliseconds: the way (of shards), page and later work (of items)."""

    way: Line
    page: Line
    later: Line

    @classmethod
    def of(cls, results: dict[str, Any], name: str) -> Model:
        """Fit the lines to what was measured."""
        sizes = results["shard"][name]
        later = [np.add(one["refresh"], one["belief"]).tolist() for one in sizes]
        items = [one["items"] for one in sizes]
        return cls(
            Line.through([(int(shards), times) for shards, times in results["fan out"].items()]),
            Line.through([(one["items"], one["page"]) for one in sizes]),
            Line.through(list(zip(items, later, strict=True))),
        )

    def clicks(self, items: int, shards: int, seed: int = 0) -> np.ndarray[Any, Any]:
        """Simulate the times of clicks, milliseconds, (draws,): the slowest shard counts."""
        rng = np.random.default_rng(seed)
        way = self.way.at(shards) * rng.choice(self.way.ratios, DRAWS)
        slowest = np.zeros(DRAWS)
        for _ in range(shards):
            np.maximum(slowest, rng.choice(self.page.ratios, DRAWS), out=slowest)
        return np.asarray(way + self.page.at(items / shards) * slowest)

    def seconds_per_click(self, items: int, shards: int) -> float:
        """Return the processor time of all shards for a click and the work after it, seconds."""
        each = items / shards
        return shards * (self.page.at(each) + self.later.at(each)) / 1000.0


def fits(results: dict[str, Any]) -> list[str]:
    """Say what the lines are."""
    lines = [
        "| | way(S), ms | page(n), ms of processor time | after(n), ms of processor time |",
        "| --- | --- | --- | --- |",
    ]
    for name in ("choice", "pairwise"):
        model = Model.of(results, name)
        way, page, later = model.way, model.page, model.later
        lines.append(
            f"| {name} | {way.start:.1f} + {way.slope:.1f} S | "
            f"{page.start:.1f} + {1e6 * page.slope:.1f} per million items | "
            f"{later.start:.0f} + {1e6 * later.slope:.0f} per million items |"
        )
    return lines


def check(results: dict[str, Any]) -> list[str]:
    """Compare the model with clicks over shards, which it was not fitted to."""
    lines = [
        "| shards | model | predicted | measured, least disturbed | measured, median |",
        "| --- | --- | --- | --- | --- |",
    ]
    for shards, by_model in results["overhead"].items():
        for name, times in by_model.items():
            model = Model.of(results, name)
            prediction = model.way.at(int(shards)) + model.page.at(100_000 / int(shards))
            least, median = np.percentile(times["shards"], [10, 50])
            lines.append(f"| {shards} | {name} | {prediction:.1f} | {least:.1f} | {median:.1f} |")
    return lines


def requirements(results: dict[str, Any]) -> list[str]:
    """Say what large catalogs need."""
    lines = [
        "| items | shards | model | vectors per shard | 50 sessions per shard | p50 | p95 | "
        "processor time per click | per 1,000 clicks |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for items, shards in ((10**7, 2), (10**8, 8), (10**8, 32), (10**9, 64), (10**9, 256)):
        each = items / shards
        for name in ("choice", "pairwise"):
            model = Model.of(results, name)
            times, spent = model.clicks(items, shards), model.seconds_per_click(items, shards)
            lines.append(
                f"| {items:,} | {shards} | {name} | {each * (DIMENSIONS + 4) / 1e9:.1f} GB | "
                f"{50 * each * PER_SESSION[name] / 1e9:.1f} GB | {np.median(times):.0f} ms | "
                f"{np.percentile(times, 95):.0f} ms | {spent:.2f} s | "
                f"{1000 * spent / 3600 * PER_CORE_HOUR:.3f} |"
            )
    return lines


def tables() -> list[list[str]]:
    """Return the tables of the page about capacity, each in lines."""
    results = json.loads(MEASURED.read_text())
    return [fits(results), check(results), requirements(results)]


def main() -> None:
    """Print the tables."""
    print("\n\n".join("\n".join(table) for table in tables()))


if __name__ == "__main__":
    main()
