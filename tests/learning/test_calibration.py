"""What was learned claims what happens."""

from __future__ import annotations

import numpy as np
import pytest

from seeker import Catalog
from seeker.lab.perception import Perception, Sense
from seeker.learning.calibration import calibrated, page_claims
from seeker.learning.proof import Replayer
from seeker.learning.searches import PastSearch, SearchReader, read_searches
from seeker.models import Choice, Relative
from support.searches import found_searches


@pytest.fixture(scope="module")
def past() -> tuple[Catalog, list[PastSearch]]:
    """Searches in a catalog that people see as it is, but for much noise."""
    vectors = np.random.default_rng(0).normal(size=(400, 5))
    catalog = Catalog.from_arrays([f"{n}" for n in range(400)], {"seen": vectors})
    eyes = Perception([Sense("seen", vectors)], noise=0.5)
    lines = list(found_searches(catalog, eyes, range(0, 400, 4)))
    read: SearchReader = read_searches(catalog, "past", lines)
    return catalog, [one for one in read.searches if one.clicks]


def claims_of(catalog: Catalog, searches: list[PastSearch], model: Choice) -> tuple[float, float]:
    """What was claimed, and how often it happened, on an average over pages."""
    every = [one for search in searches for one in page_claims(catalog, search, (model, ["seen"]))]
    claimed, happened = np.mean(every, axis=0)
    return float(claimed), float(happened)


def test_a_model_that_claims_too_much_becomes_less_sure(
    past: tuple[Catalog, list[PastSearch]],
) -> None:
    catalog, searches = past
    model = Relative((0.16, 0.08), weights=(0.5, 0.5))
    learned, others = searches[::2], searches[1::2]
    found = calibrated(model, ["seen"], Replayer(catalog), learned, np.ones(len(learned)))
    assert found.sigmas[0] > model.sigmas[0]
    assert found.sigmas[0] == 2 * found.sigmas[1]
    claimed, happened = claims_of(catalog, others, model)
    assert claimed > happened
    now, then = claims_of(catalog, others, found)
    assert abs(now - then) < 0.75 * (claimed - happened)


def test_a_model_that_claims_too_little_becomes_somewhat_surer(
    past: tuple[Catalog, list[PastSearch]],
) -> None:
    catalog, searches = past
    modest, some = Relative((0.9,), weights=(1.0,)), searches[:20]
    claimed, happened = claims_of(catalog, some, modest)
    assert claimed < 0.5 * happened
    surer = calibrated(modest, ["seen"], Replayer(catalog), some, np.ones(20))
    assert list(surer.sigmas) == pytest.approx([0.75 * 0.9])
    assert calibrated(modest, ["seen"], Replayer(catalog), [], np.ones(0)) == modest


def test_claims_are_of_the_best_that_were_not_seen_before_every_page(
    past: tuple[Catalog, list[PastSearch]],
) -> None:
    catalog, searches = past
    model, search = Choice(), max(searches, key=lambda one: len(one.clicks))
    told = list(page_claims(catalog, search, (model, ["seen"]), size=5))
    session, expected = catalog.session(model, page_size=5, strategy="greedy"), []
    pages = [click.among for click in search.clicks if click.liked]
    for click in search.clicks:
        session.click(click.item, "like" if click.liked else "dislike", click.among)
        if not click.liked:
            expected.append((session.belief.on_page, search.target in session.page().ids))
    assert len(pages) == len(expected)
    np.testing.assert_allclose(np.array(told, float), np.array(expected, float), rtol=1e-9)
