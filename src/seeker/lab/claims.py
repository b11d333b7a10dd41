"""The paper's claims held against people, whose searches cannot be paired."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seeker.lab.compare import shuffled
from seeker.lab.metrics import Estimate
from seeker.lab.outcomes import Outcomes
from seeker.lab.paper import CUTOFFS, HIGH, LOW, Claim, recall_shares, steps_taken
from seeker.types import Array, Doubles

STRATEGIES = ("boltzmann", "greedy", "epsilon", "random")
"""The paper's four; its noiseless is our greedy, its greedy our epsilon."""

_DRAWS = 2000
_Values = Callable[[Outcomes], Doubles]


def models(outcomes: Outcomes) -> list[str]:
    """Return the models with which people searched by all four strategies."""
    there = set(outcomes.methods) if outcomes.human else set()
    named = sorted({method.partition(" + ")[0] for method in there})
    return [name for name in named if {f"{name} + {one}" for one in STRATEGIES} <= there]


def claims(outcomes: Outcomes, model: str) -> list[Claim]:
    """Hold the paper's claims against the searches by one model."""
    by = {name: outcomes.of(f"{model} + {name}") for name in STRATEGIES}
    others = STRATEGIES[1:]

    def claim(words: str, better: str, worse: str, values: _Values, unit: str) -> Claim:
        return _claim(words, by[better], by[worse], values, unit)

    made = [
        claim(f"Recall: Boltzmann above {name}.", "boltzmann", name, _area, "of recall")
        for name in others
    ]
    made += [
        claim(f"Steps: Boltzmann faster than {name}.", name, "boltzmann", _time, "steps")
        for name in others
    ]
    greedy, epsilon = by["greedy"], by["epsilon"]
    apart = _difference(_area(greedy), greedy.unit, _area(epsilon), epsilon.unit)
    made.append(Claim.alike("Greedy and epsilon perform alike.", apart))
    for name in ("greedy", "epsilon"):
        made += [
            claim(f"Recall at low ρ: {name} above random.", name, "random", _low, "of recall"),
            claim(
                f"Random catches up with {name} at higher ρ.",
                name,
                "random",
                lambda one: recall_shares(one, LOW) - recall_shares(one, HIGH),
                "of the lead",
            ),
            claim(
                f"Steps: {name} surpasses random.",
                "random",
                name,
                lambda one: (steps_taken(one, LOW) + steps_taken(one, HIGH)) / 2.0,
                "steps",
            ),
            claim(
                f"Its lead in steps over random shrinks with ρ ({name}).",
                "random",
                name,
                lambda one: steps_taken(one, LOW) - steps_taken(one, HIGH),
                "steps",
            ),
        ]
    return made


def _area(one: Outcomes) -> Doubles:
    return recall_shares(one, CUTOFFS)


def _time(one: Outcomes) -> Doubles:
    return steps_taken(one, CUTOFFS)


def _low(one: Outcomes) -> Doubles:
    return recall_shares(one, LOW)


def _claim(words: str, one: Outcomes, other: Outcomes, values: _Values, unit: str) -> Claim:
    """Judge the claim that the values of one are larger than those of the other."""
    estimate = _difference(values(one), one.unit, values(other), other.unit)
    return Claim.larger(words, estimate, shuffled(values(one), values(other)), unit)


def _difference(one: Doubles, units: Array, other: Doubles, other_units: Array) -> Estimate:
    """Return the difference of two means; the bootstrap redraws participants."""
    people = np.unique(np.concatenate([units, other_units]).astype(str))
    rng = np.random.default_rng(0)
    weights = rng.multinomial(len(people), np.full(len(people), 1.0 / len(people)), size=_DRAWS)

    def means(values: Doubles, owners: Array) -> Doubles:
        place = np.searchsorted(people, owners.astype(str))
        sums = np.bincount(place, values, len(people))
        counts = np.bincount(place, minlength=len(people))
        return np.asarray(weights @ sums / np.maximum(weights @ counts, 1e-12))

    draws = means(one, units) - means(other, other_units)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(float(one.mean() - other.mean()), float(low), float(high))
