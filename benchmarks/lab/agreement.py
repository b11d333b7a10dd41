"""How much of a search depends on seeing alike: the found rate against what people see otherwise.

    python -P benchmarks/lab/agreement.py clothing.npz runs/agreement agreement.svg

People see a mixture of the system's own views and of foreign senses; the foreign share runs from
none to all. Beside the catalog as it is stand a catalog that also has the label as a view, and a
system that sees exactly what the person sees: no search can be expected to do better than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from seeker.catalog import Catalog
from seeker.lab.baselines import Seeker
from seeker.lab.bench import EYES, Bench, open_bench
from seeker.lab.cli import LabCommand
from seeker.lab.metrics import Estimate, leader_board
from seeker.lab.outcomes import make_outcomes
from seeker.lab.people import SIX, Person
from seeker.lab.perception import Perception, Sense, label_vectors
from seeker.lab.simulate import Experiment

KIN = {"deep": "image", "layout": "colour"}
"""Foreign senses of people, and the system's view that is nearest in kind."""

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
Point = tuple[float, Estimate, Estimate]
"""A foreign share, with the found rate and the mean steps there."""

AS_IS, LABELLED, EXACT = "views as they are", "and the label as a view", "the person's own space"


def mixed_perception(bench: Bench, share: float, noise: float = 0.15) -> Perception:
    """Return people's eyes, a share of which is foreign to the system and the rest its own views.

    The label, which the system's views do not hold, keeps its weight.
    """
    senses = []
    for name, weight in EYES["larger"].items():
        if name not in KIN:
            senses.append(Sense(name, bench.senses[name], weight))
            continue
        own = bench.catalog.views[KIN[name]].vectors
        senses.append(Sense(name, bench.senses[name], weight * share))
        senses.append(Sense(f"the system's {KIN[name]}", own, weight * (1.0 - share)))
    return Perception([sense for sense in senses if sense.weight > 0.0], noise)


def with_label_view(bench: Bench) -> Catalog:
    """Return the catalog with one more view: the label, 0 or 1 apart."""
    views = {name: view.vectors for name, view in bench.catalog.views.items()}
    metrics = {name: view.metric for name, view in bench.catalog.views.items()}
    return Catalog.from_arrays(
        bench.catalog.ids,
        {**views, "label": label_vectors(bench.senses["label"])},
        metric={**metrics, "label": "euclidean"},
    )


def measure(
    bench: Bench,
    out: Path,
    targets: int,
    seed: int = 0,
    shares: Sequence[float] = SHARES,
    people: Sequence[Person] = SIX,
    axes: int | None = None,
    processes: int | None = None,
    pages: int = 15,
) -> dict[str, list[Point]]:
    """Return by kind of system: the foreign share, found rate and mean steps, each with interval.

    axes: keep so many principal axes of the views, to be faster; not of the person's own space.
    """
    small = bench.with_axes(axes) if axes else bench
    points: dict[str, list[Point]] = {}
    for share in shares:
        eyes = mixed_perception(bench, share)
        exact = Catalog.from_arrays(bench.catalog.ids, {"own": eyes.vectors()})
        systems = {AS_IS: small.catalog, LABELLED: with_label_view(small), EXACT: exact}
        for name, catalog in systems.items():
            experiment = Experiment(
                catalog, eyes, {"Seeker": Seeker()}, people, targets, (12,), pages, (seed,)
            )
            rows = experiment.run(out / name.replace(" ", "-"), processes)
            line = leader_board(make_outcomes(rows))[0]
            points.setdefault(name, []).append((share, line.found, line.steps))
            click.echo(f"{name:26s} {share:4.2f} foreign: {line.found}, {line.steps.value:.1f}")
    return points


def figure(curves: dict[str, list[Point]]) -> str:
    """Draw the found rate against the foreign share as SVG, with 95 % intervals."""
    from seeker.lab.figures import COLOURS, new_axes, svg

    whole, axes = new_axes()
    for colour, (name, points) in zip(COLOURS, curves.items(), strict=False):
        shares, found = [point[0] for point in points], [point[1] for point in points]
        low, high = [one.low for one in found], [one.high for one in found]
        axes.fill_between(shares, low, high, color=colour, alpha=0.13, lw=0)
        axes.plot(shares, [one.value for one in found], "o-", color=colour, label=name, lw=1.8)
    axes.set_xlabel("share of what people see that is foreign to the system")
    axes.set_ylabel("found within 15 pages, mean of six people")
    axes.set_ylim(0.0, 1.02)
    return svg(whole, axes)


@click.command(cls=LabCommand)
@click.argument("bench", type=click.Path(exists=True, path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("drawing", type=click.Path(path_type=Path))
@click.option(
    "--share",
    "shares",
    type=click.FloatRange(0.0, 1.0),
    multiple=True,
    default=SHARES,
    show_default=True,
    help="A foreign share of what people see; may be repeated.",
)
@click.option("--targets", type=click.IntRange(1), default=60, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--axes", type=click.IntRange(1), help="Principal axes kept of every view.")
@click.option("--processes", type=click.IntRange(1), help="How many cores to use (default: all).")
def main(
    bench: Path,
    out: Path,
    drawing: Path,
    shares: tuple[float, ...],
    targets: int,
    seed: int,
    axes: int | None,
    processes: int | None,
) -> None:
    """Draw the found rate against how foreign people's eyes are, for a bench file BENCH."""
    curves = measure(
        open_bench(bench), out, targets, seed, sorted(shares), axes=axes, processes=processes
    )
    drawing.write_text(figure(curves) + "\n")
    click.echo(f"Wrote {drawing}.")


if __name__ == "__main__":
    main()
