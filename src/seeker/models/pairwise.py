"""The paper's models: `pairwise`, and `bipartite`, which it names as future work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from seeker.errors import NotFound, short_repr
from seeker.models.base import (
    Adder,
    Attraction,
    Evidence,
    Grid,
    Model,
    Term,
    TermValues,
    fitting,
    signs_for,
)
from seeker.models.score_drop import ClickEffect
from seeker.models.words import DEFAULT_WORDS
from seeker.space.view import Scale, check_scale
from seeker.types import Array, Doubles
from seeker.validation import check_names, check_number

AVERAGE = -1
"""Stands for the average item, which takes the place of a side that is empty."""


class UniformViewsModel(Model):
    """A model of one distance: the mean over the views, or over those it names."""

    scale: Scale
    views: tuple[str, ...] | None

    def __post_init__(self) -> None:
        self.check_text_settings()
        check_scale(self.scale)
        if self.views is not None:
            object.__setattr__(self, "views", check_names("views", self.views))

    @property
    def units(self) -> Scale:
        return self.scale

    def grid(self, views: Sequence[str]) -> Grid:
        chosen = views if self.views is None else self.views
        unknown = [name for name in chosen if name not in views]
        if unknown:
            raise NotFound(
                f"The model names a view {short_repr(unknown[0])}.",
                f"The catalog has {list(views)}.",
            )
        weights = np.array([[(name in chosen) / len(chosen) for name in views]])
        return Grid(weights, np.empty(0), np.zeros(1))


_MODEST = 100.0


class PairTerm(NamedTuple):
    """`like` was preferred to `dislike`; shift is what texts add to the comparison."""

    like: int
    dislike: int
    shift: float


@dataclass(frozen=True)
class Pairwise(UniformViewsModel):
    """log P(S|t) = Σ_{i liked} Σ_{j disliked} log σ(α (D(j, t) − D(i, t) + Σ_k r_k·(x_i − x_j))).

    While only likes or only dislikes are there, they are paired with the average item. Several
    views weigh alike; `views` names those to use.
    """

    name = "pairwise"
    alpha: float = 1.0
    scale: Scale = "unit"
    beta: float = 1.0
    views: tuple[str, ...] | None = None
    words: tuple[float, ...] | Literal["paper"] = DEFAULT_WORDS

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, 0.0)
        super().__post_init__()

    def click_terms(self, evidence: Evidence, shift: Callable[[int, int], float]) -> Sequence[Term]:
        likes, dislikes = evidence.likes, evidence.dislikes
        if likes and dislikes:
            return [
                PairTerm(i, j, shift(i, j) if evidence.texts else 0.0)
                for i in likes
                for j in dislikes
            ]
        return [PairTerm(i, AVERAGE, 0.0) for i in likes] + [
            PairTerm(AVERAGE, j, 0.0) for j in dislikes
        ]

    def click_effect(self, evidence: Evidence) -> ClickEffect | None:
        """Bound a click's pairs together: log σ is concave, so Σ log σ(u) ≤ n log σ(mean u)."""
        likes, dislikes = frozenset(evidence.likes), frozenset(evidence.dislikes)
        if not likes or not dislikes or evidence.texts:
            return None

        def most(gap: float, count: int) -> float:
            return min(0.0, -count * float(np.logaddexp(0.0, -self.alpha * gap)) + 1e-5 * count)

        def click(terms: Sequence[Term]) -> tuple[int, bool] | None:
            liked = {cast(PairTerm, term).like for term in terms} - likes
            disliked = {cast(PairTerm, term).dislike for term in terms} - dislikes
            if len(liked) + len(disliked) != 1:
                return None
            return (*liked, True) if liked else (*disliked, False)  # type: ignore[return-value]

        return ClickEffect(evidence.likes, evidence.dislikes, most, click)

    def rows(self, term: Term) -> tuple[int, ...]:
        pair = cast(PairTerm, term)
        return tuple(row for row in (pair.like, pair.dislike) if row != AVERAGE)

    def depth(self, term: Term, reach: float) -> float:
        return self.alpha * (2.0 * reach + abs(cast(PairTerm, term).shift)) + 1.0

    def sharpness(self) -> float:
        return 32.0 * self.alpha  # one item's error enters every pair it is in

    def attraction(self, grid: Grid) -> Attraction:
        return Attraction(self.alpha)

    def adder(
        self,
        terms: Sequence[tuple[Term, int]],
        places: Mapping[int, int],
        grid: Grid,
        dtype: np.dtype[Any],
    ) -> Adder:
        from seeker.kernels.likelihood import pairwise

        pairs = [(cast(PairTerm, term), sign) for term, sign in terms]
        if any(max(1e-30, self.alpha) * abs(pair.shift) > _MODEST for pair, _ in pairs):
            dtype = np.dtype(np.float64)  # texts can shift a pair beyond what float32 holds well
        where = {**places, AVERAGE: -1}
        weights, alpha = grid.mixtures[0].astype(dtype), dtype.type(fitting(self.alpha, dtype))
        sides = np.array([(where[pair.like], where[pair.dislike]) for pair, _ in pairs])
        shifts = np.array([pair.shift for pair, _ in pairs], dtype)
        signs = signs_for(dtype, [sign for _, sign in pairs])

        def add(columns: Array, average: Doubles | None, units: Array) -> None:
            wide = columns.astype(dtype, copy=False)
            pairwise(wide, weights, alpha, sides, shifts, signs, units)

        return add

    def shares(self, evidence: Evidence, terms: Sequence[Term], value: TermValues) -> list[Doubles]:
        share = {click.row: 0.0 * value([])[0] for click in evidence.clicks}
        for term in terms:
            involved = self.rows(term)
            for row in involved:
                share[row] = share[row] + value([term])[0] / len(involved)
        return [share[click.row] for click in evidence.clicks]


class LikeTerm(NamedTuple):
    """−α₁ D(row, t)."""

    row: int


class DislikeTerm(NamedTuple):
    """log σ(α₂ (D(row, t) − min D(like, t))) over the likes there are."""

    row: int
    likes: tuple[int, ...]


@dataclass(frozen=True)
class Bipartite(UniformViewsModel):
    """log P(S|t) = Σ_{i liked} −α₁ D(i, t) + Σ_{j disliked} log σ(α₂ (D(j, t) − min_i D(i, t))).

    While nothing is liked, the average item takes the place of the nearest like.
    """

    name = "bipartite"
    uses_average = True
    alpha1: float = 1.0
    alpha2: float = 1.0
    scale: Scale = "unit"
    beta: float = 1.0
    views: tuple[str, ...] | None = None
    words: tuple[float, ...] | Literal["paper"] = DEFAULT_WORDS

    def __post_init__(self) -> None:
        check_number("alpha1", self.alpha1, 0.0)
        check_number("alpha2", self.alpha2, 0.0)
        super().__post_init__()

    def click_terms(self, evidence: Evidence, shift: Callable[[int, int], float]) -> Sequence[Term]:
        likes = tuple(sorted(evidence.likes))
        return [LikeTerm(i) for i in likes] + [DislikeTerm(j, likes) for j in evidence.dislikes]

    def rows(self, term: Term) -> tuple[int, ...]:
        if isinstance(term, DislikeTerm):
            return (term.row, *term.likes)
        assert isinstance(term, LikeTerm)
        return (term.row,)

    def depth(self, term: Term, reach: float) -> float:
        return (self.alpha1 if isinstance(term, LikeTerm) else self.alpha2) * 2.0 * reach + 1.0

    def sharpness(self) -> float:
        return 32.0 * max(self.alpha1, self.alpha2)

    def attraction(self, grid: Grid) -> Attraction:
        return Attraction(self.alpha1)

    def adder(
        self,
        terms: Sequence[tuple[Term, int]],
        places: Mapping[int, int],
        grid: Grid,
        dtype: np.dtype[Any],
    ) -> Adder:
        from seeker.kernels.likelihood import dislikes, likes

        weights = grid.mixtures[0].astype(dtype)
        alpha1, alpha2 = (dtype.type(fitting(one, dtype)) for one in (self.alpha1, self.alpha2))
        liked = [(places[term.row], sign) for term, sign in terms if isinstance(term, LikeTerm)]
        disliked: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        for term, sign in terms:
            if isinstance(term, DislikeTerm):
                beside = tuple(places[row] for row in term.likes) or (AVERAGE,)
                disliked.setdefault(beside, []).append((places[term.row], sign))

        def add(columns: Array, average: Doubles | None, units: Array) -> None:
            if liked:
                assert average is not None
                where, signs = zip(*liked, strict=True)
                with np.errstate(over="ignore"):  # infinity is as far as float32 can say
                    mean = (grid.mixtures[0] @ average).astype(dtype)
                signs_ = signs_for(dtype, signs)
                likes(columns, mean, weights, alpha1, np.array(where), signs_, units)
            for beside, group in disliked.items():
                where, signs = zip(*group, strict=True)
                near, signs_ = np.array(beside), signs_for(dtype, signs)
                dislikes(columns, weights, alpha2, np.array(where), near, signs_, units)

        return add

    def shares(self, evidence: Evidence, terms: Sequence[Term], value: TermValues) -> list[Doubles]:
        share = {self.rows(term)[0]: value([term])[0] for term in terms}
        return [share[click.row] for click in evidence.clicks]
