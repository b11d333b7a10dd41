"""Large catalogs keep only bounds, and work over all items can be stopped: pages stay the same."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seeker import Catalog, display
from seeker.display.ranking import SHORTLIST_SHARE
from seeker.models import Bipartite, Choice, Pairwise, Relative
from support.catalogs import random_catalog
from support.events import do, events
from support.formulas import twin
from support.limits import limited

MODELS = [
    Choice(),
    Choice(sigmas=(0.2, 0.1), slip=0.0),
    Relative(),
    Pairwise(10.0),
    Bipartite(),
]
STRATEGIES = [
    display.Boltzmann(),
    display.Boltzmann(c=2.0),
    display.Greedy(),
    display.Diverse(),
    display.Informative(),
    display.CorrelatedBoltzmann(),
    display.CorrelatedBoltzmann(c=2.0, correlation=1.0, reach=0.01),
]


SMALL_PARTS: dict[str, int] = {"part_items": 700, "sorted_items": 16}
BOUNDS_ONLY: dict[str, int] = {"session_bytes": 0, **SMALL_PARTS}
"""As if small catalogs were large: bounds only, in many parts, sorted by bounds."""


@given(events, st.sampled_from(MODELS), st.sampled_from(STRATEGIES), st.integers(0, 2**70))
def test_bounds_alone_give_the_pages_of_exact_sums(
    happened: list[tuple[str, int]], model: Any, strategy: display.Strategy, seed: int
) -> None:
    catalog = _catalog()
    exact = catalog.session(model=model, strategy=strategy, seed=seed)
    sparing = limited(catalog, **BOUNDS_ONLY).session(model=model, strategy=strategy, seed=seed)
    for what, choice in happened:
        for session in (exact, sparing):
            do(session, what, choice)
        assert exact.page() == sparing.page()
    np.testing.assert_array_equal(exact.belief.log_posterior, sparing.belief.log_posterior)
    np.testing.assert_allclose(exact.belief.settings, sparing.belief.settings, atol=1e-9)


@cache
def _catalog() -> Catalog:
    return random_catalog(3000, dims=(24, 9))


def test_a_session_of_bounds_is_light_and_right() -> None:
    catalog = limited(random_catalog(600), **BOUNDS_ONLY)
    session = catalog.session(seed=2)
    for step in range(5):
        shown = session.page().ids
        (session.dislike if step % 2 else session.like)(shown[step], shown=shown)
        session.refresh()
    assert session.nbytes <= 600 * (4 + 5) + (600 // SHORTLIST_SHARE) * 16
    np.testing.assert_allclose(session.belief.log_posterior, twin(session), rtol=0, atol=1e-4)


@pytest.mark.parametrize("limits", [BOUNDS_ONLY, SMALL_PARTS], ids=["bounds", "sums"])
@pytest.mark.parametrize("model", MODELS[::2], ids=lambda model: model.name)
def test_work_that_was_stopped_half_way_changes_no_page(limits: dict[str, int], model: Any) -> None:
    catalog = limited(random_catalog(5000), **limits)
    stopped, other = (catalog.session(model=model, seed=9) for _ in range(2))
    for step in range(9):
        shown = stopped.page().ids
        for session in (stopped, other):
            if step == 6:
                session.undo(2)
            else:
                (session.dislike if step % 3 else session.like)(shown[step], shown=shown)
        parts = itertools.count()
        assert stopped.prepare(lambda parts=parts, step=step: next(parts) >= step % 5) is None  # type: ignore[misc]
        assert other.prepare() is other.belief
        assert stopped.page() == other.page()
        assert stopped.more(0, 300) == other.more(0, 300)
    assert stopped.prepare() is not None
    np.testing.assert_array_equal(stopped.belief.log_posterior, other.belief.log_posterior)
    assert stopped.belief.views == other.belief.views


def test_a_belief_of_many_items_is_not_kept_longer_than_it_is_used() -> None:
    session = limited(random_catalog(300), cached_belief_items=100).session()
    first = session.belief
    assert session.belief is first
    entropy = first.entropy
    del first
    assert session.belief.entropy == entropy
