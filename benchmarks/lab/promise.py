"""Is it true what the page says of how far a search is? 'It may come within three pages'.

    python -P benchmarks/lab/promise.py clothing.npz --axes 96 --targets 40 --eyes larger

Simulated people search. For each thing that the page can say stands how often the target did come
within three pages, and the mean probability that it was on the page just then.
"""

from __future__ import annotations

import math
from pathlib import Path

import click
import numpy as np
from tqdm import tqdm

from seeker.lab.baselines import Seeker
from seeker.lab.bench import open_bench
from seeker.lab.cli import LabCommand
from seeker.lab.people import SIX
from seeker.lab.simulate import Task, draw_targets, simulate_search

PAGES = 3
SAID = {"still looking": 0.0, "getting closer": 0.12, "probably on this page": 0.5}
"""What the page says, and from which probability on: as in `web/components/belief.js`."""


@click.command(cls=LabCommand)
@click.argument("bench", type=click.Path(exists=True, path_type=Path))
@click.option("--targets", type=click.IntRange(1), default=40, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--axes", type=click.IntRange(1), help="Principal axes kept of every view.")
@click.option("--eyes", default="larger", show_default=True, help="What people see with.")
def main(bench: Path, targets: int, seed: int, axes: int | None, eyes: str) -> None:
    """Say how often it came as soon as the page says, on a bench file BENCH."""
    opened = open_bench(bench)
    small = opened.with_axes(axes) if axes else opened
    perception = opened.perception(eyes)
    searcher, came = Seeker(), dict[str, list[bool]]()
    claims: dict[str, list[float]] = {}
    for row in tqdm(draw_targets(len(small.catalog), targets, seed).tolist(), unit=" targets"):
        for person in SIX:
            task = Task(row, seed * 1_000_003 + row)
            steps = simulate_search(small.catalog, perception, person, searcher, task)
            found = next((step.step for step in steps if step.on_page), math.inf)
            # Before the first click nothing is said, and the last pages have too few after them.
            for step in steps[1 : task.pages - PAGES + 1]:
                if step.page:
                    said = [name for name, least in SAID.items() if step.claimed >= least][-1]
                    came.setdefault(said, []).append(found < step.step + PAGES)
                    claims.setdefault(said, []).append(step.claimed)
    click.echo(f"{eyes}: {len(small.catalog):,} items, {targets} targets, six people")
    for name in SAID:
        if name in came:
            share, count = float(np.mean(came[name])), len(came[name])
            error = math.sqrt(share * (1.0 - share) / count)
            click.echo(
                f"{name:>22}  on the page {np.mean(claims[name]):.2f}  came within {PAGES} pages "
                f"{share:.2f} ± {error:.2f} of {count}"
            )


if __name__ == "__main__":
    main()
