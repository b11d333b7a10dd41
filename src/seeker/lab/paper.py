"""The paper's experiment again, and what became of its claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seeker.lab.compare import shuffled, sign_flip
from seeker.lab.metrics import Estimate, bootstrap, steps_to
from seeker.lab.outcomes import Outcomes
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


def claims_of_people(outcomes: Outcomes, model: str) -> list[Claim]:
    """Hold the paper's claims against the searches by one model."""
    by = {name: outcomes.of(f"{model} + {name}") for name in STRATEGIES}
    others = STRATEGIES[1:]

    def claim(words: str, better: str, worse: str, values: _Values, unit: str) -> Claim:
        return _claim_of_people(words, by[better], by[worse], values, unit)

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


def _claim_of_people(
    words: str, one: Outcomes, other: Outcomes, values: _Values, unit: str
) -> Claim:
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


ITEMS, TARGETS, PAGE, PAGES = 2228, 90, 12, 15
"""N, sessions per strategy (the paper had 358 in all, about 90 each), M and K."""

LOW, HIGH = (0.005, 0.01, 0.02), (0.08, 0.09, 0.1)
"""What is called a low and a high cutoff of ρ."""

CUTOFFS = np.linspace(0.005, 0.1, 20)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, whether it holds here, and by which figures."""

    words: str
    verdict: str
    figures: str

    @classmethod
    def larger(cls, words: str, estimate: Estimate, p: float, unit: str) -> Claim:
        """Judge the claim that a difference is above zero, by its p-value."""
        verdict = "not decided"
        if p < 0.05:
            verdict = "holds" if estimate.value > 0 else "does not hold"
        return cls(words, verdict, f"{_told(estimate, unit)}, p = {p:.3g}")

    @classmethod
    def alike(cls, words: str, estimate: Estimate) -> Claim:
        """Judge the claim that two are within 0.05 of each other on average, by the interval."""
        within = estimate.low > -0.05 and estimate.high < 0.05
        apart = estimate.low > 0 or estimate.high < 0
        verdict = "holds" if within else "does not hold" if apart else "not decided"
        return cls(words, verdict, _told(estimate, "of recall"))


def _told(estimate: Estimate, unit: str) -> str:
    return f"{estimate.value:+.3f} {unit} ({estimate.low:+.3f} to {estimate.high:+.3f})"


def claims(outcomes: Outcomes) -> list[Claim]:
    """Hold the paper's claims against the sessions of its four strategies."""
    by = {name: _sorted(outcomes.of(f"paper, {name}")) for name in _NAMES}
    area = {name: recall_shares(one, CUTOFFS) for name, one in by.items()}
    time = {name: steps_taken(one, CUTOFFS) for name, one in by.items()}
    others = [name for name in _NAMES if name != "Boltzmann"]
    made = [
        _claim(f"Recall: Boltzmann above {name}.", area["Boltzmann"] - area[name], "of recall")
        for name in others
    ]
    made += [
        _claim(f"Steps: Boltzmann faster than {name}.", time[name] - time["Boltzmann"], "steps")
        for name in others
    ]
    made.append(
        Claim.alike(
            "Noiseless and epsilon-greedy perform alike.",
            bootstrap(area["noiseless"] - area["epsilon-greedy"]),
        )
    )
    for name in ("noiseless", "epsilon-greedy"):
        low = recall_shares(by[name], LOW) - recall_shares(by["random"], LOW)
        high = recall_shares(by[name], HIGH) - recall_shares(by["random"], HIGH)
        made.append(_claim(f"Recall at low ρ: {name} above random.", low, "of recall"))
        made.append(
            _claim(f"Random catches up with {name} at higher ρ.", low - high, "of the lead")
        )
        early = steps_taken(by["random"], LOW) - steps_taken(by[name], LOW)
        late = steps_taken(by["random"], HIGH) - steps_taken(by[name], HIGH)
        made.append(_claim(f"Steps: {name} surpasses random.", early + late, "steps", 2.0))
        made.append(
            _claim(f"Its lead in steps over random shrinks with ρ ({name}).", early - late, "steps")
        )
    return made


_NAMES = ("random", "noiseless", "epsilon-greedy", "Boltzmann")


def _sorted(one: Outcomes) -> Outcomes:
    """Return the sessions in the order of their targets, so that strategies can be paired."""
    order = np.argsort(one.task.astype(str), kind="stable")
    return Outcomes(**{name: array[order] for name, array in vars(one).items()})


def recall_shares(one: Outcomes, rhos: Doubles | tuple[float, ...]) -> Doubles:
    """Return for every session at what share of the cutoffs its target was found, (sessions,)."""
    return np.asarray((one.best[:, None] <= np.asarray(rhos)).mean(axis=1), np.float64)


def steps_taken(one: Outcomes, rhos: Doubles | tuple[float, ...]) -> Doubles:
    """Return the mean steps over the cutoffs for every session, (sessions,)."""
    return np.asarray(np.mean([steps_to(one, float(rho)) for rho in rhos], axis=0))


def _claim(words: str, differences: Doubles, unit: str, parts: float = 1.0) -> Claim:
    """Judge the claim that a paired difference is above zero."""
    return Claim.larger(words, bootstrap(differences / parts), sign_flip(differences), unit)
