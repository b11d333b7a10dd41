"""What past searches teach: a map of the views and the prior of θ, against slow twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seeker import learning
from seeker.errors import BadInput
from seeker.learning.fit import hold_aside
from seeker.learning.maps import ChoiceLoss, padded, pair_distances
from seeker.learning.observations import Observations, Pairs
from seeker.learning.theta import evidence, fit_prior, search_logs
from seeker.models import Choice, Relative
from seeker.space import View


def searches(
    seen: Any, count: int, rng: np.random.Generator, slips: float = 0.0, targets: Any = None
) -> Observations:
    """Searches by people who like the nearest and dislike the farthest of five pages of eight.

    slips: how often the order in which they see a page has nothing to do with the target.
    """
    gathered = []
    for _ in range(count):
        target = int(rng.choice(len(seen) if targets is None else targets))
        clicks = []
        for _ in range(5):
            page = rng.choice(len(seen), 8, replace=False)
            away = ((seen[page] - seen[target]) ** 2).sum(axis=1)
            order = page[np.argsort(away * np.exp(0.15 * rng.standard_normal(8)))]
            order = rng.permutation(page) if rng.random() < slips else order
            clicks.append((True, order.tolist()))
            clicks.append((False, order[1:][::-1].tolist()))
        gathered.append((target, 1.0, clicks))
    return Observations.of(gathered)


def slow_log(distances: Any, liked: bool, sigma: float, slip: float, floor: float = 0.0) -> float:
    """The log-probability of a click on the first of some items, as the formula is written."""
    exact = np.asarray(distances, np.float64)
    logits = (-1.0 if liked else 1.0) * (np.log(exact + floor) if floor else exact) / sigma
    shares = np.exp(logits - logits.max())
    return float(np.log((1.0 - slip) * shares[0] / shares.sum() + slip / len(shares)))


def slow_loss(
    vectors: Any, observations: Observations, sigma: float, slip: float, floor: float
) -> float:
    exact = np.asarray(vectors, np.float64)
    total = 0.0
    for click in range(observations.clicks):
        among = observations.shown[observations.offsets[click] : observations.offsets[click + 1]]
        search = observations.searches[click]
        away = ((exact[among] - exact[observations.targets[search]]) ** 2).sum(axis=1)
        weight = observations.weights[search]
        total -= weight * slow_log(away, bool(observations.liked[click]), sigma, slip, floor)
    return total / float(observations.weights[observations.searches].sum())


@pytest.fixture(scope="module")
def world() -> dict[str, Any]:
    """People who see a part of one view and little of the other."""
    rng = np.random.default_rng(5)
    vectors = {"looks": rng.normal(size=(400, 24)), "words": rng.normal(size=(400, 6))}
    seen = np.concatenate([vectors["looks"][:, :5], 0.3 * vectors["words"]], axis=1)
    views = {name: View.from_vectors(name, one) for name, one in vectors.items()}
    every = np.arange(400)
    samples = {name: learning.ViewSample.of(view, every) for name, view in views.items()}
    past = searches(seen, 400, rng, targets=every[:300])
    fresh = searches(seen, 150, rng, targets=every[300:])
    slips = searches(seen, 400, rng, slips=0.25, targets=every[:300])
    return {"views": views, "samples": samples, "past": past, "fresh": fresh, "slips": slips}


@pytest.fixture(scope="module")
def learned(world: dict[str, Any]) -> learning.Learned:
    return learning.fit(world["samples"], world["past"], seed=3)


@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_the_loss_and_its_gradient_are_those_of_the_formula(floor: float) -> None:
    rng = np.random.default_rng(0)
    vectors = padded(rng.normal(size=(30, 5)))
    observations = searches(vectors, 6, rng)
    object.__setattr__(observations, "weights", rng.uniform(0.2, 1.0, 6))
    loss = ChoiceLoss(Pairs(observations, 30), 0.1, floor)

    def slow(place: Any, sigma: float = 0.7) -> float:
        return slow_loss(place, observations, sigma, 0.1, floor)

    value, by_vectors, by_sharpness = loss.gradient(vectors, 1.0 / 0.7)
    assert value == pytest.approx(slow(vectors), rel=1e-5)
    small = 1e-4
    for row, axis in ((0, 0), (3, 2), (17, 4), (29, 1)):
        up, down = vectors.astype(np.float64), vectors.astype(np.float64)
        up[row, axis] += small
        down[row, axis] -= small
        slope = (slow(up) - slow(down)) / (2 * small)
        assert by_vectors[row, axis] == pytest.approx(slope, abs=2e-5)
    narrow, wide = slow(vectors, 0.7 * np.exp(-small)), slow(vectors, 0.7 * np.exp(small))
    assert by_sharpness == pytest.approx((narrow - wide) / (2 * small), abs=1e-5)


@pytest.mark.parametrize("model", [Choice(), Relative(floor=0.1)], ids=lambda one: one.name)
def test_the_likelihood_of_searches_is_that_of_the_model(
    world: dict[str, Any], model: Choice
) -> None:
    past = world["past"].subset(np.arange(5))
    pairs = Pairs(past, 400)
    views = list(world["views"].values())
    distances = np.stack([pair_distances(padded(v.vectors), pairs) / v.scale for v in views])
    grid = model.grid(["looks", "words"])
    logs = search_logs(distances, pairs, model)
    for theta, (mixture, sigma) in enumerate(
        (mixture, sigma) for mixture in grid.mixtures for sigma in grid.sigmas
    ):
        total = np.zeros(5)
        for click in range(past.clicks):
            among = past.shown[past.offsets[click] : past.offsets[click + 1]]
            target = past.targets[past.searches[click]]
            away = sum(
                weight * ((v.rows(among) - v.rows([target])) ** 2).sum(axis=1) / v.scale
                for weight, v in zip(mixture, views, strict=True)
            )
            total[past.searches[click]] += slow_log(
                away, bool(past.liked[click]), sigma, model.slip, getattr(model, "floor", 0.0)
            )
        assert logs[:, theta] == pytest.approx(total, abs=2e-3)


def test_the_prior_of_theta_is_the_share_of_each_kind_of_person() -> None:
    rng = np.random.default_rng(1)
    kinds = rng.choice(3, 2000, p=[0.6, 0.3, 0.1])
    logs = rng.normal(size=(2000, 3)) - 3.0
    logs[np.arange(2000), kinds] += 8.0
    start = np.full(3, 1 / 3)
    prior = fit_prior(logs, np.ones(2000), start, strength=1.0)
    assert prior == pytest.approx([0.6, 0.3, 0.1], abs=0.03)
    assert evidence(logs, prior).sum() > evidence(logs, start).sum()
    assert fit_prior(logs[:0], np.ones(0), start, 10.0) == pytest.approx(start)


def test_fresh_targets_are_explained_better(
    world: dict[str, Any], learned: learning.Learned
) -> None:
    fresh = Pairs(world["fresh"], 400)
    views = dict(world["views"])
    usual = Choice()
    raw = np.stack([pair_distances(padded(v.vectors), fresh) / v.scale for v in views.values()])
    grid = usual.grid([*views])
    before = evidence(search_logs(raw, fresh, usual), np.exp(grid.log_weights))
    made = learned.maps[0].apply({name: view.vectors for name, view in views.items()})
    view = View.from_vectors("learned", made)
    distances = np.concatenate([raw, pair_distances(padded(made), fresh)[None] / view.scale])
    grid = learned.model.grid(learned.views)
    after = evidence(search_logs(distances, fresh, learned.model), np.exp(grid.log_weights))
    clicks = world["fresh"].clicks
    assert after.sum() / clicks > before.sum() / clicks + 0.1
    assert learned.after > learned.before
    assert learned.scales[0] == pytest.approx(view.scale, rel=1e-3)


def test_of_few_searches_each_is_held_aside_once_with_a_map_that_does_not_know_it(
    world: dict[str, Any], learned: learning.Learned
) -> None:
    asides = np.array([part.aside for part in learned.parts])
    assert len(asides) == 5
    assert (asides.sum(axis=0) == 1).all()
    targets = world["past"].targets
    for part in learned.parts:
        assert not {*targets[part.aside].tolist()} & {*targets[~part.aside].tolist()}
        assert part.map.inputs[0].matrix.shape == learned.maps[0].inputs[0].matrix.shape
        assert (part.map.inputs[0].matrix != learned.maps[0].inputs[0].matrix).any()


def test_how_often_people_slip_is_learned(world: dict[str, Any], learned: learning.Learned) -> None:
    clumsy = learning.fit(world["samples"], world["slips"], seed=3)
    assert learned.model.slip < 0.05 < clumsy.model.slip


def test_the_same_searches_and_seed_teach_the_same(
    world: dict[str, Any], learned: learning.Learned
) -> None:
    again = learning.fit(world["samples"], world["past"], seed=3)
    assert again.model == learned.model
    for one, other in zip(again.maps[0].inputs, learned.maps[0].inputs, strict=True):
        assert (one.matrix == other.matrix).all()


def test_an_item_is_mapped_alone_as_among_others(
    world: dict[str, Any], learned: learning.Learned
) -> None:
    vectors = {name: view.vectors for name, view in world["views"].items()}
    together = learned.maps[0].apply(vectors)
    alone = learned.maps[0].apply({name: one[7:8] for name, one in vectors.items()})
    assert alone[0] == pytest.approx(together[7], abs=1e-6)


def test_searches_can_be_taken_apart() -> None:
    observations = Observations.of(
        [
            (4, 1.0, [(True, [1, 2, 3])]),
            (5, 0.5, []),
            (6, 0.5, [(False, [9, 8]), (True, [8])]),
        ]
    )
    last = observations.subset(np.array([False, True, True]))
    assert last.targets.tolist() == [5, 6]
    assert last.searches.tolist() == [1, 1]
    assert last.shown.tolist() == [9, 8, 8]
    assert last.offsets.tolist() == [0, 2, 3]
    assert observations.rows.tolist() == [1, 2, 3, 4, 5, 6, 8, 9]
    numbered = observations.reindexed(observations.rows)
    assert numbered.targets.tolist() == [3, 4, 5]
    assert numbered.shown.tolist() == [0, 1, 2, 7, 6, 6]


def test_all_searches_of_a_target_are_held_aside_together() -> None:
    targets = np.repeat(np.arange(50), 3)
    parts = hold_aside(targets, seed=2)
    assert (np.sum(parts, axis=0) == 1).all()
    assert [part.sum() for part in parts] == [30] * 5
    (tenth,) = hold_aside(np.repeat(np.arange(500), 3), seed=2)
    assert tenth.sum() == 150
    for aside, of in ((parts[0], targets), (tenth, np.repeat(np.arange(500), 3))):
        assert not {*of[aside]} & {*of[~aside]}


def test_progress_is_told_up_to_the_end(world: dict[str, Any]) -> None:
    told: list[tuple[int, int]] = []
    few = world["past"].subset(np.arange(60))
    learning.fit(world["samples"], few, progress=lambda *pair: told.append(pair), rounds=4)
    done = [one for one, _ in told]
    assert done == sorted(done)
    assert {total for _, total in told} == {24}
    assert done[-1] == 24


def test_nothing_cannot_be_learned_from(world: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        learning.fit(world["samples"], world["past"].subset(np.array([], np.int64)))
