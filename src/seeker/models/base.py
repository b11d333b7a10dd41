"""What every model is: a sum of terms, each one number per item and per setting of the person.

A model turns evidence into a set of terms. Every term is a log-probability: a whole number of
small units (`seeker.kernels.UNIT`) per item, for each θ the model leaves open. Sums of whole
numbers are exact, so terms can be added, taken away and reordered without a trace, and a score is
the same whether it was computed for one item or for all.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from seeker.models.words import WordsTerm, check_words
from seeker.space import Space, VectorLookup, View
from seeker.space.columns import DirectionProbe, DistanceProbe
from seeker.space.view import Scale
from seeker.types import Array, Doubles, Floats
from seeker.validation import check_number

if TYPE_CHECKING:
    from seeker.models.score_drop import ClickEffect


@dataclass(frozen=True)
class ClickEvidence:
    """A click in effect: an item, the verdict, and what it was chosen among.

    `among` starts with the item itself, the others follow by row, so that the order on the screen
    makes no difference. times: how often it counts, in models that can tell. doubt: how probable it
    is that it counts only once none the less.
    """

    row: int
    liked: bool
    among: tuple[int, ...]
    times: int = 1
    doubt: float = 0.0


@dataclass(frozen=True)
class TextEvidence:
    """Text feedback as a vector r in one view."""

    view: int
    direction: tuple[float, ...]


@dataclass(frozen=True)
class Evidence:
    """All that a person has said so far, by rows of the catalog."""

    clicks: tuple[ClickEvidence, ...] = ()
    texts: tuple[TextEvidence, ...] = ()
    words: tuple[WordsTerm, ...] = ()

    @property
    def likes(self) -> tuple[int, ...]:
        """The liked items."""
        return tuple(click.row for click in self.clicks if click.liked)

    @property
    def dislikes(self) -> tuple[int, ...]:
        """The disliked items."""
        return tuple(click.row for click in self.clicks if not click.liked)


Term: TypeAlias = Hashable


Adder: TypeAlias = Callable[[Array, Doubles | None, Array], None]
"""add(columns, average, units): columns (views, places, items); average: D̄, (views, items), where
a model uses it; units: (thetas, items), to which is added."""


def signs_for(dtype: np.dtype[Any], signs: Sequence[int]) -> Array:
    """Return signs in the whole numbers that go with the columns' type, (terms,)."""
    return np.array(signs, np.int32 if dtype == np.float32 else np.int64)


def fitting(factor: float, dtype: np.dtype[Any]) -> float:
    """Return a factor as far as it fits the columns' type; beyond, all distances are zero."""
    return min(factor, float(np.finfo(dtype).max))


TermValues: TypeAlias = Callable[[Sequence[Term]], Doubles]
"""The value of a sum of terms for some items, in nats, with θ's log-prior: (thetas, items)."""


@dataclass(frozen=True)
class TextTerm:
    """The text term: log σ(β Σ_k r_k · x_t), all texts of a view together."""

    along: DirectionProbe


def is_text(term: Term) -> bool:
    """Return whether a term comes from text, not from a click."""
    return isinstance(term, TextTerm | WordsTerm)


PLAIN_CLAIMS = (0.0, 1.0)
"""A page is called as probable as the belief has it."""


@dataclass(frozen=True, eq=False)
class Grid:
    """The settings θ that a model leaves open, with their log-prior.

    mixtures: (mixtures, views) weights; sigmas: (noises,), empty where a model has no noise level;
    log_weights: (mixtures · noises,), the noise level running fastest. claims: a and b of what is
    said of a page (`claimed`).
    """

    mixtures: Doubles
    sigmas: Doubles
    log_weights: Doubles
    claims: tuple[float, float] = PLAIN_CLAIMS

    @property
    def usual_mixture(self) -> Doubles:
        """The mean of the mixtures before any click, (views,); the same on every machine."""
        return np.asarray(np.round(self._prior.sum(axis=1) @ self.mixtures, 6))

    @property
    def usual_sigma(self) -> float:
        """The mean noise level before any click; the same on every machine."""
        return float(np.round(self._prior.sum(axis=0) @ self.sigmas, 6))

    @property
    def _prior(self) -> Doubles:
        """The prior of θ, (mixtures, noises)."""
        return np.exp(self.log_weights).reshape(len(self.mixtures), -1)

    def claimed(self, probability: float) -> float:
        """Return how probable a page is called that is held so probable: logit⁻¹(a + b logit p)."""
        if self.claims == PLAIN_CLAIMS or not 0.0 < probability < 1.0:
            return probability
        shift, slope = self.claims
        odds = shift + slope * (math.log(probability) - math.log1p(-probability))
        return 1.0 / (1.0 + math.exp(min(-odds, 700.0)))


MIN_LOG_WEIGHT = -600.0
"""The log-prior of a setting that is ruled out: as good as never, and a number still."""


def focus_grid(grid: Grid, factors: Sequence[float]) -> Grid:
    """Return the same settings where views matter more or less than before.

    factors: (views,), each ≥ 0. The prior of a mixture is multiplied by Π_v factor_v ** weight_v:
    of one view alone by its factor, of several by their weighted geometric mean. So a factor of 0
    rules out every mixture that the view has a part in, and no other factor rules out any.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.asarray(factors, np.float64))
        parts = np.where(grid.mixtures > 0.0, grid.mixtures * logs, 0.0).sum(axis=1)
    noises = max(1, len(grid.sigmas))
    weights = np.maximum(grid.log_weights + np.repeat(parts, noises), 2.0 * MIN_LOG_WEIGHT)
    total = np.logaddexp.reduce(weights)
    return replace(grid, log_weights=np.maximum(weights - total, MIN_LOG_WEIGHT))


@dataclass(frozen=True)
class Attraction:
    """How strongly an item draws a like, by its distance from what is looked for.

    That is e**(−sharpness · distance) or, with a floor, (distance + floor)**−sharpness.
    """

    sharpness: float
    floor: float = 0.0


class Model(ABC):
    """How clicks become a log-likelihood for every item.

    beta: how much a direction counts that was given as text feedback. words: how much words count:
    the shares of letters and of meaning, and the noise of meaning (`models.words.WordShares`); or
    "paper": words are a direction in the view that reads them.
    """

    name: ClassVar[str]
    uses_average: ClassVar[bool] = False
    """Whether adding a term takes D̄, the distance of the average item."""
    beta: float
    words: tuple[float, ...] | Literal["paper"]

    def check_text_settings(self) -> None:
        """Refuse settings of text and words that make no sense."""
        check_number("beta", self.beta, 0.0)
        object.__setattr__(self, "words", check_words(self.words))

    @property
    def units(self) -> Scale:
        """Whether distances are scaled so that they are about 1 in every catalog."""
        return "unit"

    @abstractmethod
    def grid(self, views: Sequence[str]) -> Grid:
        """Return the settings that are averaged over, for a catalog with these views."""

    @abstractmethod
    def click_terms(self, evidence: Evidence, shift: Callable[[int, int], float]) -> Sequence[Term]:
        """Return the terms of the clicks; shift(i, j) = Σ_k r_k · (x_i − x_j) of all texts."""

    @abstractmethod
    def rows(self, term: Term) -> tuple[int, ...]:
        """Return the items whose columns a term needs."""

    @abstractmethod
    def depth(self, term: Term, reach: float) -> float:
        """Return how far below zero a term can be, in nats, in a space of this reach."""

    @abstractmethod
    def sharpness(self) -> float:
        """Return by how much an error in a distance may grow in the score."""

    @abstractmethod
    def attraction(self, grid: Grid) -> Attraction:
        """Return how strongly items draw likes, as far as it is known before any click."""

    @abstractmethod
    def adder(
        self,
        terms: Sequence[tuple[Term, int]],
        places: Mapping[int, int],
        grid: Grid,
        dtype: np.dtype[Any],
    ) -> Adder:
        """Return what adds signed terms; places: row → place in the columns, which have a dtype."""

    @abstractmethod
    def shares(self, evidence: Evidence, terms: Sequence[Term], value: TermValues) -> list[Doubles]:
        """Split the clicks' log-likelihood of some items among the clicks: (items,) nats each."""

    def click_effect(self, evidence: Evidence) -> ClickEffect | None:
        """Return what bounds the effect of the next click, if this model knows."""
        return None

    def space(
        self,
        views: Sequence[View],
        person: Mapping[str, Doubles] | None = None,
        extra_vectors: Sequence[Mapping[str, Floats]] = (),
        lookup: VectorLookup | None = None,
        all_items: bool = True,
    ) -> Space:
        """Return the space this model measures distances in; see `Space`."""
        return Space(views, self.units, person, self.sharpness(), extra_vectors, lookup, all_items)

    def terms(self, evidence: Evidence, space: Space) -> list[Term]:
        """Return all terms of the evidence."""
        directions: dict[int, Doubles] = {}
        for text in evidence.texts:
            direction = np.asarray(text.direction)
            directions[text.view] = directions.get(text.view, 0.0) + direction

        def shift(i: int, j: int) -> float:
            return sum(space.along(v, r, i) - space.along(v, r, j) for v, r in directions.items())

        texts = [TextTerm(DirectionProbe(v, tuple(map(float, r)))) for v, r in directions.items()]
        return [*texts, *evidence.words, *self.click_terms(evidence, shift)]

    def probe(self, term: Term) -> list[DistanceProbe]:
        """Return the columns that a term needs."""
        return [] if is_text(term) else [DistanceProbe(row) for row in self.rows(term)]
