"""How much alike the items of a page are, in runs of `seeker evaluate`, beside what was found.

    python -P benchmarks/lab/variants.py clothing.npz --axes 64 --method noises --targets 40 \\
        --person "best + worst" --person "one click" --person "dislikes only" --out runs/noises
    python -P benchmarks/lab/likeness.py clothing.npz runs/noises --axes 64

Printed are found; pages, 16 where nothing was found, also as the difference from the default, by
target; and of all pages but the first: which share of the pairs on a page are near-copies, that is
nearer to each other than one in a hundred pairs of the catalog, and how far an item is from the
nearest other one on its page, on average.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from seeker.catalog import Catalog
from seeker.lab.bench import open_bench
from seeker.lab.compare import sign_flip
from seeker.lab.outcomes import Outcomes, make_outcomes
from seeker.lab.results import read_rows
from seeker.models import Choice
from seeker.space import Space
from seeker.types import Doubles, Rows

USUAL = "default"
NEAR_SHARE = 0.01


def space_of(catalog: Catalog) -> Space:
    """Return the space in which the views weigh alike."""
    return Choice().space([*catalog.views.values()])


def near_distance(space: Space, count: int) -> float:
    """Return the distance below which one in a hundred pairs of the catalog are."""
    rng = np.random.default_rng(0)
    rows = rng.choice(count, min(count, 1500), replace=False)
    return float(np.quantile(pair_distances(space, rows), NEAR_SHARE))


def pair_distances(space: Space, rows: Rows) -> Doubles:
    """Return the distances of all pairs, (pairs,)."""
    return space.between(rows, rows)[np.triu_indices(len(rows), 1)]


def likeness(space: Space, page: Rows, near: float) -> tuple[float, float]:
    """Return the share of near-copies among a page's pairs, and the mean nearest distance."""
    between = space.between(page, page)
    copies = between[np.triu_indices(len(page), 1)] < near
    return float(copies.mean()), float(
        (between + np.diag(np.full(len(page), np.inf))).min(1).mean()
    )


def pages_taken(outcomes: Outcomes, method: str, tasks: list[str]) -> Doubles:
    """Return the pages that the searches for each target took, mean over people, (tasks,)."""
    mine = outcomes.of(method)
    pages = np.where(mine.found, mine.steps, mine.claims.shape[1] + 1)
    return np.array([pages[mine.task == task].mean() for task in tasks])


@click.command()
@click.argument("bench", type=click.Path(exists=True, path_type=Path))
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--axes", default=64, show_default=True)
@click.option("--attributes", is_flag=True)
def main(bench: Path, runs: tuple[Path, ...], axes: int, attributes: bool) -> None:
    """Say how much alike the pages of RUNS are, made with the bench file BENCH."""
    catalog = open_bench(bench, attributes=attributes).with_axes(axes).catalog
    space, table = space_of(catalog), read_rows(*runs)
    near = near_distance(space, len(catalog))
    outcomes = make_outcomes(table)
    tasks = sorted(set(outcomes.of(USUAL).task.tolist()))
    usual = pages_taken(outcomes, USUAL, tasks)
    alike: dict[str, list[tuple[float, float]]] = {}
    for row in table.select(["method", "step", "page"]).to_pylist():
        if row["step"] and row["page"]:
            told = likeness(space, np.array(row["page"]), near)
            alike.setdefault(row["method"], []).append(told)
    click.echo(
        f"{len(tasks)} targets, {len(outcomes.people)} kinds of people; near: D < {near:.3f}"
    )
    for method in outcomes.methods:
        pages = pages_taken(outcomes, method, tasks)
        more = pages - usual
        error = more.std(ddof=1) / np.sqrt(len(more))
        copies, nearest = np.array(alike[method]).mean(axis=0)
        click.echo(
            f"{method:<36} found {outcomes.of(method).found.mean():.3f}  pages {pages.mean():.2f} "
            f"({more.mean():+.2f} ± {error:.2f}, p = {sign_flip(more):.3f})  "
            f"near-copies {copies:.3f}  nearest {nearest:.3f}"
        )


if __name__ == "__main__":
    main()
