"""Our models: a click says that an item is nearer to the target than what else was on screen.

`choice` goes by the difference of distances, `relative` by their ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from seeker.errors import BadInput, short_repr
from seeker.models.base import (
    MIN_LOG_WEIGHT,
    PLAIN_CLAIMS,
    Adder,
    Attraction,
    Evidence,
    Grid,
    Model,
    Term,
    TermValues,
    signs_for,
)
from seeker.models.words import DEFAULT_WORDS
from seeker.registry import LATER
from seeker.types import Array, Doubles
from seeker.validation import check_few_numbers, check_number


class ChoiceTerm(NamedTuple):
    """An item was liked (or disliked) among others; all but `liked` as in `ClickEvidence`."""

    liked: bool
    among: tuple[int, ...]
    times: int = 1
    doubt: float = 0.0


TermAdder: TypeAlias = Callable[[Array, Array], None]
"""add(columns, units): what a signed term says, from columns as `Adder` has them."""


@dataclass(frozen=True)
class Choice(Model):
    """P(like i | t, θ) = (1 − λ) softmax_{k ∈ R}(−D_θ(k, t) / σ_θ)[i] + λ / |R|.

    R are the items on screen that were not judged yet; a dislike is the same with the sign turned.
    slip: λ, the chance of a slip. sigmas: the noise levels averaged over; a ratio of two between
    neighbours is fastest. θ also runs over mixtures of views: each view alone and the even mixture
    of every set of views (of more than four views: each alone, and all). weights: the prior of θ,
    mixtures × sigmas as in `settings`, flattened; or "broad": a mixture counts by the square of
    the number of its views, for people seldom go by one thing alone; or None: all θ count alike.
    """

    name = "choice"
    sigmas: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4, 0.8)
    slip: float = 0.05
    beta: float = 1.0
    weights: tuple[float, ...] | Literal["broad"] | None = "broad"
    words: tuple[float, ...] | Literal["paper"] = DEFAULT_WORDS

    def __post_init__(self) -> None:
        check_number("slip", self.slip, 0.0, below=1.0)
        self.check_text_settings()
        sigmas = sorted(check_few_numbers("sigmas", self.sigmas, 64), reverse=True)
        if not sigmas or len(set(sigmas)) < len(sigmas):
            raise BadInput("sigmas must hold at least one number, and none of them twice.")
        for sigma in sigmas:
            check_number("a sigma", sigma, 1e-6)
        object.__setattr__(self, "sigmas", tuple(sigmas))
        if isinstance(self.weights, str):
            if self.weights != "broad":
                raise BadInput(
                    f"weights is {short_repr(self.weights)}, but the only word for them is 'broad'."
                )
        elif self.weights is not None:
            weights = check_few_numbers("The choice model's list of weights", self.weights, 10_000)
            object.__setattr__(self, "weights", weights)

    def grid(self, views: Sequence[str]) -> Grid:
        mixtures = self.mixtures(len(views))
        thetas = len(mixtures) * len(self.sigmas)
        weights = self._weights(mixtures)
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(weights.sum())
        if weights.shape != (thetas,) or not (weights >= 0).all() or not 0 < total < np.inf:
            raise BadInput(
                f"The choice model got {weights.size} weights for {thetas} settings.",
                f"Give one number ≥ 0 for each of {len(mixtures)} mixtures × "
                f"{len(self.sigmas)} sigmas, not all zero.",
            )
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(weights / weights.sum()), MIN_LOG_WEIGHT)
        return Grid(mixtures, np.array(self.sigmas), logs)

    def _weights(self, mixtures: Doubles) -> Doubles:
        """Return how much each θ counts before any click, as given or by rule, (thetas,)."""
        if isinstance(self.weights, tuple):
            return np.array(self.weights)
        views = np.count_nonzero(mixtures, axis=1).astype(np.float64)
        return np.repeat(views**2 if self.weights == "broad" else views**0, len(self.sigmas))

    @staticmethod
    def mixtures(views: int) -> Doubles:
        """Return the mixtures of views that are averaged over, (mixtures, views)."""
        sizes = range(1, views + 1) if views <= 4 else (1, views)
        sets = [chosen for size in sizes for chosen in combinations(range(views), size)]
        weights = np.zeros((len(sets), views))
        for row, chosen in zip(weights, sets, strict=True):
            row[list(chosen)] = 1.0 / len(chosen)
        return weights

    def click_terms(self, evidence: Evidence, shift: Callable[[int, int], float]) -> Sequence[Term]:
        return [
            ChoiceTerm(click.liked, click.among, click.times, click.doubt)
            for click in evidence.clicks
        ]

    def rows(self, term: Term) -> tuple[int, ...]:
        return cast(ChoiceTerm, term).among

    def attraction(self, grid: Grid) -> Attraction:
        return Attraction(1.0 / grid.usual_sigma)

    def depth(self, term: Term, reach: float) -> float:
        return self._depth(term, 2.0 * reach / min(self.sigmas))

    def _depth(self, term: Term, apart: float) -> float:
        """Return how deep a term can be; apart: how far two items' log-odds can be from another.

        A click that may be a slip is never less probable than the slip.
        """
        among = len(cast(ChoiceTerm, term).among)
        deepest = apart + math.log(among)
        if self.slip > 0.0:
            deepest = min(deepest, math.log(among / self.slip))
        return cast(ChoiceTerm, term).times * (deepest + 1.0)

    def sharpness(self) -> float:
        return 1.0 / min(self.sigmas)

    def adder(
        self,
        terms: Sequence[tuple[Term, int]],
        places: Mapping[int, int],
        grid: Grid,
        dtype: np.dtype[Any],
    ) -> Adder:
        adders = self._adders(terms, places, grid.mixtures.astype(dtype), grid.sigmas)

        def add(columns: Array, average: Doubles | None, units: Array) -> None:
            for add_term in adders:
                add_term(columns, units)

        return add

    def _adders(
        self,
        terms: Sequence[tuple[Term, int]],
        places: Mapping[int, int],
        mixtures: Array,
        sigmas: Doubles,
    ) -> list[TermAdder]:
        """Return what adds each of the signed terms; mixtures: in the type of the columns."""
        sharpness = (1.0 / sigmas).astype(mixtures.dtype)
        return [
            self._adder_of(cast(ChoiceTerm, term), sign, places, mixtures, sharpness)
            for term, sign in terms
        ]

    def _adder_of(
        self,
        term: ChoiceTerm,
        sign: int,
        places: Mapping[int, int],
        mixtures: Array,
        sharpness: Array,
    ) -> TermAdder:
        from seeker.kernels.likelihood import choice, doubted

        number = mixtures.dtype.type
        chance = self.slip / len(term.among)
        settings = (
            mixtures if term.liked else -mixtures,
            sharpness,
            number(1.0 - self.slip),
            number(chance),
            math.log(chance) if chance > 0.0 else -math.inf,
            np.array([places[row] for row in term.among]),
        )

        def add(columns: Array, units: Array) -> None:
            choice(columns, *settings, signs_for(mixtures.dtype, [sign * term.times]), units)

        def add_doubted(columns: Array, units: Array) -> None:
            once = np.zeros_like(units)
            choice(columns, *settings, signs_for(mixtures.dtype, [1]), once)
            doubted(once, term.times, term.doubt, sign, units)

        return add_doubted if term.doubt > 0.0 else add

    def shares(self, evidence: Evidence, terms: Sequence[Term], value: TermValues) -> list[Doubles]:
        """Split the score by how much each click adds while all of them come to count, at once.

        With all clicks counting s times, log Σ_θ w_θ exp(s Σ_c ℓ_c) grows with s by the mean of
        Σ_c ℓ_c over what θ is then; each click gets its own part of that, from s = 0 to 1. So the
        parts add up to the whole, and the order of the clicks makes no difference.
        """
        start = value([])
        parts = np.array([value([term]) - start for term in terms]).reshape(-1, *start.shape)
        whole = parts.sum(axis=0)
        shares = np.zeros((len(terms), start.shape[1]))
        for place, weight in zip(*_QUADRATURE, strict=True):
            logs = start + place * whole
            theta = np.exp(logs - np.logaddexp.reduce(logs))
            shares += weight * (theta * parts).sum(axis=1)
        if len(terms):
            # What the rule of numbers is off by is shared by the clicks as their parts are.
            total = np.logaddexp.reduce(start + whole) - np.logaddexp.reduce(start)
            sizes = np.abs(shares) + 1e-300
            shares += (total - shares.sum(axis=0)) * sizes / sizes.sum(axis=0)
        return [*shares]


def _gauss_legendre(points: int) -> tuple[Doubles, Doubles]:
    """Return places in [0, 1] and weights, (points,) each, of Gauss's rule for integrals."""
    places, weights = np.polynomial.legendre.leggauss(points)
    return (places + 1.0) / 2.0, weights / 2.0


_QUADRATURE = _gauss_legendre(24)


_EVEN, _LEANING = 0.4, 0.5
"""The prior of the even mixture, and of all that lean to one view; the rest: one view alone."""


@dataclass(frozen=True)
class Relative(Choice):
    """P(like i | t, θ) = (1 − λ) softmax_{k ∈ R}(−log(D_θ(k, t) + floor) / σ_θ)[i] + λ / |R|.

    As `Choice`, but what is twice as far is as much worse among near items as among far ones
    (Weber's law): the probability of a like falls with the distance to the power 1 / σ. floor:
    distances well below it, in units of the catalog's mean, are not told apart. θ runs over the
    even mixture of all views, the mixtures half way from it to each view, and each view alone;
    while no weights are given, these have prior probabilities of 0.4, 0.5 and 0.1 together.
    claims: a and b of how probable a page is called, logit⁻¹(a + b logit p), p being the belief's
    own, where it was learned how often such pages hold what is sought.
    """

    name = "relative"
    uses_average = True
    sigmas: tuple[float, ...] = (0.1, 0.2, 0.4, 0.8)
    weights: tuple[float, ...] | Literal["broad"] | None = None
    floor: float = 0.05
    claims: tuple[float, ...] = field(default=PLAIN_CLAIMS, metadata=LATER)

    def __post_init__(self) -> None:
        check_number("floor", self.floor, 1e-3, below=1e30)
        claims = check_few_numbers("claims", self.claims, 2)
        if len(claims) != 2:
            raise BadInput("claims must be two numbers.", "The usual ones are 0 and 1.")
        check_number("the first of claims", claims[0], -20.0, below=20.0)
        check_number("the second of claims", claims[1], 0.0, below=20.0)
        object.__setattr__(self, "claims", claims)
        super().__post_init__()

    def grid(self, views: Sequence[str]) -> Grid:
        if self.weights is not None:
            shift, slope = self.claims
            return replace(super().grid(views), claims=(shift, slope))
        shares = self.mixture_prior(len(views))
        settings = np.repeat(shares / len(self.sigmas), len(self.sigmas))
        return replace(self, weights=tuple(map(float, settings))).grid(views)

    @staticmethod
    def mixtures(views: int) -> Doubles:
        """Return the mixtures of views that are averaged over, (mixtures, views)."""
        if views == 1:
            return np.ones((1, 1))
        even, alone = np.full((1, views), 1.0 / views), np.eye(views)
        return np.concatenate([even, (even + alone) / 2.0, alone])

    @staticmethod
    def mixture_prior(views: int) -> Doubles:
        """Return how probable each mixture is before any click, (mixtures,)."""
        if views == 1:
            return np.ones(1)
        each = np.full(views, 1.0 / views)
        return np.concatenate([[_EVEN], _LEANING * each, (1.0 - _EVEN - _LEANING) * each])

    def depth(self, term: Term, reach: float) -> float:
        return self._depth(term, math.log1p(4.0 * reach / self.floor) / min(self.sigmas))

    def sharpness(self) -> float:
        return 1.0 / (min(self.sigmas) * self.floor)

    def attraction(self, grid: Grid) -> Attraction:
        return Attraction(1.0 / grid.usual_sigma, self.floor)

    def adder(
        self,
        terms: Sequence[tuple[Term, int]],
        places: Mapping[int, int],
        grid: Grid,
        dtype: np.dtype[Any],
    ) -> Adder:
        from seeker.kernels.likelihood import logarithms

        adders = self._adders(terms, places, np.ones((1, 1), dtype), grid.sigmas)
        mixtures, floor = grid.mixtures.astype(dtype), dtype.type(self.floor)
        count, noises = len(mixtures), len(grid.sigmas)

        def add(columns: Array, average: Doubles | None, units: Array) -> None:
            logs = np.empty((count, *columns.shape[1:]), dtype)
            logarithms(columns, average, mixtures, floor, logs)
            for add_term in adders:
                for w in range(count):
                    add_term(logs[w : w + 1], units[w * noises : (w + 1) * noises])

        return add
