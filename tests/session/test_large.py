"""Large catalogs keep only bounds, and work over all items can be stopped: pages stay the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seeker import Catalog, Session, display
from seeker.display.topk import SHORTLIST_SHARE
from seeker.models import Bipartite, Choice, Pairwise, Relative, accumulators, scores
from support.catalogs import random_catalog
from support.events import do, events
from support.formulas import twin

MODELS = [
    Choice(),
    Choice(sigmas=(0.2, 0.1), slip=0.0),
    Relative(),
    Pairwise(10.0),
    Bipartite(),
]
STRATEGIES = [display.Boltzmann(), display.Boltzmann(c=2.0), display.Greedy(), display.Diverse()]


@pytest.fixture
def sparing() -> Iterator[None]:
    """Treat small catalogs as if they were large: bounds only, in many parts, sorted by bounds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scores, "MEMORY", 0)
        _small_parts(patch)
        yield


def _small_parts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(accumulators, "PART_ITEMS", 700)
    patch.setattr(scores, "PART_ITEMS", 700)
    patch.setattr("seeker.display.topk.SORTED_ITEMS", 16)


@given(events, st.sampled_from(MODELS), st.sampled_from(STRATEGIES), st.integers(0, 2**70))
def test_bounds_alone_give_the_pages_of_exact_sums(
    happened: list[tuple[str, int]], model: Any, strategy: display.Strategy, seed: int
) -> None:
    catalog = _catalog()
    exact = catalog.session(model=model, strategy=strategy, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scores, "MEMORY", 0)
        _small_parts(patch)
        sparing = catalog.session(model=model, strategy=strategy, seed=seed)
        pages = []
        for what, choice in happened:
            do(sparing, what, choice)
            pages.append(sparing.page())
        logs, settings = sparing.belief.log_posterior, sparing.belief.settings
    for (what, choice), page in zip(happened, pages, strict=True):
        do(exact, what, choice)
        assert exact.page() == page
    np.testing.assert_array_equal(exact.belief.log_posterior, logs)
    np.testing.assert_allclose(exact.belief.settings, settings, atol=1e-9)


@cache
def _catalog() -> Catalog:
    return random_catalog(3000, dims=(24, 9))


@pytest.mark.usefixtures("sparing")
def test_a_session_of_bounds_is_light_and_right() -> None:
    catalog = random_catalog(600)
    session = catalog.session(seed=2)
    for step in range(5):
        shown = session.page().ids
        (session.dislike if step % 2 else session.like)(shown[step], shown=shown)
        session.refresh()
    assert session.nbytes <= 600 * (4 + 5) + (600 // SHORTLIST_SHARE) * 16
    np.testing.assert_allclose(session.belief.log_posterior, twin(session), rtol=0, atol=1e-4)


@pytest.mark.parametrize("memory", [0, scores.MEMORY], ids=["bounds", "sums"])
@pytest.mark.parametrize("model", MODELS[::2], ids=lambda model: model.name)
def test_work_that_was_stopped_half_way_changes_no_page(
    memory: int, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = random_catalog(5000)
    _small_parts(monkeypatch)
    monkeypatch.setattr(scores, "MEMORY", memory)
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


def test_a_belief_of_many_items_is_not_kept_longer_than_it_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("seeker.session.local_finder.CACHED_BELIEF_ITEMS", 100)
    session: Session = random_catalog(300).session()
    first = session.belief
    assert session.belief is first
    entropy = first.entropy
    del first
    assert session.belief.entropy == entropy
