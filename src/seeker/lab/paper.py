"""The paper's experiment again, and what became of its claims."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seeker.lab.compare import sign_flip
from seeker.lab.metrics import Estimate, bootstrap, steps_to
from seeker.lab.outcomes import Outcomes
from seeker.types import Doubles

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
