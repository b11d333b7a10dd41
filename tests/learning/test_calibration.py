"""What was learned claims what happens."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from seeker import BadInput, Catalog, Session
from seeker.lab.perception import Perception, Sense
from seeker.learning.calibration import Trial, calibrated, page_claims
from seeker.learning.proof import Replayer
from seeker.learning.searches import (
    OpenSearch,
    PastSearch,
    SearchReader,
    given_up,
    read_searches,
)
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


def trial(catalog: Catalog, searches: list[PastSearch]) -> list[Trial]:
    return [Trial(Replayer(catalog), searches, np.ones(len(searches)))]


def claims_of(catalog: Catalog, searches: list[PastSearch], model: Relative) -> tuple[float, float]:
    """What was claimed for pages that are called at least a third, and how often it happened."""
    pages = [one for search in searches for one in page_claims(catalog, search, (model, ["seen"]))]
    said = [(model.grid(["seen"]).claimed(claim), hit) for claim, hit in pages]
    claimed, happened = np.mean([one for one in said if one[0] > 1 / 3], axis=0)
    return float(claimed), float(happened)


SURE = Relative((0.16, 0.08), weights=(0.5, 0.5))
"""A model of less noise than these people have."""


def test_a_model_that_claims_too_much_says_less_and_believes_the_same(
    past: tuple[Catalog, list[PastSearch]],
) -> None:
    catalog, searches = past
    learned, others = searches[::2], searches[1::2]
    found = calibrated(SURE, ["seen"], trial(catalog, learned))
    assert replace(found, claims=(0.0, 1.0)) == SURE
    claimed, happened = claims_of(catalog, others, SURE)
    assert claimed > happened + 0.1
    now, then = claims_of(catalog, others, found)
    assert abs(now - then) < 0.75 * (claimed - happened)


def test_a_model_that_claims_too_little_says_more(
    past: tuple[Catalog, list[PastSearch]],
) -> None:
    catalog, searches = past
    modest, some = Relative((0.9,), weights=(1.0,)), searches[:40]
    surer = calibrated(modest, ["seen"], trial(catalog, some)).grid(["seen"])
    pages = [one for search in some for one in page_claims(catalog, search, (modest, ["seen"]))]
    claims, hits = zip(*pages, strict=True)
    assert 2 * sum(claims) < sum(hits)
    assert sum(map(surer.claimed, claims)) == pytest.approx(sum(hits), rel=0.2)
    assert calibrated(modest, ["seen"], trial(catalog, [])) == modest


def test_few_searches_change_less_than_many_that_say_the_same(
    past: tuple[Catalog, list[PastSearch]],
) -> None:
    catalog, searches = past
    some = searches[:10]
    few = calibrated(SURE, ["seen"], trial(catalog, some))
    many = calibrated(SURE, ["seen"], trial(catalog, 10 * some))
    assert 0.0 > few.claims[0] > many.claims[0]
    apart = [one for search in some for one in trial(catalog, 10 * [search])]
    assert calibrated(SURE, ["seen"], apart) == many


def test_pages_of_searches_that_were_given_up_are_pages_on_which_it_was_not(
    past: tuple[Catalog, list[PastSearch]],
) -> None:
    catalog, searches = past
    search = max(searches, key=lambda one: len(one.clicks))
    given = OpenSearch(search.clicks)
    told = list(page_claims(catalog, given, (SURE, ["seen"])))
    assert len(told) == sum(click.liked for click in search.clicks) - 1
    assert not any(hit for _, hit in told)
    session, shown = catalog.session(SURE, page_size=12), set[str]()
    for click in search.clicks:
        if click.liked and shown:  # the first click of its page
            shares = dict(zip(catalog.ids, np.exp(session.belief.log_posterior), strict=True))
            rest = sum(share for id, share in shares.items() if id not in shown)
            claim, _ = told.pop(0)
            assert claim == pytest.approx(sum(shares[id] for id in click.among) / rest)
        session.click(click.item, "like" if click.liked else "dislike", click.among)
        shown |= {*click.among}
    found = trial(catalog, searches[::2])
    more = Trial(Replayer(catalog), [given] * 20, np.ones(20))
    sure, less_sure = (calibrated(SURE, ["seen"], one) for one in (found, [*found, more]))
    assert less_sure.grid(["seen"]).claimed(0.3) < sure.grid(["seen"]).claimed(0.3)


def test_of_searches_without_an_end_the_long_ones_count_and_no_more_than_a_third(
    past: tuple[Catalog, list[PastSearch]],
) -> None:
    _, searches = past
    long = OpenSearch(max((one.clicks for one in searches), key=len))
    short = OpenSearch(long.clicks[:1])
    chosen, weights = given_up(searches[:30], [short] * 50 + [long] * 4)
    assert chosen == [long] * 4
    assert len({*weights.tolist()}) == 1
    chosen, _ = given_up(searches[:30], [long] * 50)
    assert chosen == [long] * 10
    chosen, _ = given_up(searches[:30], [long] * 20, share=0.25)
    assert chosen == [long] * 5, "as many of these as of the found ones"
    one = replace(long, user="one")
    chosen, weights = given_up([*searches[:1]] * 90, [one] * 29 + [long])
    assert len(chosen) == 30
    assert weights[:29].sum() < 15 * weights[29], "one person counts for ten searches at most"
    assert given_up([], [long])[0] == []


def test_claims_are_of_the_best_that_were_not_seen_before_every_page(
    past: tuple[Catalog, list[PastSearch]],
) -> None:
    catalog, searches = past
    model, lengths = Choice(), []
    for search in searches:
        told = list(page_claims(catalog, search, (model, ["seen"]), size=5))
        session, expected = catalog.session(model), list[tuple[float, bool]]()
        seen: set[str] = set()
        for click in search.clicks:
            if search.target in seen:
                break
            session.click(click.item, "like" if click.liked else "dislike", click.among)
            seen |= {*click.among}
            if not click.liked:  # the last click of its page
                shares = dict(zip(catalog.ids, np.exp(session.belief.log_posterior), strict=True))
                left = sorted((id for id in shares if id not in seen), key=lambda id: -shares[id])
                claimed = sum(shares[id] for id in left[:5]) / sum(shares[id] for id in left)
                expected.append((claimed, search.target in left[:5]))
                seen |= {*left[:5]}
        np.testing.assert_allclose(np.array(told, float), np.array(expected, float), rtol=1e-9)
        lengths.append(len(told))
        assert not any(hit for _, hit in told[:-1]), "a search is over once it is found"
    assert max(lengths) > 3


def test_a_session_says_of_a_page_what_was_learned_and_shows_the_same_pages() -> None:
    rng = np.random.default_rng(1)
    catalog = Catalog.from_arrays([f"{n}" for n in range(60)], {"seen": rng.normal(size=(60, 4))})
    plain, modest = SURE, replace(SURE, claims=(-0.5, 0.7))
    sessions = [catalog.session(model, seed=3) for model in (plain, modest)]
    for _ in range(3):
        usual, other = (session.belief for session in sessions)
        assert [one.page().ids for one in sessions[1:]] == [sessions[0].page().ids]
        assert (usual.log_posterior == other.log_posterior).all()
        odds = -0.5 + 0.7 * np.log(usual.on_page / (1 - usual.on_page))
        assert other.on_page == pytest.approx(1 / (1 + np.exp(-odds)))
        for session in sessions:
            session.like(session.page().ids[0])
    written = [json.loads(one.to_json())["events"][0]["model"] for one in sessions]
    assert "claims" not in written[0], "what was written before stays as it was"
    assert written[1]["claims"] == [-0.5, 0.7]
    again = Session.from_json(catalog, sessions[1].to_json())
    assert again.belief.on_page == sessions[1].belief.on_page


@pytest.mark.parametrize(
    "claims", [(0.0,), (0.0, 1.0, 2.0), (float("nan"), 1.0), (0.0, -1.0), (99.0, 1.0), "ab", None]
)
def test_claims_are_two_numbers(claims: Any) -> None:
    with pytest.raises(BadInput, match="claims"):
        Relative(claims=claims)


def test_claims_near_nothing_and_near_certainty_can_be_said() -> None:
    grid = Relative((0.2,), weights=(1.0,), claims=(-19.0, 19.0)).grid(["seen"])
    assert [grid.claimed(one) for one in (0.0, 1e-300, 1.0)] == pytest.approx([0.0, 0.0, 1.0])
    assert 0.0 < grid.claimed(0.999) <= 1.0
