"""The lab's figures of merit, on searches whose answers can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from seeker.errors import BadInput
from seeker.lab.compare import compare, compare_all, holm, mcnemar, sign_flip
from seeker.lab.metrics import (
    Estimate,
    bootstrap,
    calibration,
    leader_board,
    log_rank_area,
    recall,
    recall_area,
    steps_to,
    wilson,
)
from seeker.lab.outcomes import Outcomes
from seeker.lab.paper import Claim


def searches(
    ranks: list[list[float]],
    found: list[int | None],
    method: str = "a",
    claims: list[list[float]] | None = None,
    person: str = "one",
) -> Outcomes:
    """Make searches from normalised ranks (with the final one) and pages of finding, from 1."""
    count, pages = len(ranks), len(ranks[0]) - 1
    hits = np.zeros((count, pages), bool)
    for row, page in enumerate(found):
        if page is not None:
            hits[row, page - 1] = True
    return Outcomes(
        method=np.array([method] * count, object),
        person=np.array([person] * count, object),
        task=np.array([f"task {n}" for n in range(count)], object),
        found=np.asarray(hits.any(axis=1)),
        steps=np.array([pages if page is None else page for page in found]),
        ranks=np.array(ranks),
        claims=np.full((count, pages), np.nan) if claims is None else np.array(claims),
        hits=hits,
        milliseconds=np.ones(count),
    )


def together(*parts: Outcomes) -> Outcomes:
    return Outcomes(
        **{name: np.concatenate([vars(part)[name] for part in parts]) for name in vars(parts[0])}
    )


def test_recall_counts_the_best_rank_of_every_search() -> None:
    two = searches([[0.5, 0.02, 0.3], [0.5, 0.4, 0.08]], [None, None])
    assert recall(two, np.array([0.01, 0.02, 0.05, 0.1])).tolist() == [0.0, 0.5, 0.5, 1.0]


def test_the_area_under_recall_is_its_integral() -> None:
    two = searches([[0.5, 0.02, 0.3], [0.5, 0.4, 0.08]], [None, None])
    rhos = np.linspace(0.0, 0.1, 100_001)
    assert recall_area(two) == pytest.approx(recall(two, rhos).mean(), abs=1e-4)


def test_steps_to_a_rank_counts_judged_pages_and_all_where_it_is_never_reached() -> None:
    three = searches([[0.05, 0.5, 0.5], [0.5, 0.5, 0.05], [0.5, 0.5, 0.5]], [None] * 3)
    assert steps_to(three, 0.1).tolist() == [0.0, 2.0, 2.0]
    assert steps_to(three, 0.01).tolist() == [2.0, 2.0, 2.0]


def test_the_log_rank_area_is_lower_for_who_gets_near_sooner() -> None:
    soon = searches([[0.5, 0.01, 0.01]], [None])
    late = searches([[0.5, 0.5, 0.01]], [None])
    assert log_rank_area(soon) < log_rank_area(late)


def test_the_bootstrap_covers_the_true_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    inside = 0
    for draw in range(200):
        estimate = bootstrap(rng.random(60) < 0.7, seed=draw)
        inside += estimate.low <= 0.7 <= estimate.high
    assert 175 <= inside <= 200


def test_a_bootstrap_of_another_statistic_stays_near_it() -> None:
    estimate = bootstrap(np.arange(101.0), lambda values: float(np.median(values)))
    assert estimate.value == 50.0
    assert estimate.low < 50.0 < estimate.high


def test_the_interval_of_a_perfect_score_is_not_of_zero_width() -> None:
    low, high = wilson(20, 20)
    assert 0.8 < low < 0.9
    assert high == 1.0


def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(5, 5) == 1.0
    assert mcnemar(0, 6) == pytest.approx(2 / 64)
    assert mcnemar(6, 0) == mcnemar(0, 6)


def test_sign_flips_see_a_difference_and_do_not_invent_one() -> None:
    rng = np.random.default_rng(0)
    assert sign_flip(rng.normal(1.0, 1.0, 50)) < 0.001
    false_alarms = sum(sign_flip(rng.normal(0.0, 1.0, 20), seed) < 0.05 for seed in range(100))
    assert false_alarms <= 12
    assert sign_flip(np.zeros(9)) == 1.0


def test_holm_multiplies_by_the_number_of_tests_still_open() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.9]) == [1.0, 1.0]


def test_comparisons_pair_the_same_targets() -> None:
    ours = searches([[0.5, 0.1, 0.1]] * 12, [1] * 12, "ours")
    theirs = searches([[0.5, 0.5, 0.5]] * 12, [None] * 12, "theirs")
    one = compare(together(ours, theirs), "ours", "theirs", "one")
    assert (one.pairs, one.only_ours, one.only_theirs, one.steps_saved) == (12, 12, 0, 1.0)
    verdicts = {
        c.theirs: c.verdict for c in compare_all(together(ours, theirs), "ours", ["theirs"])
    }
    assert verdicts == {"theirs": "better"}
    assert compare_all(together(ours, theirs), "theirs", ["ours"])[0].verdict == "worse"
    assert compare_all(together(ours, theirs), "ours", ["ours"])[0].verdict == "tie"


def test_comparing_methods_without_a_common_target_is_refused() -> None:
    ours, theirs = searches([[0.5, 0.1]], [1], "ours"), searches([[0.5, 0.1]], [1], "theirs")
    theirs.task[0] = "another"
    with pytest.raises(BadInput, match="no target in common"):
        compare(together(ours, theirs), "ours", "theirs", "one")


def test_calibration_is_the_mean_gap_between_claim_and_event() -> None:
    made = searches([[0.5] * 3] * 4, [1, 1, 1, None], claims=[[0.85, np.nan]] * 3 + [[0.85, 0.25]])
    bins, error = calibration(made)
    assert [(one.pages, one.happened) for one in bins] == [(1, 0.0), (4, 0.75)]
    assert error == pytest.approx((0.25 * 1 + 0.1 * 4) / 5)


def test_calibration_of_a_method_that_claims_nothing_is_unknown() -> None:
    bins, error = calibration(searches([[0.5, 0.5]], [None]))
    assert bins == []
    assert np.isnan(error)


def test_the_leader_board_counts_every_person_alike_and_names_the_worst_served() -> None:
    good = searches([[0.5, 0.005, 0.005]] * 30, [1] * 30, "good")
    half = searches([[0.5, 0.5, 0.5]] * 10, [None] * 10, "good", person="other")
    poor = searches([[0.5, 0.5, 0.5]] * 10, [None] * 10, "poor")
    board = leader_board(together(good, half, poor))
    assert [line.method for line in board] == ["good", "poor"]
    assert board[0].found.value == pytest.approx(0.5)
    assert board[0].worst_person == "other"
    assert board[0].recall_1 == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("value", "p", "verdict"),
    [(0.2, 0.04, "holds"), (-0.2, 0.04, "does not hold"), (0.2, 0.05, "not decided")],
)
def test_a_claim_of_more_holds_only_where_chance_is_unlikely(
    value: float, p: float, verdict: str
) -> None:
    made = Claim.larger("More.", Estimate(value, value - 0.1, value + 0.1), p, "steps")
    assert made.verdict == verdict
    assert made.figures.startswith(f"{value:+.3f} steps (")


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.04, 0.04, "holds"),
        (0.01, 0.04, "holds"),
        (0.01, 0.06, "does not hold"),
        (-0.04, 0.06, "not decided"),
    ],
)
def test_a_claim_of_likeness_holds_where_the_whole_interval_is_near_zero(
    low: float, high: float, verdict: str
) -> None:
    assert Claim.alike("Alike.", Estimate((low + high) / 2, low, high)).verdict == verdict
