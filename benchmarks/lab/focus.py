"""What it saves to say what matters: people who go by one thing, and tell which, or do not.

    python -P benchmarks/lab/focus.py clothing.npz runs/focus --axes 256 --targets 60

Three kinds of people, each with one sense of their own: what a larger network sees, where the
colours lie, or the label. The catalog has a view near to each: image, colour, and the label as a
view; with --own, people see these very views. They search as it is, after
focus({view: factor}), or, as the most that could be known, by that view alone (views=[view]); the
pages of the same targets are compared in pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from seeker.catalog import Catalog
from seeker.lab.baselines import Search, Seeker
from seeker.lab.baselines.seeker import SeekerSearch
from seeker.lab.bench import open_bench
from seeker.lab.cli import LabCommand
from seeker.lab.outcomes import Outcomes, make_outcomes
from seeker.lab.people import ALL, SIX, named
from seeker.lab.perception import Perception, Sense, label_vectors
from seeker.lab.simulate import Experiment

SENSES = {"image": "deep", "colour": "layout", "label": "label"}
"""By view of the catalog, the sense of people who go by it."""

FACTORS = (16.0, 1000.0)


@dataclass(frozen=True)
class Focused(Seeker):
    """A session in which it was said first that a view matters."""

    name = "Seeker, focused"
    view: str = ""
    factor: float = 1.0

    def begin(self, catalog: Catalog, page_size: int, seed: int) -> Search:
        search = SeekerSearch(self, catalog, page_size, seed)
        search.session.focus({self.view: self.factor})
        return search


@dataclass(frozen=True)
class Alone(Seeker):
    """A session that has no view but the one that people go by."""

    name = "Seeker, one view"
    view: str = ""

    def begin(self, catalog: Catalog, page_size: int, seed: int) -> Search:
        return SeekerSearch(self, catalog.with_views((self.view,)), page_size, seed)


@click.command(cls=LabCommand)
@click.argument("bench", type=click.Path(exists=True, path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--targets", type=click.IntRange(1), default=60, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--axes", type=click.IntRange(1), help="Principal axes kept of every view.")
@click.option(
    "--factor",
    "factors",
    type=click.FloatRange(0.0),
    multiple=True,
    default=FACTORS,
    show_default=True,
    help="How much more the view matters; may be repeated.",
)
@click.option("--own", is_flag=True, help="People who see the very view, not something near it.")
@click.option("--view", "only", type=click.Choice([*SENSES]), multiple=True, default=[*SENSES])
@click.option(
    "--person",
    "people",
    type=click.Choice([one.name for one in ALL]),
    multiple=True,
    default=[one.name for one in SIX],
)
@click.option("--processes", type=click.IntRange(1), help="How many cores to use (default: all).")
def main(
    bench: Path,
    out: Path,
    targets: int,
    seed: int,
    axes: int | None,
    factors: Sequence[float],
    own: bool,
    only: Sequence[str],
    people: Sequence[str],
    processes: int | None,
) -> None:
    """Say how many pages it saves to say what matters, on a bench file BENCH."""
    opened = open_bench(bench)
    small = opened.with_axes(axes) if axes else opened
    views = {name: view.vectors for name, view in small.catalog.views.items()}
    metrics = {name: view.metric for name, view in small.catalog.views.items()}
    catalog = Catalog.from_arrays(
        small.catalog.ids,
        {**views, "label": label_vectors(small.senses["label"])},
        metric={**metrics, "label": "euclidean"},
    )
    for view in only:
        sense = SENSES[view]
        seen = catalog.views[view].vectors if own else opened.senses[sense]
        eyes = Perception([Sense(view if own else sense, seen)])
        searchers: dict[str, Seeker] = {"as it is": Seeker()}
        for factor in factors:
            searchers[f"factor {factor:g}"] = Focused(view=view, factor=factor)
        searchers["alone"] = Alone(view=view)
        who = tuple(map(named, people))
        experiment = Experiment(catalog, eyes, searchers, who, targets, (12,), 15, (seed,))
        outcomes = make_outcomes(experiment.run(out / view, processes))
        before = _by_search(outcomes, "as it is")
        for name in searchers:
            mine = _by_search(outcomes, name)
            saved = np.array([before[key][1] - mine[key][1] for key in before])
            error = saved.std(ddof=1) / np.sqrt(len(saved))
            found, pages = np.mean(list(mine.values()), axis=0)
            click.echo(
                f"{view:>7}  {name:<12} found {found:.3f}  pages {pages:5.2f}  "
                f"saved {saved.mean():5.2f} ± {error:.2f}"
            )


def _by_search(outcomes: Outcomes, method: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Return by person and task: whether it was found, and on which page."""
    rows = np.flatnonzero(outcomes.method == method)
    return {
        (outcomes.person[row], outcomes.task[row]): (outcomes.found[row], outcomes.steps[row])
        for row in rows
    }


if __name__ == "__main__":
    main()
