"""Paired comparisons of methods on the same targets and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from seeker.errors import BadInput
from seeker.lab.outcomes import Outcomes
from seeker.types import Doubles

_SHUFFLES = 10_000
_SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Comparison:
    """One method against another for one person.

    Simulated people look for the same targets with both. only_ours, only_theirs: targets that
    only one of the two found. found_p: the p-value of McNemar's exact test on these. steps_saved:
    mean pages saved by ours. steps_p: the p-value of a paired sign-flip permutation test on the
    pages. found_lead: by how much ours finds more often. Participants of a study have targets of
    their own, so that nothing is paired: see `compare_unpaired`; pairs, only_ours and only_theirs
    are then all searches, and those that ours and theirs found. adjusted: the smaller of the two
    p-values after Holm's correction for all comparisons and both tests. verdict: 'better',
    'worse' or 'tie' at 5 %.
    """

    person: str
    ours: str
    theirs: str
    pairs: int
    only_ours: int
    only_theirs: int
    found_p: float
    steps_saved: float
    steps_p: float
    found_lead: float
    paired: bool = True
    adjusted: float = 1.0
    verdict: str = "tie"


def compare_all(outcomes: Outcomes, ours: str, others: Sequence[str]) -> list[Comparison]:
    """Compare one method with many, for every person, corrected for the number of tests.

    A comparison counts as decided if either the found rate or the number of pages differs after
    the correction; it is better if what differs is in our favour, and worse if anything that
    differs is not.
    """
    comparisons = [
        compare(outcomes, ours, theirs, person)
        for theirs in others
        for person in outcomes.of(ours).people
        if len(outcomes.of(theirs, person))
    ]
    adjusted = holm([p for one in comparisons for p in (one.found_p, one.steps_p)])
    for place, one in enumerate(comparisons):
        found_p, steps_p = adjusted[2 * place], adjusted[2 * place + 1]
        leads: list[float] = []
        if found_p < _SIGNIFICANT:
            leads.append(one.found_lead)
        if steps_p < _SIGNIFICANT:
            leads.append(one.steps_saved)
        verdict = "tie" if not leads else "better" if min(leads) > 0 else "worse"
        comparisons[place] = replace(one, adjusted=min(found_p, steps_p), verdict=verdict)
    return comparisons


def compare(outcomes: Outcomes, ours: str, theirs: str, person: str) -> Comparison:
    """Compare two methods on the targets that both searched for."""
    one, other = outcomes.of(ours, person), outcomes.of(theirs, person)
    tasks, left, right = np.intersect1d(
        one.task.astype(str), other.task.astype(str), return_indices=True
    )
    if one.from_study and other.from_study:
        return compare_unpaired(one, other, ours, theirs, person)
    if not len(tasks):
        raise BadInput(
            f"'{ours}' and '{theirs}' have no target in common for the person '{person}'."
        )
    found, theirs_found = one.found[left], other.found[right]
    only_ours, only_theirs = int((found & ~theirs_found).sum()), int((~found & theirs_found).sum())
    saved = (other.steps[right] - one.steps[left]).astype(np.float64)
    return Comparison(
        person,
        ours,
        theirs,
        len(tasks),
        only_ours,
        only_theirs,
        mcnemar(only_ours, only_theirs),
        float(saved.mean()),
        sign_flip(saved),
        float(found.mean() - theirs_found.mean()),
    )


def compare_unpaired(
    one: Outcomes, other: Outcomes, ours: str, theirs: str, person: str
) -> Comparison:
    """Compare two methods whose searches have no target in common, as in a study.

    Which method a search got was drawn at random, so if the method did not matter, any way of
    dealing out the methods would have been as likely: Fisher's exact test for the found rate, and
    a permutation test for the pages.
    """
    hits, misses = int(one.found.sum()), int((~one.found).sum())
    their_hits, their_misses = int(other.found.sum()), int((~other.found).sum())
    return Comparison(
        person,
        ours,
        theirs,
        len(one) + len(other),
        hits,
        their_hits,
        fisher(hits, misses, their_hits, their_misses),
        float(other.steps.mean() - one.steps.mean()),
        permutation_test(one.steps.astype(np.float64), other.steps.astype(np.float64)),
        float(one.found.mean() - other.found.mean()),
        paired=False,
    )


def mcnemar(only_ours: int, only_theirs: int) -> float:
    """Return the two-sided p-value of McNemar's exact test."""
    count, fewer = only_ours + only_theirs, min(only_ours, only_theirs)
    ways = sum(comb(count, k) for k in range(fewer + 1))
    return float(min(1.0, 2.0 * (ways / 2**count)))


def sign_flip(differences: Doubles, seed: int = 0) -> float:
    """Return the two-sided p-value of a permutation test that the mean difference is zero."""
    nonzero = differences[differences != 0.0]
    if not len(nonzero):
        return 1.0
    rng = np.random.default_rng(seed)
    signs = rng.integers(0, 2, size=(_SHUFFLES, len(nonzero))) * 2 - 1
    chance = np.abs(signs @ nonzero) >= abs(nonzero.sum()) - 1e-9
    return float((chance.sum() + 1) / (_SHUFFLES + 1))


def fisher(hits: int, misses: int, their_hits: int, their_misses: int) -> float:
    """Return the two-sided p-value of Fisher's exact test on two shares."""
    count, total = hits + misses, hits + misses + their_hits + their_misses
    found = hits + their_hits
    ways = [
        comb(found, k) * comb(total - found, count - k)
        for k in range(max(0, count - (total - found)), min(found, count) + 1)
    ]
    mine = comb(found, hits) * comb(total - found, misses)
    return float(min(1.0, sum(way for way in ways if way <= mine) / sum(ways)))


def permutation_test(one: Doubles, other: Doubles, seed: int = 0) -> float:
    """Return the two-sided p-value of a permutation test that two means are the same."""
    rng = np.random.default_rng(seed)
    both = np.concatenate([one, other])
    difference = abs(one.mean() - other.mean())
    as_far = 0
    for _ in range(_SHUFFLES):
        mixed = rng.permutation(both)
        as_far += abs(mixed[: len(one)].mean() - mixed[len(one) :].mean()) >= difference - 1e-9
    return float((as_far + 1) / (_SHUFFLES + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the order of the p-values."""
    order = np.argsort(p_values, kind="stable")
    adjusted, largest = [0.0] * len(p_values), 0.0
    for place, which in enumerate(order):
        largest = max(largest, min(1.0, p_values[which] * (len(p_values) - place)))
        adjusted[which] = largest
    return adjusted
