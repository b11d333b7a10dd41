"""The paper's experiment again: what became of its claims, in simulated runs and in studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from seeker.lab.compare import permutation_test, sign_flip
from seeker.lab.metrics import Estimate, bootstrap, steps_to
from seeker.lab.outcomes import Outcomes
from seeker.types import Array, Doubles

ITEMS, TARGETS, PAGE, PAGES = 2228, 90, 12, 15
"""N, searches per strategy (the paper had 358 in all, about 90 each), M and K."""

LOW, HIGH = (0.005, 0.01, 0.02), (0.08, 0.09, 0.1)
"""What is called a low and a high cutoff of ρ."""

CUTOFFS = tuple(np.linspace(0.005, 0.1, 20).tolist())

_SIMULATED_NAMES = ("Boltzmann", "random", "noiseless", "epsilon-greedy")
_STUDY_NAMES = ("boltzmann", "greedy", "epsilon", "random")
"""The paper's four strategies; its noiseless is our greedy, its greedy our epsilon."""

_BOOTSTRAP_DRAWS = 2000

_Measure = Callable[[Outcomes], Doubles]
"""A figure of every search, (searches,)."""

_Test = Callable[[Outcomes, Outcomes, _Measure], tuple[Estimate, float]]
"""Compares a figure of two strategies: by how much the first is larger, and its p-value."""


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
        return cls(words, verdict, f"{_with_interval(estimate, unit)}, p = {p:.3g}")

    @classmethod
    def alike(cls, words: str, estimate: Estimate) -> Claim:
        """Judge the claim that two are within 0.05 of each other on average, by the interval."""
        within = estimate.low > -0.05 and estimate.high < 0.05
        apart = estimate.low > 0 or estimate.high < 0
        verdict = "holds" if within else "does not hold" if apart else "not decided"
        return cls(words, verdict, _with_interval(estimate, "of recall"))


def strategy_sets(outcomes: Outcomes) -> list[str]:
    """Return what searched by all four strategies: the methods' names with '…' for these."""
    methods = set(outcomes.methods)
    boltzmann = _SIMULATED_NAMES[0]
    sets = sorted(name.replace(boltzmann, "…") for name in methods if boltzmann in name)
    return [one for one in sets if {one.replace("…", name) for name in _SIMULATED_NAMES} <= methods]


def claims(outcomes: Outcomes, methods: str = "paper, …") -> list[Claim]:
    """Hold the paper's claims against simulated searches by its four strategies, paired.

    methods: one of `strategy_sets`.
    """
    by_name = {
        name: _in_task_order(outcomes.of(methods.replace("…", name))) for name in _SIMULATED_NAMES
    }
    return _claims(by_name, "noiseless", "epsilon-greedy", _paired_test)


def study_claims(outcomes: Outcomes, model: str) -> list[Claim]:
    """Hold the paper's claims against the searches of a study by one model, unpaired."""
    by_name = {name: outcomes.of(f"{model} + {name}") for name in _STUDY_NAMES}
    return _claims(by_name, "greedy", "epsilon", _unpaired_test)


def study_models(outcomes: Outcomes) -> list[str]:
    """Return the models with which participants of a study searched by all four strategies."""
    methods = set(outcomes.methods) if outcomes.from_study else set()
    names = sorted({method.partition(" + ")[0] for method in methods})
    return [name for name in names if {f"{name} + {one}" for one in _STUDY_NAMES} <= methods]


def _claims(by_name: Mapping[str, Outcomes], greedy: str, epsilon: str, test: _Test) -> list[Claim]:
    """Judge every claim. by_name: searches by strategy, Boltzmann's first."""

    def larger(words: str, one: Outcomes, other: Outcomes, measure: _Measure, unit: str) -> Claim:
        return Claim.larger(words, *test(one, other, measure), unit)

    (_, boltzmann), *others = by_name.items()
    judged = [
        larger(f"Recall: Boltzmann above {name}.", boltzmann, one, _recall_area, "of recall")
        for name, one in others
    ]
    judged += [
        larger(f"Steps: Boltzmann faster than {name}.", one, boltzmann, _mean_steps, "steps")
        for name, one in others
    ]
    difference, _ = test(by_name[greedy], by_name[epsilon], _recall_area)
    judged.append(Claim.alike(f"{greedy.capitalize()} and {epsilon} perform alike.", difference))
    random = by_name["random"]
    for name in (greedy, epsilon):
        one = by_name[name]
        judged += [
            larger(f"Recall at low ρ: {name} above random.", one, random, _low_recall, "of recall"),
            larger(
                f"Random catches up with {name} at higher ρ.",
                one,
                random,
                lambda some: recall_shares(some, LOW) - recall_shares(some, HIGH),
                "of the lead",
            ),
            larger(
                f"Steps: {name} surpasses random.",
                random,
                one,
                lambda some: (steps_taken(some, LOW) + steps_taken(some, HIGH)) / 2.0,
                "steps",
            ),
            larger(
                f"Its lead in steps over random shrinks with ρ ({name}).",
                random,
                one,
                lambda some: steps_taken(some, LOW) - steps_taken(some, HIGH),
                "steps",
            ),
        ]
    return judged


def recall_shares(outcomes: Outcomes, rhos: tuple[float, ...]) -> Doubles:
    """Return for every search at what share of the cutoffs its target was found, (searches,)."""
    return np.asarray((outcomes.best[:, None] <= np.asarray(rhos)).mean(axis=1), np.float64)


def steps_taken(outcomes: Outcomes, rhos: tuple[float, ...]) -> Doubles:
    """Return the mean steps over the cutoffs for every search, (searches,)."""
    return np.asarray(np.mean([steps_to(outcomes, rho) for rho in rhos], axis=0))


def _recall_area(outcomes: Outcomes) -> Doubles:
    return recall_shares(outcomes, CUTOFFS)


def _low_recall(outcomes: Outcomes) -> Doubles:
    return recall_shares(outcomes, LOW)


def _mean_steps(outcomes: Outcomes) -> Doubles:
    return steps_taken(outcomes, CUTOFFS)


def _in_task_order(outcomes: Outcomes) -> Outcomes:
    """Return the searches in the order of their targets, so that strategies can be paired."""
    order = np.argsort(outcomes.task.astype(str), kind="stable")
    return Outcomes(**{name: array[order] for name, array in vars(outcomes).items()})


def _paired_test(one: Outcomes, other: Outcomes, measure: _Measure) -> tuple[Estimate, float]:
    differences = measure(one) - measure(other)
    return bootstrap(differences), sign_flip(differences)


def _unpaired_test(one: Outcomes, other: Outcomes, measure: _Measure) -> tuple[Estimate, float]:
    left, right = measure(one), measure(other)
    return _difference(left, one.unit, right, other.unit), permutation_test(left, right)


def _difference(one: Doubles, units: Array, other: Doubles, other_units: Array) -> Estimate:
    """Return the difference of two means; the bootstrap redraws participants."""
    people = np.unique(np.concatenate([units, other_units]).astype(str))
    rng = np.random.default_rng(0)
    shares = np.full(len(people), 1.0 / len(people))
    weights = rng.multinomial(len(people), shares, size=_BOOTSTRAP_DRAWS)

    def means(values: Doubles, owners: Array) -> Doubles:
        place = np.searchsorted(people, owners.astype(str))
        sums = np.bincount(place, values, len(people))
        counts = np.bincount(place, minlength=len(people))
        return np.asarray(weights @ sums / np.maximum(weights @ counts, 1e-12))

    draws = means(one, units) - means(other, other_units)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(float(one.mean() - other.mean()), float(low), float(high))


def _with_interval(estimate: Estimate, unit: str) -> str:
    return f"{estimate.value:+.3f} {unit} ({estimate.low:+.3f} to {estimate.high:+.3f})"
