"""Figures as SVG: recall, progress, calibration, steps to a rank."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from seeker.lab.metrics import Estimate, calibration, steps_to
from seeker.lab.outcomes import Outcomes
from seeker.types import Doubles

INK, PAPER_GREY = "#1d2433", "#d9dee7"
COLOURS = (
    "#d1495b",
    "#2a6f97",
    "#edae49",
    "#3c896d",
    "#7b5ea7",
    "#8d6b4f",
    "#5f7a99",
    "#b56b9f",
    "#6b8f3a",
    "#444b59",
)
_BOOTSTRAP_DRAWS = 400
_MIN_BIN_PAGES = 20
"""Bins with fewer pages say too little to be drawn; they do count in the error."""


def recall_figure(outcomes: Outcomes, methods: Sequence[str]) -> str:
    """Draw recall@ρ up to 0.1 with 95 % bands."""
    rhos = np.linspace(0.0, 0.1, 101)[1:]
    figure, axes = new_axes()
    for colour, method in zip(_colours(methods), methods, strict=True):
        reached = (outcomes.of(method).best[:, None] <= rhos).astype(np.float64)
        _plot_mean(axes, rhos, reached, method, colour)
    axes.set_xlabel("normalised rank ρ")
    axes.set_ylabel("recall @ρ")
    axes.set_xlim(0.0, 0.1)
    axes.set_ylim(0.0, 1.02)
    return svg(figure, axes)


def steps_figure(outcomes: Outcomes, methods: Sequence[str]) -> str:
    """Draw the mean number of steps until the target is ranked better than ρ, with bands."""
    rhos = np.linspace(0.0, 0.1, 41)[1:]
    figure, axes = new_axes()
    for colour, method in zip(_colours(methods), methods, strict=True):
        mine = outcomes.of(method)
        steps = np.stack([steps_to(mine, float(rho)) for rho in rhos], axis=1)
        _plot_mean(axes, rhos, steps, method, colour)
    axes.set_xlabel("normalised rank ρ")
    axes.set_ylabel("mean steps until ranked better")
    axes.set_xlim(0.0, 0.1)
    axes.set_ylim(0.0, None)
    return svg(figure, axes)


def progress_figure(outcomes: Outcomes, methods: Sequence[str]) -> str:
    """Draw the share of targets found by every page, with bands."""
    figure, axes = new_axes()
    pages = np.arange(1, outcomes.hits.shape[1] + 1)
    for colour, method in zip(_colours(methods), methods, strict=True):
        mine = outcomes.of(method)
        found = (mine.found[:, None] & (mine.steps[:, None] <= pages)).astype(np.float64)
        _plot_mean(axes, pages, found, method, colour)
    axes.set_xlabel("page")
    axes.set_ylabel("found by then")
    axes.set_xlim(1, pages[-1])
    axes.set_ylim(0.0, 1.02)
    return svg(figure, axes)


def rank_figure(outcomes: Outcomes, methods: Sequence[str]) -> str:
    """Draw the median normalised rank of the target page by page."""
    figure, axes = new_axes()
    for colour, method in zip(_colours(methods), methods, strict=True):
        ranks = outcomes.of(method).ranks
        steps = np.arange(ranks.shape[1])
        axes.plot(steps, np.median(ranks, axis=0), color=colour, label=method, lw=1.8)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(lambda value, _: "")
    axes.set_xlabel("pages judged")
    axes.set_ylabel("median normalised rank")
    axes.set_xlim(0, outcomes.ranks.shape[1] - 1)
    return svg(figure, axes)


def calibration_figure(outcomes: Outcomes, methods: Sequence[str]) -> str:
    """Draw how often the target was on the page against how probable that was held."""
    figure, axes = new_axes(width=4.6)
    axes.plot([0, 1], [0, 1], color=PAPER_GREY, lw=1.2, zorder=0)
    for colour, method in zip(_colours(methods), methods, strict=True):
        bins, error = calibration(outcomes.of(method))
        bins = [one for one in bins if one.pages >= _MIN_BIN_PAGES]
        if not bins:
            continue
        claimed = [one.claimed for one in bins]
        happened = np.array([one.happened for one in bins])
        reach = np.array([[one.happened - one.low, one.high - one.happened] for one in bins]).T
        axes.errorbar(
            claimed,
            happened,
            np.maximum(reach, 0.0),
            color=colour,
            label=f"{method}, error {error:.3f}",
            lw=1.5,
            elinewidth=0.9,
            marker="o",
            ms=4,
        )
    axes.set_xlabel("claimed: probability that the target is on this page")
    axes.set_ylabel("happened")
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    return svg(figure, axes, below=True)


def learning_figure(
    points: Mapping[str, Sequence[tuple[int, Estimate]]],
    along: str = "past searches, for other things",
) -> str:
    """Draw found rates against past searches, with 95 % intervals; a curve for every name."""
    figure, axes = new_axes()
    places = sorted({count for curve in points.values() for count, _ in curve})
    for colour, (name, curve) in zip(_colours([*points]), points.items(), strict=True):
        x = [places.index(count) for count, _ in curve]
        found = [one.value for _, one in curve]
        reach = [
            [one.value - one.low for _, one in curve],
            [one.high - one.value for _, one in curve],
        ]
        axes.errorbar(
            x, found, reach, color=colour, label=name, lw=1.8, elinewidth=0.9, marker="o", ms=4
        )
    axes.set_xticks(range(len(places)), [f"{count:,}" for count in places])
    axes.set_xlabel(along)
    axes.set_ylabel("found")
    axes.set_ylim(None, 1.0)
    return svg(figure, axes)


FIGURES: dict[str, Callable[[Outcomes, Sequence[str]], str]] = {
    "recall": recall_figure,
    "steps": steps_figure,
    "progress": progress_figure,
    "rank": rank_figure,
    "calibration": calibration_figure,
}


def new_axes(width: float = 6.4) -> tuple[Any, Any]:
    """Return an empty figure and its axes, in the style of all figures."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 3.9), layout="constrained")
    axes = figure.add_subplot()
    style_axes(axes)
    return figure, axes


def style_axes(axes: Any) -> None:
    """Give axes the style of all figures."""
    axes.spines[["top", "right"]].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#9aa3b2")
    axes.tick_params(colors="#4a5364", labelsize=9)
    axes.grid(axis="y", color=PAPER_GREY, lw=0.7)
    axes.set_axisbelow(True)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)


def svg(figure: Any, axes: Any, below: bool = False) -> str:
    """Return the figure as SVG text that is the same every time."""
    from matplotlib import rc_context

    handles, labels = axes.get_legend_handles_labels()
    style: dict[str, Any] = {"frameon": False, "fontsize": 8.5, "labelcolor": INK}
    where = "outside lower center" if below else "outside right upper"
    if handles:
        figure.legend(handles, labels, loc=where, **style)
    with rc_context(
        {"svg.hashsalt": "seeker", "svg.fonttype": "none", "font.family": "sans-serif"}
    ):
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :]


def _plot_mean(axes: Any, x: Doubles, values: Doubles, label: str, colour: str) -> None:
    """Draw means of values, (searches, x), with a 95 % bootstrap band."""
    rng = np.random.default_rng(0)
    picks = rng.integers(len(values), size=(_BOOTSTRAP_DRAWS, len(values)))
    weights = np.stack([np.bincount(pick, minlength=len(values)) for pick in picks])
    low, high = np.quantile(weights @ values / len(values), [0.025, 0.975], axis=0)
    axes.fill_between(x, low, high, color=colour, alpha=0.13, lw=0)
    axes.plot(x, values.mean(axis=0), color=colour, label=label, lw=1.8)


def _colours(methods: Sequence[str]) -> list[str]:
    return [COLOURS[place % len(COLOURS)] for place in range(len(methods))]
