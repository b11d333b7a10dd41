"""Noise that knows that items are alike, beside noise of each item's own.

    python -P benchmarks/lab/likeness.py clothing.npz --axes 64 --targets 40 --seed 302

Beside its own Gumbel noise, C γ, every item gets A u(t): u is the projection of its vectors on one
random direction per view, search and step, so that items that are alike get nearly the same. Its
unit is the spread of u over the catalog, so that it fades among items that lie together; or its
spread under the belief, so that it does not. Printed are found, pages (16 where nothing was found),
and how many of the 66 pairs on a page are nearer than a quarter of the mean distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
import numpy as np
from tqdm import tqdm

from seeker.catalog import Catalog
from seeker.display import Boltzmann
from seeker.lab.baselines import Feedback, Search, Seeker
from seeker.lab.baselines.seeker import SeekerSearch
from seeker.lab.bench import open_bench
from seeker.lab.people import named
from seeker.lab.perception import Perception, Sense
from seeker.lab.simulate import Task, simulate_search
from seeker.types import Array, Doubles, Rows

PEOPLE = ("best + worst", "one click")
PAGES, PAGE_SIZE = 15, 12
ALIKE = 0.25


@dataclass(frozen=True)
class Leaning(Seeker):
    """Seeker whose pages lean towards a random direction; own: C; along: A; unit: that of u."""

    name = "Seeker, leaning"
    own: float = Boltzmann().c
    along: float = 0.0
    unit: Literal["catalog", "belief"] = "catalog"

    def begin(self, catalog: Catalog, page_size: int, seed: int) -> Search:
        return LeaningSearch(self, catalog, page_size, seed)


class LeaningSearch(SeekerSearch):
    """A search by a session whose pages are ordered outside of it."""

    def __init__(self, searcher: Leaning, catalog: Catalog, page_size: int, seed: int) -> None:
        super().__init__(searcher, catalog, page_size, seed)
        self._leaning, self._seed, self._turn = searcher, seed, 0
        self._vectors = {name: all_vectors(catalog, name) for name in catalog.views}
        self._page = super().page()

    def page(self) -> Rows:
        """Return the items on display, (page size,)."""
        return self._page

    def feedback(self, feedback: Feedback) -> None:
        """Take in the clicks on a page, and choose the next."""
        super().feedback(feedback)
        self._turn += 1
        belief = self.session.belief
        rng = np.random.default_rng([self._seed, self._turn])
        values = belief.log_posterior + self._leaning.own * rng.gumbel(size=len(self.catalog))
        if self._leaning.along:
            values += self._leaning.along * self._lean(belief.views, belief.log_posterior, rng)
        values[list(self._seen)] = -np.inf
        self._page = np.argsort(-values, kind="stable")[: self.size]

    def _lean(self, views: Mapping[str, float], logs: Doubles, rng: np.random.Generator) -> Doubles:
        """Return u of every item in its unit, (items,)."""
        total = np.zeros(len(logs))
        for name, weight in views.items():
            vectors = self._vectors[name]
            along = vectors @ rng.standard_normal((vectors.shape[1],)).astype(np.float32)
            total += np.sqrt(weight) * (along - along.mean()) / along.std()
        chances = np.exp(logs - logs.max())
        chances /= chances.sum()
        away = total - chances @ total
        unit = total.std() if self._leaning.unit == "catalog" else np.sqrt(chances @ away**2)
        return np.asarray(away / max(float(unit), 1e-9))


METHODS = {
    "own noise, C = 0.35": Leaning(),
    "and A = 1, catalog": Leaning(along=1.0),
    "and A = 0.35, belief": Leaning(along=0.35, unit="belief"),
    "A = 0.7, belief, alone": Leaning(own=0.0, along=0.7, unit="belief"),
    "no noise": Leaning(own=0.0),
}


def all_vectors(catalog: Catalog, name: str) -> Array:
    """Return the vectors of a view, (items, d) float32."""
    return catalog.views[name].rows(slice(None)).astype(np.float32)


def alike_pairs(catalog: Catalog, page: Sequence[int]) -> int:
    """Return how many pairs of a page are alike."""
    total = np.zeros((len(page), len(page)))
    for view in catalog.views.values():
        vectors = view.rows(np.array(page))
        total += ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2) / view.scale
    return int((total[np.triu_indices(len(page), 1)] / len(catalog.views) < ALIKE).sum())


@click.command()
@click.argument("bench", type=click.Path(exists=True, path_type=Path))
@click.option("--axes", default=64, show_default=True)
@click.option("--targets", default=40, show_default=True)
@click.option("--seed", default=302, show_default=True)
def main(bench: Path, axes: int, targets: int, seed: int) -> None:
    """Compare kinds of noise on a bench file BENCH."""
    opened = open_bench(bench)
    catalog = opened.with_axes(axes).catalog
    eyes = Perception([Sense(name, opened.senses[name]) for name in ("deep", "layout")])
    chosen = np.random.default_rng(seed).choice(len(catalog), targets, replace=False)
    rows: dict[str, list[tuple[float, float, float]]] = {name: [] for name in METHODS}
    for who in PEOPLE:
        for number, target in enumerate(tqdm(chosen.tolist(), unit=" targets")):
            task = Task(target, 1000 + number, PAGE_SIZE, PAGES)
            for name, searcher in METHODS.items():
                steps = simulate_search(catalog, eyes, named(who), searcher, task)
                found = steps[-1].on_page
                later = [alike_pairs(catalog, step.page) for step in steps[1:] if step.page]
                copies = float(np.mean(later)) if later else float("nan")
                rows[name].append((found, len(steps) if found else PAGES + 1, copies))
    usual = np.array(rows["own noise, C = 0.35"])[:, 1]
    for name, results in rows.items():
        numbers = np.array(results, np.float64)
        by_target = (numbers[:, 1] - usual).reshape(len(PEOPLE), -1).mean(axis=0)
        error = by_target.std(ddof=1) / np.sqrt(len(by_target))
        click.echo(
            f"{name:<24} found {numbers[:, 0].mean():.3f}  pages {numbers[:, 1].mean():.2f} "
            f"({by_target.mean():+.2f} ± {error:.2f})  alike {np.nanmean(numbers[:, 2]):.2f}"
        )


if __name__ == "__main__":
    main()
