"""Noise that is alike for items that are alike, against its definition."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from seeker import Catalog, Session, display
from seeker.display import noise as keys
from seeker.display.base import RankingInputs
from seeker.kernels import reference
from seeker.models import Choice
from seeker.session.events import Click
from seeker.types import Array, Doubles
from support.catalogs import random_catalog
from support.limits import limited

DTYPES = ("float32", "float16", "int8")
MASK = 2**64 - 1


def mixed(z: int) -> int:
    """SplitMix64's mixing, in whole numbers."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def keyed_uniform(key: int, place: int) -> float:
    """A number in (0, 1) by its key and its place."""
    return ((mixed((key + (place + 1) * 0x9E3779B97F4A7C15) & MASK) >> 11) + 0.5) * 2.0**-53


def wave_of(catalog: Catalog, seed: int, step: int, reach: float) -> Doubles:
    """The wave of every item in its unit, (items,): one number after the other."""
    views = list(catalog.views.values())
    turns = [keyed_uniform(int(keys.stream_key(seed, step, keys.WAVE, len(views))), 0)]
    turns *= len(catalog)
    for place, view in enumerate(views):
        key = int(keys.stream_key(seed, step, keys.WAVE, place))
        length = math.sqrt(2.0 / (reach * view.scale * len(views))) / (2.0 * math.pi)
        vectors = view.rows(np.arange(len(catalog))).astype(np.float64)
        coins = [keyed_uniform(key, axis) for axis in range(vectors.shape[1])]
        along = [-length if coin < 0.5 else length for coin in coins]
        for row, vector in enumerate(vectors.tolist()):
            turns[row] += math.fsum(a * x for a, x in zip(along, vector, strict=True))
    return np.array([math.sqrt(3.0) * (4.0 * abs(turn % 1.0 - 0.5) - 1.0) for turn in turns])


def values_in_full(session: Session, strategy: display.CorrelatedBoltzmann) -> Doubles:
    """Every item's z by the definition, (items,)."""
    catalog: Any = session.catalog
    key = int(keys.stream_key(session.state.start.seed, session.step, keys.RANKING))
    own = math.sqrt(1.0 - strategy.correlation) * reference.gumbel(key, range(len(catalog)))
    wave = wave_of(catalog, session.state.start.seed, session.step, strategy.reach)
    noise = own + math.sqrt(strategy.correlation) * math.pi / math.sqrt(6.0) * wave
    clicks = [event for _, event in session.state.history if isinstance(event, Click)]
    for item, count in Counter(click.item for click in clicks).items():
        noise[catalog.row(item)] /= math.sqrt(1.0 + count)
    return np.asarray(session.belief.log_posterior + strategy.c * noise)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "strategy",
    [
        display.CorrelatedBoltzmann(first="ranked"),
        display.CorrelatedBoltzmann(c=3.0, correlation=1.0, reach=0.02, first="ranked"),
        display.CorrelatedBoltzmann(c=1.0, correlation=0.9, reach=5.0, first="ranked"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("bounds_only", [False, True])
def test_pages_are_those_of_the_definition(
    dtype: str, strategy: display.CorrelatedBoltzmann, bounds_only: bool
) -> None:
    rng = np.random.default_rng(8)
    places = rng.normal(size=(900, 19)) + 4.0
    catalog = Catalog.from_arrays(
        [str(row) for row in range(900)],
        {"looks": places[:, :16], "colour": 50.0 * places[:, 13:]},
        attributes=[{"even": row % 2 == 0} for row in range(900)],
        dtype=dtype,
    )
    searched = catalog
    if bounds_only:
        searched = limited(catalog, session_bytes=0, part_items=70, sorted_items=16)
    session = searched.session(strategy=strategy, seed=2**65 + 3, repeat="always")
    for turn in range(4):
        values = values_in_full(session, strategy)
        ids = session.more(0, 40).ids
        among = [row for row in range(900) if row % 2 == 0 or turn < 3]
        best = sorted((values[row] for row in among), reverse=True)[:40]
        got = [values[int(item)] for item in ids]
        np.testing.assert_allclose(got, best, rtol=1e-9, atol=1e-9)
        session.like(ids[0])
        session.dislike(ids[7], shown=ids[:12])
        if turn == 2:
            session.filter({"even": True})
    session.undo(2)
    again = Session.replay(searched, session.events)
    assert again.more(0, 900).ids == session.more(0, 900).ids


def waves(catalog: Catalog, reach: float, seeds: int) -> Array:
    """The waves of all items, (seeds, items)."""
    space = Choice().space([*catalog.views.values()])
    inputs = (RankingInputs(seed=seed, step=3, page_size=12, blank=False) for seed in range(seeds))
    wave, rows = keys.Wave(1.0, reach), np.arange(len(catalog))
    return np.array([keys.WaveNoise(one, space, wave).at(rows) for one in inputs])


@pytest.mark.parametrize("reach", [0.1, 0.5, 2.0])
def test_alike_items_have_alike_waves(reach: float) -> None:
    rng = np.random.default_rng(2)
    looks = np.repeat(rng.normal(size=(5, 12)), 40, axis=0)
    looks *= np.linspace(0.02, 2.0, 200)[:, None]
    catalog = Catalog.from_arrays(
        [str(row) for row in range(200)], {"looks": looks, "colour": 9.0 * looks[:, ::-1] ** 2}
    )
    drawn = waves(catalog, reach, 3000)
    assert np.abs(drawn).max() <= math.sqrt(3.0)
    assert np.abs(drawn.mean(axis=0)).max() < 0.1
    assert np.abs(drawn.var(axis=0) - 1.0).max() < 0.1
    distances = Choice().space([*catalog.views.values()]).between(np.arange(200), np.arange(200))
    correlations = drawn.T @ drawn / len(drawn)
    assert np.abs(correlations - np.exp(-distances / reach)).max() < 0.15


def test_correlation_is_the_share_of_the_variance() -> None:
    catalog = random_catalog(60, dims=(6,))
    session_seeds, rows = range(2000), np.arange(60)
    space = Choice().space([*catalog.views.values()])
    for correlation in (0.0, 0.5, 1.0):
        wave = keys.Wave(math.sqrt(correlation) * math.pi / math.sqrt(6.0), 1e9)
        drawn = []
        for seed in session_seeds:
            inputs = RankingInputs(seed=seed, step=1, page_size=12, blank=False)
            alike = keys.WaveNoise(inputs, space, wave) if correlation else None
            width = math.sqrt(1.0 - correlation)
            drawn.append(keys.KeyedNoise(inputs, width, True, alike).at(rows))
        noise = np.array(drawn)
        assert abs(noise.var(axis=0).mean() / (math.pi**2 / 6.0) - 1.0) < 0.05
        away = noise - noise.mean(axis=0)
        shared = (away[:, 0] * away[:, 1]).mean() / (math.pi**2 / 6.0)
        assert abs(shared - correlation) < 0.12


def test_without_correlation_it_is_boltzmann() -> None:
    catalog = random_catalog(300)
    plain, other = (
        catalog.session(strategy=strategy, seed=4)
        for strategy in ("boltzmann", display.CorrelatedBoltzmann(correlation=0.0))
    )
    for turn in range(4):
        assert plain.more(0, 300).ids == other.more(0, 300).ids
        for session in (plain, other):
            session.like(session.page().ids[turn])


def test_copies_stand_together() -> None:
    places = np.random.default_rng(4).normal(size=(40, 6))[np.arange(200) % 40]
    catalog = Catalog.from_arrays([str(row) for row in range(200)], {"looks": places})
    strategy = display.CorrelatedBoltzmann(c=1.0, correlation=1.0, first="ranked")
    orders = set()
    for seed in range(20):
        order = np.array(catalog.session(strategy=strategy, seed=seed).more(0, 200).ids, np.int64)
        assert (order.reshape(40, 5) % 40 == order[::5, None] % 40).all()
        orders.add(tuple(order.tolist()))
    assert len(orders) == 20
