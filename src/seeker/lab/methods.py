"""The methods that are compared, by the names under which they are reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seeker import display, models
from seeker.errors import BadInput, NotFound
from seeker.lab.baselines import BASELINES, Searcher, Seeker
from seeker.session.start import Repeat

OURS = "Seeker"
"""The engine as it comes, with all its defaults."""

STRATEGIES: dict[str, display.Strategy] = {
    "random": display.Random(),
    "noiseless": display.Greedy(first="ranked"),
    "epsilon-greedy": display.EpsilonGreedy(0.1, first="ranked"),
    "Boltzmann": display.Boltzmann(first="ranked"),
}
"""The paper's four strategies."""

PAPER: dict[str, Searcher] = {
    f"paper, {name}": Seeker(models.Pairwise(alpha=1.0, scale="raw"), strategy, "always")
    for name, strategy in STRATEGIES.items()
}
"""The paper's own experiment: α = 1 on raw distances, g = log P, items may come again."""

_REPEATS: dict[str, Repeat] = {"again": "always", "once": "never"}

PAPER_LEARNED: dict[str, Seeker] = {
    f"{name}, {how}": Seeker(strategy=strategy, repeat=repeat)
    for how, repeat in _REPEATS.items()
    for name, strategy in STRATEGIES.items()
}
"""The paper's strategies for a model that learns: items may come again, as there, or once only."""

_SCALED: dict[str, display.Strategy] = {
    "random": display.Random(),
    "noiseless": display.Greedy(),
    "epsilon-greedy": display.EpsilonGreedy(0.1),
    "Boltzmann": display.Boltzmann(),
}

SCALED: dict[str, Searcher] = {
    f"{kind}, {name}": Seeker(model, strategy)
    for kind, model in (
        ("pairwise", models.Pairwise(alpha=10.0)),
        ("bipartite", models.Bipartite(alpha1=10.0, alpha2=10.0)),
    )
    for name, strategy in _SCALED.items()
}
"""The paper's models at their best: unit-scaled distances, nothing shown twice."""

BOARD: dict[str, Searcher] = {OURS: Seeker(), **{method.name: method for method in BASELINES}}
ALL: dict[str, Searcher] = {**BOARD, **SCALED, **PAPER}
SETS: dict[str, dict[str, Searcher]] = {
    "ours": {OURS: Seeker()},
    "board": BOARD,
    "scaled": SCALED,
    "paper": PAPER,
    "all": ALL,
}
"""Sets of methods by name; what is added here can be chosen, too."""


def choose_methods(names: Sequence[str]) -> dict[str, Searcher]:
    """Return methods by their names or by the names of sets of them."""
    by_name = {name: method for methods in SETS.values() for name, method in methods.items()}
    chosen: dict[str, Searcher] = {}
    for name in names:
        if name in SETS:
            chosen |= SETS[name]
        elif name in by_name:
            chosen[name] = by_name[name]
        else:
            raise NotFound(f"There is no method {name!r}.", f"Use {[*SETS]} or {[*by_name]}.")
    return chosen


def learning_methods(methods: Mapping[str, Searcher], attributes: bool) -> dict[str, Seeker]:
    """Return methods that search with what was learned, by name; others are refused.

    attributes: whether the view of the table is there, which the names tell.
    """
    learning = {
        f"{name} with attributes" if attributes else name: method
        for name, method in methods.items()
        if isinstance(method, Seeker) and method.model == models.named(models.DEFAULT)
    }
    if len(learning) < len(methods):
        other = next(name for name, method in methods.items() if method not in learning.values())
        raise BadInput(
            f"{other} does not search with what was learned.",
            "Evaluate it without --learn-from; with it, name Seeker or another strategy of it.",
        )
    return learning
