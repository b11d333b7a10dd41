"""Variants of Seeker's own settings, from among which its defaults were chosen.

    python -P benchmarks/lab/variants.py clothing.npz --axes 256 --method variants --out runs

This is `seeker evaluate` with the variants below among its methods, by name or as the sets
`variants` and `noises`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from seeker import cli, display, models
from seeker.catalog import Catalog
from seeker.display.base import LocalContext
from seeker.lab.baselines import Feedback, Search, Searcher, Seeker
from seeker.lab.baselines.base import draw_rows
from seeker.lab.baselines.seeker import SeekerSearch
from seeker.lab.methods import SETS
from seeker.models.scores import Scores
from seeker.space import Space
from seeker.types import Doubles, Rows


@dataclass(frozen=True)
class Weighted(models.Choice):
    """The choice model with other mixtures of two views: the weights of the first, all alike."""

    name = "weighted choice"
    weights: tuple[float, ...] | Literal["broad"] | None = None
    first: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)

    def mixtures(self, views: int) -> Doubles:  # type: ignore[override]
        """Return the mixtures that are averaged over, (mixtures, views)."""
        if views != 2:
            return models.Choice.mixtures(views)
        return np.array([[share, 1.0 - share] for share in self.first])


@dataclass(frozen=True)
class Ratios(models.Relative):
    """Ratios of distances with the mixtures and the prior of the choice model."""

    name = "ratios"
    sigmas: tuple[float, ...] = (0.0625, 0.125, 0.25, 0.5, 1.0)
    weights: tuple[float, ...] | Literal["broad"] | None = "broad"

    @staticmethod
    def mixtures(views: int) -> Doubles:
        """Return the mixtures that are averaged over, (mixtures, views)."""
        return models.Choice.mixtures(views)


@dataclass(frozen=True)
class Informed(Seeker):
    """Seeker's own belief; the page is chosen for information until it is likely to succeed.

    While the likeliest page holds the target with less than `until`, items are taken one by one
    from a pool drawn by their probability so that the answer 'this one is nearest' would tell
    most about the target: H(answer) − E_t[H(answer | t)]. From then on the page is Seeker's.
    share: the part of the page that is chosen so; the rest is the likeliest items.
    """

    name = "Seeker, informed"
    until: float = 0.2
    share: float = 1.0
    pool: int = 60
    sample: int = 256

    def begin(self, catalog: Catalog, page_size: int, seed: int) -> Search:
        return InformedSearch(self, catalog, page_size, seed)


class InformedSearch(SeekerSearch):
    """A search by a session whose pages are chosen outside of it."""

    def __init__(self, searcher: Informed, catalog: Catalog, page_size: int, seed: int) -> None:
        super().__init__(searcher, catalog, page_size, seed)
        self.searcher = searcher
        self.seed = seed
        self._turn = 0
        self._page = super().page()

    def page(self) -> Rows:
        """Return the items on display, (page size,)."""
        return self._page

    def feedback(self, feedback: Feedback) -> None:
        """Take in the clicks on a page, and choose the next."""
        super().feedback(feedback)
        self._turn += 1
        self._page = self._choose_page()

    def on_page(self) -> float:
        """Return how probable it is held that the target is on the page."""
        return float(np.exp(self.scores()[self._page]).sum())

    def _choose_page(self) -> Rows:
        usual = super().page()
        logs = self.scores().copy()
        logs[list(self._seen)] = -np.inf
        free = np.flatnonzero(np.isfinite(logs))
        logs -= np.logaddexp.reduce(logs[free])
        if float(np.exp(logs[usual]).sum()) >= self.searcher.until or len(free) <= self.size:
            return usual
        rng = np.random.default_rng([self.seed, self._turn])
        likely = free[np.argsort(-logs[free], kind="stable")][: self.searcher.sample]
        weights = np.exp(logs[likely] - np.logaddexp.reduce(logs[likely]))
        pool = draw_rows(logs, free, self.searcher.pool, rng)
        near = np.exp(-self._distances(pool, likely) / (self.session.belief.noise or 0.2))
        count = round(self.searcher.share * self.size)
        telling = pool[most_telling(near, weights, count)]
        rest = usual[~np.isin(usual, telling)]
        return np.concatenate([telling, rest])[: self.size]

    def _distances(self, one: Rows, other: Rows) -> Doubles:
        """Return distances as this person is believed to see them, (one, other)."""
        total = np.zeros((len(one), len(other)))
        for name, weight in self.session.belief.views.items():
            view = self.catalog.views[name]
            left, right = view.rows(one), view.rows(other)
            squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)
            total += weight * np.maximum(squares - 2.0 * left @ right.T, 0.0) / view.scale
        return total


def most_telling(near: Doubles, weights: Doubles, count: int) -> Rows:
    """Choose items greedily so that the answer 'this one is nearest' would tell most: (count,).

    near: (pool, targets), how strongly each item would draw the click for each possible target.
    weights: (targets,), their probabilities.
    """
    chosen: list[int] = []
    total = np.zeros(near.shape[1])
    inside = np.zeros(near.shape[1])  # Σ_k e_k log e_k of the chosen, for each target
    sums = near * np.log(np.maximum(near, 1e-300))
    for _ in range(min(count, len(near))):
        whole = total + near  # (pool, targets)
        entropy = np.log(whole) - (inside + sums) / whole
        answers = np.array([weights / row for row in whole])  # (pool, targets)
        mine = (near * answers).sum(axis=1)
        spread = -mine * np.log(np.maximum(mine, 1e-300))
        for old in chosen:
            share = answers @ near[old]
            spread -= share * np.log(np.maximum(share, 1e-300))
        gain = spread - entropy @ weights
        gain[chosen] = -np.inf
        pick = int(np.argmax(gain))
        chosen.append(pick)
        total, inside = total + near[pick], inside + sums[pick]
    return np.array(chosen, np.int64)


@dataclass(frozen=True)
class BeliefWave(Seeker):
    """Seeker whose correlated noise keeps to what the belief leaves open.

    Its reach is half of how far apart two items drawn from the belief are on average, so that the
    wave rises and falls among the likely items, however near they have come to each other.
    """

    name = "Seeker, wave of the belief"
    strategy: display.Strategy = field(
        default_factory=lambda: display.CorrelatedBoltzmann(correlation=0.9)
    )

    def begin(self, catalog: Catalog, page_size: int, seed: int) -> Search:
        return BeliefWaveSearch(self, catalog, page_size, seed)


class BeliefWaveSearch(SeekerSearch):
    """A search by a session whose pages are ordered outside of it."""

    def page(self) -> Rows:
        """Return the items on display, (page size,)."""
        if not self._clicks:
            return super().page()
        session, strategy = self.session, self.session.state.start.strategy
        assert isinstance(strategy, display.CorrelatedBoltzmann)
        logs = session.belief.log_posterior
        wave = replace(strategy, reach=0.5 * self._spread(np.exp(logs)), first="ranked")
        seen = np.array(sorted(self._seen))
        scores = Scores(models.Choice(), self._space, logs)
        context = LocalContext(
            scores=scores,
            seed=session.state.start.seed,
            step=session.step + len(self._clicks),
            page_size=self.size,
            blank=False,
            later=(seen,),
        )
        return wave.rank(context).head(self.size)

    @cached_property
    def _space(self) -> Space:
        return models.Choice().space([*self.catalog.views.values()])

    def _spread(self, chances: Doubles) -> float:
        """Return the mean distance of two items drawn from the belief, the views weighing alike."""
        likely = np.argsort(-chances, kind="stable")[:512]
        shares = chances[likely] / chances[likely].sum()
        return max(1e-9, float(shares @ self._space.between(likely, likely) @ shares))


def _correlated(correlation: float, reach: float, c: float = display.Boltzmann().c) -> Seeker:
    return Seeker(strategy=display.CorrelatedBoltzmann(c, correlation, reach))


NOISES: dict[str, Searcher] = {
    "default": Seeker(),
    "noiseless": Seeker(strategy=display.Greedy()),
    "correlated 0.5, reach 0.25": _correlated(0.5, 0.25),
    "correlated 0.9, reach 0.25": _correlated(0.9, 0.25),
    "correlated 0.9, reach 0.05": _correlated(0.9, 0.05),
    "correlated 0.9, reach 1": _correlated(0.9, 1.0),
    "correlated 0.9, reach 0.25, C = 0.7": _correlated(0.9, 0.25, 0.7),
    "correlated 0.9, reach of the belief": BeliefWave(),
}
"""Noise that is alike for items that are alike, beside noise that is not, and none."""

VARIANTS: dict[str, Searcher] = {
    "default": Seeker(),
    "relative distances": Seeker(models.Relative()),
    "relative distances, same mixtures": Seeker(Ratios()),
    "noiseless": Seeker(strategy=display.Greedy()),
    "C = 0.7": Seeker(strategy=display.Boltzmann(c=0.7)),
    "half the noise": Seeker(strategy=display.Boltzmann(c=display.Boltzmann().c / 2)),
    "a quarter of the noise": Seeker(strategy=display.Boltzmann(c=display.Boltzmann().c / 4)),
    "Boltzmann": Seeker(strategy=display.Boltzmann(first="cover")),
    "informative": Seeker(strategy=display.Informative()),
    "diverse, submodular": Seeker(strategy=display.Diverse(reach=0.5)),
    "diverse, determinantal": Seeker(
        strategy=display.Diverse(criterion="determinantal", reach=0.5)
    ),
    "sigmas 0.1 … 1.6": Seeker(models.Choice(sigmas=(0.1, 0.2, 0.4, 0.8, 1.6))),
    "sigmas 0.025 … 0.4": Seeker(models.Choice(sigmas=(0.025, 0.05, 0.1, 0.2, 0.4))),
    "sigmas 0.1, 0.2": Seeker(models.Choice(sigmas=(0.1, 0.2))),
    "slip 0.02": Seeker(models.Choice(slip=0.02)),
    "slip 0.15": Seeker(models.Choice(slip=0.15)),
    "all mixtures alike": Seeker(models.Choice(weights=None)),
    "five mixtures": Seeker(Weighted()),
    "inner mixtures": Seeker(Weighted(first=(0.25, 0.5, 0.75))),
    "even mixture": Seeker(Weighted(first=(0.5,))),
    "informed until 0.05": Informed(until=0.05),
    "informed until 0.2": Informed(),
    "informed until 0.2, half": Informed(share=0.5),
    "informed until 0.5": Informed(until=0.5),
}


def main() -> int:
    """Run `seeker evaluate` with the variants among its methods."""
    SETS.update(variants=VARIANTS, noises=NOISES)
    return cli.main(["evaluate", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
