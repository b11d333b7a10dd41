"""The paper's future work: likes speak for themselves, dislikes only beside the likes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from seeker.models.base import Adder, Evidence, Grid, Term, TermValues, fitting, signs_for
from seeker.models.pairwise import AVERAGE, UniformViewsModel
from seeker.models.words import DEFAULT_WORDS
from seeker.space.view import Scale
from seeker.types import Array, Doubles
from seeker.validation import check_number


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
