"""What is drawn for a study, and what its organiser may fix."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from seeker.engine import Catalogs
from seeker.errors import BadInput
from seeker.study.design import Design, cell_of, parse_cells, seed_of, target_of
from study.parts import design_of


def test_cells_are_balanced_for_any_number_of_people() -> None:
    some = parse_cells(("pairwise", "choice"), ("boltzmann", "greedy", "epsilon", "random"))
    counts: Counter[str] = Counter()
    for person in range(21):
        for trial in range(5):
            counts[cell_of(some, 7, person, trial, 5).method] += 1
        assert max(counts.values()) - min(counts[one.method] for one in some) <= 1
    assert len(counts) == 8


def test_cells_come_in_another_order_each_time() -> None:
    some = parse_cells(("choice",), ("boltzmann", "greedy", "epsilon", "random"))
    orders = {
        tuple(cell_of(some, 0, person, trial, 4) for trial in range(4)) for person in range(20)
    }
    assert len(orders) > 8


def test_targets_are_drawn_evenly_and_never_twice_for_a_person() -> None:
    targets = [[target_of(40, 3, person, trial, 8) for trial in range(8)] for person in range(300)]
    assert all(len(set(mine)) == 8 for mine in targets)
    counts = np.bincount(np.array(targets).ravel(), minlength=40)
    assert counts.min() > 30
    assert counts.max() < 95
    assert targets != [[target_of(40, 4, p, t, 8) for t in range(8)] for p in range(300)]
    assert len({seed_of(0, p, t) for p in range(50) for t in range(8)}) == 400


def test_a_cell_is_what_the_organiser_wrote() -> None:
    one = parse_cells(("pairwise:alpha=10:scale=raw",), ("epsilon:epsilon=0.25",))[0]
    model, strategy, repeat = one.start_settings("unrated")
    assert (model.alpha, model.scale) == (10, "raw")  # type: ignore[attr-defined]
    assert strategy.epsilon == 0.25  # type: ignore[attr-defined]
    assert repeat == "unrated"
    paper = parse_cells(("paper",), ("greedy",))[0]
    model, strategy, repeat = paper.start_settings("never")
    assert (model.alpha, model.scale) == (1.0, "raw")  # type: ignore[attr-defined]
    assert strategy.first == "ranked"  # type: ignore[attr-defined]
    assert repeat == "always"
    assert paper.method == "paper + greedy"


@pytest.mark.parametrize(
    ("some", "strategies"),
    [
        (("nothing",), ("greedy",)),
        (("choice",), ("",)),
        (("choice", "choice"), ("greedy",)),
        (("pairwise:alpha",), ("greedy",)),
        (("pairwise:alpha=much",), ("greedy",)),
        (("pairwise:alpha=[1]",), ("greedy",)),
        (("choice",), ("greedy:first={}",)),
        (("pairwise:gamma=2",), ("greedy",)),
        ((), ("greedy",)),
        (tuple(f"pairwise:alpha={n}" for n in range(1, 34)), ("greedy",)),
    ],
)
def test_cells_that_cannot_be_are_refused(
    some: tuple[str, ...], strategies: tuple[str, ...]
) -> None:
    with pytest.raises(BadInput):
        parse_cells(some, strategies)


@pytest.mark.parametrize(
    "settings",
    [
        {"page_size": 1},
        {"page_size": 200},
        {"page_size": 100, "items": 100},
        {"steps": 0},
        {"trials": 0},
        {"trials": 101},
        {"people": 0},
        {"repeat": "sometimes"},
        {"seed": -1},
    ],
)
def test_designs_have_limits(settings: dict[str, object]) -> None:
    usual: dict[str, object] = {"items": 500, "models": ("choice",), "strategies": ("greedy",)}
    with pytest.raises(BadInput):
        Design("shop", "x", **{**usual, **settings})  # type: ignore[arg-type]


def test_a_design_comes_back_as_it_was(catalogs: Catalogs) -> None:
    design = design_of(catalogs, repeat="always", seed=9)
    assert Design.from_json(design.to_json()) == design
