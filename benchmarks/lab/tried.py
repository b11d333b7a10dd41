"""What was tried: every variant of a search, the rivals and the ceiling in one figure.

    python -P benchmarks/lab/tried.py docs/lab/tried.csv docs/lab/tried.svg

The table holds one line per way of searching. It grows from runs of `seeker evaluate`, each of
whose methods becomes a line, in place of one of the same name:

    python -P benchmarks/lab/tried.py tried.csv tried.svg runs/variants --kind variant
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import click
import numpy as np

from seeker.errors import BadInput
from seeker.lab.cli import LabCommand
from seeker.lab.metrics import Estimate, leader_board, mean_over_people
from seeker.lab.outcomes import Outcomes, make_outcomes
from seeker.lab.people import BestAndWorst
from seeker.lab.results import read_rows

KINDS = {
    "rival": "#6b7484",
    "variant": "#2a6f97",
    "default": "#d1495b",
    "ceiling": "#3c896d",
}
"""What a line is about, and its colour: a rival, our default, one change of it, a ceiling."""

BARS = {"found": 0.95, "steps": 5.0}
"""The marks that were set: found by six kinds of people, and pages with best + worst."""


@dataclass(frozen=True)
class MethodResult:
    """One way of searching and how it did.

    found: the share of targets found, mean of six kinds of people. steps: the mean pages of the
    person who likes the best and dislikes the worst of every page. low, high: 95 % intervals over
    targets. where: "engine", or "scratch" for a simulation of the same formulas over full tables
    of distances. targets: how many each person looked for.
    """

    kind: str
    where: str
    name: str
    targets: int
    found: float
    found_low: float
    found_high: float
    steps: float
    steps_low: float
    steps_high: float


def summarize(outcomes: Outcomes, kind: str) -> list[MethodResult]:
    """Return one line for every method of some runs."""
    lines = []
    for line in leader_board(outcomes):
        both = outcomes.of(line.method, BestAndWorst.name)
        if not len(both):
            raise BadInput(
                f"The run of '{line.method}' has no search by '{BestAndWorst.name}'.",
                "Evaluate it with all six people, which is what `seeker evaluate` does.",
            )
        steps = mean_over_people(both, both.steps.astype(np.float64))
        numbers = [round(number, 4) for number in (*_numbers(line.found), *_numbers(steps))]
        lines.append(MethodResult(kind, "engine", line.method, len(both), *numbers))
    return lines


def read_table(table: Path) -> list[MethodResult]:
    """Read a table of what was tried."""
    names = [field.name for field in fields(MethodResult)]
    with table.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames != names:
            raise BadInput(f"The table '{table}' must have the columns {', '.join(names)}.")
        try:
            return [_parse_line(row) for row in rows]
        except (TypeError, ValueError):
            raise BadInput(
                f"Line {rows.line_num} of the table '{table}' is not whole.",
                f"The kinds are {', '.join(KINDS)}; all but the first three columns are numbers.",
            ) from None


def write_table(table: Path, lines: Sequence[MethodResult]) -> None:
    """Write a table of what was tried."""
    with table.open("w", newline="", encoding="utf-8") as file:
        rows = csv.DictWriter(
            file, [field.name for field in fields(MethodResult)], lineterminator="\n"
        )
        rows.writeheader()
        rows.writerows(asdict(line) for line in lines)


def merge(old: Sequence[MethodResult], new: Sequence[MethodResult]) -> list[MethodResult]:
    """Return all lines, a new one in the place of an old one of the same name and origin."""
    by_name = {(line.where, line.name): line for line in (*old, *new)}
    return list(by_name.values())


def figure(lines: Sequence[MethodResult]) -> str:
    """Draw found rate and pages of all lines as SVG, best found at the top, with intervals."""
    from matplotlib.figure import Figure

    from seeker.lab.figures import INK, PAPER_GREY, style_axes, svg

    ordered = sorted(lines, key=lambda line: (line.found, -line.steps, line.name))
    whole = Figure(figsize=(9.2, 2.4 + 0.19 * len(ordered)), layout="constrained")
    panels = whole.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    for axes, measure in zip(panels, BARS, strict=True):
        axes.axvline(BARS[measure], color=INK, lw=1.1, ls=(0, (4, 3)))
        style = {"fontsize": 8.5, "color": INK, "ha": "center", "va": "bottom"}
        axes.text(BARS[measure], len(ordered) - 0.3, f"the mark, {BARS[measure]:g}", **style)
        style_axes(axes)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x", color=PAPER_GREY, lw=0.4)
        axes.tick_params(length=0)
        for place, line in enumerate(ordered):
            _mark(axes, place, line, measure)
    left, right = panels
    left.set_yticks(range(len(ordered)), [line.name for line in ordered])
    for label, line in zip(left.get_yticklabels(), ordered, strict=True):
        label.set_color(KINDS[line.kind])
    left.set_ylim(-0.7, len(ordered) - 0.3)
    left.set_xlim(None, 1.02)
    left.set_xlabel("found within 15 pages, mean of six people")
    right.set_xlabel("mean pages, best + worst")
    for name, look in _legend().items():
        left.plot([], [], "o", label=name, **look)
    return svg(whole, left, below=True)


def _legend() -> dict[str, dict[str, Any]]:
    words = {
        "rival": "rival",
        "variant": "one change of Seeker",
        "default": "Seeker",
        "ceiling": "Seeker that knows more of what the person sees",
    }
    looks: dict[str, dict[str, Any]] = {words[kind]: {"color": KINDS[kind]} for kind in KINDS}
    return looks | {"hollow: in a scratch simulation": {"color": "#4a5364", "mfc": "white"}}


def _mark(axes: Any, place: int, line: MethodResult, measure: str) -> None:
    """Draw one value with its interval; hollow where it is not of the engine."""
    colour = KINDS[line.kind]
    value, low, high = (getattr(line, measure + end) for end in ("", "_low", "_high"))
    axes.plot([low, high], [place, place], color=colour, lw=1.3, solid_capstyle="round")
    face = colour if line.where == "engine" else "white"
    axes.plot([value], [place], "o", color=colour, ms=5, mfc=face)


def _numbers(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


def _parse_line(row: dict[str, str]) -> MethodResult:
    if row["kind"] not in KINDS or row["where"] not in ("engine", "scratch"):
        raise ValueError
    numbers = [float(row[field.name]) for field in fields(MethodResult)[4:]]
    return MethodResult(row["kind"], row["where"], row["name"], int(row["targets"]), *numbers)


@click.command(cls=LabCommand)
@click.argument("table", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("drawing", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("runs", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--kind", type=click.Choice(list(KINDS)), default="variant", show_default=True)
@click.option("--name", help="The line's name, where the runs are of one method.")
def main(table: Path, drawing: Path, runs: tuple[Path, ...], kind: str, name: str | None) -> None:
    """Draw what is in TABLE to DRAWING, after the lines of RUNS were added to it."""
    lines = read_table(table) if table.exists() else []
    if runs:
        new = summarize(make_outcomes(read_rows(*runs)), kind)
        if name is not None:
            if len(new) != 1:
                raise click.UsageError("--name is for runs of one method.")
            new = [MethodResult(**{**asdict(new[0]), "name": name})]
        lines = merge(lines, new)
        write_table(table, lines)
    drawing.write_text(figure(lines) + "\n", encoding="utf-8")
    click.echo(f"Wrote {drawing}: {len(lines)} ways of searching.")


if __name__ == "__main__":
    main()
