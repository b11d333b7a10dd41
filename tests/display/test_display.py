"""Sampling, checked statistically, and the composition of pages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import seeker
from seeker import Catalog, display
from seeker.display import noise as keys
from seeker.display.base import LocalContext
from seeker.kernels import reference
from seeker.models import Bipartite, Choice, Model, Pairwise, Relative
from seeker.models.scores import Scores
from seeker.space import View
from seeker.types import Array
from support.catalogs import random_catalog

ROUNDS = 4000


def pages(strategy: display.Strategy, prior: Array, size: int, rounds: int = ROUNDS) -> Array:
    """The first pages of many seeds where nothing is known but a prior, (rounds, size) rows."""
    model, x = Choice(), np.arange(len(prior))[:, None]
    scores = Scores(model, model.space([View.from_vectors("x", x)]), prior)

    def context(seed: int) -> LocalContext:
        return LocalContext(scores=scores, seed=seed, step=0, page_size=size, blank=False)

    return np.array([strategy.rank(context(seed)).head(size) for seed in range(rounds)])


def chi_square(counts: Array, expected: Array) -> float:
    """Pearson's statistic in standard deviations from its mean."""
    statistic = float(((counts - expected) ** 2 / expected).sum())
    freedom = len(counts) - 1
    return float((statistic - freedom) / np.sqrt(2 * freedom))


def test_boltzmann_draws_without_replacement_from_the_softmax() -> None:
    p = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    drawn = pages(display.Boltzmann(c=1.0), np.log(p), 2)
    first = np.bincount(drawn[:, 0], minlength=6)
    assert abs(chi_square(first, ROUNDS * p)) < 4
    pairs = np.array([p[i] * p[j] / (1 - p[i]) for i in range(6) for j in range(6) if i != j])
    places = {
        pair: n for n, pair in enumerate((i, j) for i in range(6) for j in range(6) if i != j)
    }
    counts = np.bincount([places[i, j] for i, j in drawn.tolist()], minlength=30)
    assert abs(chi_square(counts, ROUNDS * pairs)) < 4


@pytest.mark.parametrize("eta", [0.5, 2.0])
def test_a_schedule_is_an_inverse_temperature(eta: float) -> None:
    p = np.array([0.5, 0.3, 0.2])
    tempered = p**eta / (p**eta).sum()
    for strategy in (
        display.Boltzmann(schedule=[eta]),
        display.Boltzmann(schedule=lambda step: eta),
        display.Boltzmann(c=1 / eta),
    ):
        counts = np.bincount(pages(strategy, np.log(p), 1)[:, 0], minlength=3)
        assert abs(chi_square(counts, ROUNDS * tempered)) < 4


def test_a_schedule_ends_in_exploration_or_exploitation() -> None:
    p = np.array([0.5, 0.3, 0.2])
    counts = np.bincount(pages(display.Boltzmann(schedule=[0.0]), np.log(p), 1)[:, 0], minlength=3)
    assert abs(chi_square(counts, np.full(3, ROUNDS / 3))) < 4
    assert (pages(display.Boltzmann(schedule=[float("inf")]), np.log(p), 3) == [0, 1, 2]).all()


def test_probabilities_may_be_the_score() -> None:
    p = np.array([0.5, 0.3, 0.2])
    drawn = pages(display.Boltzmann(c=1.0, score="probability"), np.log(p), 1)[:, 0]
    weighed = np.exp(p) / np.exp(p).sum()
    assert abs(chi_square(np.bincount(drawn, minlength=3), ROUNDS * weighed)) < 4


def test_random_is_even_in_every_place() -> None:
    drawn = pages(display.Random(), np.log(np.array([0.7, 0.1, 0.1, 0.1])), 4)
    for place in range(4):
        counts = np.bincount(drawn[:, place], minlength=4)
        assert abs(chi_square(counts, np.full(4, ROUNDS / 4))) < 4


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 1.0])
def test_epsilon_is_the_rate_of_replacement(epsilon: float) -> None:
    prior = -0.01 * np.arange(1000.0)
    drawn = pages(display.EpsilonGreedy(epsilon), prior, 12, rounds=1000)
    replaced = drawn != np.arange(12)
    spread = np.sqrt(epsilon * (1 - epsilon) / replaced.size)
    assert abs(replaced.mean() - epsilon * (1 - 1 / 1000)) < 4 * spread + 0.002
    assert all(len(set(page)) == 12 for page in drawn.tolist())
    others = drawn[replaced]
    if len(others) > 500:
        counts = np.bincount(others // 100, minlength=10)
        assert abs(chi_square(counts, np.full(10, len(others) / 10))) < 4


def test_the_noise_is_gumbel_and_independent() -> None:
    from seeker.kernels.noise import gumbel

    items = np.arange(200_000)
    noise = np.empty(len(items))
    gumbel(keys.stream_key(7, 3, keys.RANKING), items, noise)
    uniform = np.exp(-np.exp(-noise))
    for part in (uniform, uniform[::7], uniform[:5000]):
        distance = np.abs(np.sort(part) - (np.arange(len(part)) + 0.5) / len(part)).max()
        assert distance * np.sqrt(len(part)) < 1.95  # Kolmogorov, 0.1 %
    other = np.empty(len(items))
    for seed, step in ((7, 4), (8, 3), (3, 7), (7 + 2**64, 3)):
        gumbel(keys.stream_key(seed, step, keys.RANKING), items, other)
        assert abs(np.corrcoef(noise, other)[0, 1]) < 0.01
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 0.01


def test_the_noise_is_its_twin_and_under_its_bounds() -> None:
    from seeker.kernels.noise import LARGEST, bound, gumbel

    items = np.arange(100_000)
    key = keys.stream_key(1, 2, keys.RANKING)
    noise = np.empty(len(items))
    gumbel(key, items, noise)
    np.testing.assert_allclose(noise, reference.gumbel(int(key), items.tolist()), rtol=0, atol=1e-9)
    assert noise.max() < LARGEST
    upper = np.random.default_rng(0).normal(size=len(items)).astype(np.float32)
    bounds = np.empty(len(items), np.float32)
    best = bound(upper, 0, key, np.float32(0.5), bounds, 100)
    assert (bounds + 1e-5 >= upper + 0.5 * noise).all()
    close = noise > 1.0
    assert (bounds - upper - 0.5 * noise)[close].max() < 0.2
    assert set(np.argsort(-bounds)[:50]) <= set(best.tolist())
    uniform = keys.uniforms(key, 5)
    np.testing.assert_allclose(-np.log(-np.log1p(-uniform)), noise[:5], rtol=1e-9)


def test_searches_share_first_pages_and_find_the_same_ones_alone() -> None:
    catalog, alone = random_catalog(1000), random_catalog(1000)
    catalog.preload()
    pages = [catalog.session(seed=seed, page_size=9).page().ids for seed in range(40)]
    assert len({tuple(page) for page in pages}) == display.POOL_PAGES
    for seed in (3, 3 + display.POOL_PAGES, 2**70 + 5):
        page = catalog.session(seed=seed, page_size=9).page().ids
        assert page == pages[seed % display.POOL_PAGES]
        assert page == alone.session(seed=seed, page_size=9).page().ids
        assert page == catalog.session(seed=seed, page_size=60).page().ids[:9]
        few = catalog.session(seed=seed, page_size=300).page().ids
        assert (few[:9], len(set(few))) == (page, 300)


def test_a_filter_or_a_person_gets_no_page_that_others_share() -> None:
    catalog = random_catalog(1000, attributes=[{"n": n % 3} for n in range(1000)])
    everybody = catalog.session(seed=1).page().ids
    some = catalog.session(seed=1, filter={"n": 2}).page()
    assert {item.attributes["n"] for item in some.items} == {2}
    assert catalog.session(seed=1, user=[3.0] * 23 + [0.1]).page().ids != everybody
    assert catalog.session(seed=1).page().ids == everybody


def test_the_first_page_covers_the_catalog() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(8), 200)
    x = rng.normal(size=(8, 6))[groups] * 10 + rng.normal(size=(1600, 6)) * 0.1
    catalog = Catalog.from_arrays([str(n) for n in range(1600)], {"x": x})
    for strategy in ("boltzmann", "greedy", "epsilon", "diverse", "informative"):
        seen = {groups[int(item)] for item in catalog.session(strategy=strategy, seed=5).page().ids}
        assert len(seen) == 8 or (strategy == "epsilon" and len(seen) >= 6)
    other = catalog.session(seed=6).page().ids
    assert other != catalog.session(seed=5).page().ids


@pytest.mark.parametrize(
    "model",
    [
        Choice(),
        Relative(weights=(0.1, 0.2, 0.3, 0.4) * 5),
        Pairwise(alpha=5.0),
        Bipartite(alpha1=6.0),
    ],
)
def test_an_informative_page_is_the_one_that_tells_most(model: Model) -> None:
    """As the formula has it, with scores and distances in float64."""
    catalog = random_catalog(200, dims=(24, 9))
    strategy = display.Informative(base=display.Greedy(), pool=30, targets=60)
    session = catalog.session(model=model, strategy=strategy, page_size=7, seed=3)
    usual = catalog.session(model=model, strategy=display.Greedy(), page_size=7, seed=3)
    for verdict, place in (("dislike", 5), ("like", 2), ("dislike", 4), ("like", 0)):
        shown = session.page().ids
        for one in (session, usual):
            one.click(shown[place], verdict, shown)  # type: ignore[arg-type]
        if not session.likes:
            assert session.page().ids == usual.page().ids
            continue
        targets = [catalog.row(item) for item in usual.more(0, 60).ids]
        grid = model.grid([*catalog.views])
        mixture = np.exp(grid.log_weights).reshape(len(grid.mixtures), -1).sum(axis=1)
        far = sum(
            weight * reference.distances(view.vectors, targets[:30], view.scale)[:, targets]
            for weight, view in zip(mixture @ grid.mixtures, catalog.views.values(), strict=True)
        )
        draw = model.attraction(grid)
        places = reference.informative(
            usual.belief.log_posterior[targets],
            np.asarray(far),
            draw.sharpness,
            draw.floor,
            strategy.hit,
            7,
        )
        assert session.page().ids == [catalog.ids[targets[place]] for place in places]
        assert {*session.more(0, 200).ids} == {*catalog.ids}


def test_a_diverse_page_holds_fewer_near_copies() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 10)
    x = rng.normal(size=(60, 6))[groups] + rng.normal(size=(600, 6)) * 0.001
    catalog = Catalog.from_arrays([str(n) for n in range(600)], {"x": x})
    prior = -np.abs(x - x[0]).sum(axis=1)

    def different(strategy: display.Strategy) -> int:
        page = catalog.session(strategy=strategy, prior=prior).page().ids
        assert page[0] in {str(n) for n in range(10)}
        return len({groups[int(item)] for item in page})

    greedy = different(display.Greedy())
    assert greedy <= 2
    for criterion in ("submodular", "determinantal"):
        strategy = display.Diverse(base=display.Greedy(), criterion=criterion)
        assert different(strategy) >= 2 * greedy


@pytest.mark.parametrize("criterion", ["submodular", "determinantal"])
def test_copies_fill_a_page_once_each(criterion: Any) -> None:
    x = np.random.default_rng(0).normal(size=(9, 2))[np.arange(60) % 9]
    catalog = Catalog.from_arrays([str(n) for n in range(60)], {"x": x})
    strategy = display.Diverse(criterion=criterion)
    session = catalog.session(strategy=strategy, page_size=50)
    assert len(set(session.page().ids)) == 50
    assert len(set(session.more(0, 60).ids)) == 60


def test_determinantal_picks_the_largest_determinant() -> None:
    from itertools import combinations

    from seeker.display.strategies import determinantal, submodular

    rng = np.random.default_rng(1)
    x = rng.normal(size=(9, 2))
    alike = np.exp(-((x[:, None] - x[None]) ** 2).sum(axis=2))
    weights = rng.uniform(0.5, 1.0, 9)
    kernel = weights[:, None] * alike * weights
    first = int(np.argmax(np.diag(kernel)))
    second = max(
        (j for j in range(9) if j != first),
        key=lambda j: float(np.linalg.det(kernel[np.ix_([first, j], [first, j])])),
    )
    assert determinantal(alike, weights, 2).tolist() == [first, second]

    def value(chosen: tuple[int, ...]) -> float:
        return float(weights @ alike[:, list(chosen)].max(axis=1))

    greedy = value(tuple(submodular(alike, weights, 3).tolist()))
    assert greedy >= 0.63 * max(map(value, combinations(range(9), 3)))


def test_bad_settings_are_refused() -> None:
    for bad in (
        lambda: display.Boltzmann(c=-1.0),
        lambda: display.Boltzmann(score="odds"),  # type: ignore[arg-type]
        lambda: display.Boltzmann(schedule=[]),
        lambda: display.Boltzmann(schedule=[-1.0]),
        lambda: display.Boltzmann(schedule=["hot"]),  # type: ignore[list-item]
        lambda: display.Boltzmann(schedule=range(10**12)),
        lambda: display.Boltzmann(first="best"),  # type: ignore[arg-type]
        lambda: display.EpsilonGreedy(1.5),
        lambda: display.Diverse(criterion="pretty"),  # type: ignore[arg-type]
        lambda: display.Diverse(base=display.Diverse()),
        lambda: display.Diverse(pool=0),
        lambda: display.Informative(pool=0),
        lambda: display.Informative(pool=10, targets=9),
        lambda: display.Informative(hit=-1.0),
        lambda: display.Informative(base=display.Informative()),
        lambda: display.CorrelatedBoltzmann(correlation=-0.1),
        lambda: display.CorrelatedBoltzmann(correlation=1.1),
        lambda: display.CorrelatedBoltzmann(reach=0.0),
        lambda: display.CorrelatedBoltzmann(reach=float("inf")),
        lambda: display.CorrelatedBoltzmann(c=float("nan")),
        lambda: random_catalog().session(strategy="best"),
    ):
        with pytest.raises(seeker.SeekerError):
            bad()
