"""One contract for everything that searches: pages out, feedback in, a score for every item."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np

from seeker.catalog import Catalog
from seeker.types import Doubles, Floats, Rows

_CACHE_BYTES = 200_000_000
"""Bytes of distances that a space remembers."""


class JointSpace:
    """All views of a catalog as one space: even weights, centred, scaled as the engine scales.

    vectors: (items, d) float32. Two random items are 1 apart in squared distance on average.
    widths: how many of its numbers each view has.
    """

    def __init__(self, catalog: Catalog) -> None:
        parts = [
            (view.vectors - view.mean) / np.sqrt(view.scale * len(catalog.views))
            for view in catalog.views.values()
        ]
        self.vectors: Floats = np.concatenate(parts, axis=1).astype(np.float32)
        self.widths = tuple(part.shape[1] for part in parts)
        self.squares = (self.vectors**2).sum(axis=1)
        lengths = np.sqrt(self.squares)
        self.directions: Floats = self.vectors / np.maximum(lengths, 1e-12)[:, None]
        self.count = len(self.vectors)
        self._columns: OrderedDict[tuple[str, int], Floats] = OrderedDict()

    def distances(self, row: int) -> Floats:
        """Return the squared distances of all items from one, (items,)."""
        return self._column("distance", row)

    def cosines(self, row: int) -> Floats:
        """Return the cosines of all items with one, (items,)."""
        return self._column("cosine", row)

    def _cache(self, kind: str, row: int, column: Floats) -> None:
        self._columns[kind, row] = column
        while len(self._columns) * 4 * self.count > _CACHE_BYTES:
            self._columns.popitem(last=False)

    def _column(self, kind: str, row: int) -> Floats:
        key = (kind, row)
        if key not in self._columns:
            # One product at a time: the rounding of several at once depends on how many they are,
            # and a search must give the same numbers whatever is remembered from others.
            product = self.vectors @ self.vectors[row]
            lengths = np.maximum(np.sqrt(self.squares), 1e-12)
            self._cache("cosine", row, product / lengths / lengths[row])
            squares = self.squares + self.squares[row] - 2.0 * product
            self._cache("distance", row, np.maximum(squares, 0.0))
        self._columns.move_to_end(key)
        return self._columns[key]


@lru_cache(maxsize=2)
def joint_space(catalog: Catalog) -> JointSpace:
    """Return the joint space of a catalog."""
    return JointSpace(catalog)


@dataclass(frozen=True)
class Feedback:
    """What was clicked on one page, by rows of the catalog; shown: all that was on it.

    words: what was said beside, which only Seeker hears.
    """

    likes: tuple[int, ...]
    dislikes: tuple[int, ...]
    shown: tuple[int, ...]
    words: str = ""

    @property
    def others(self) -> tuple[int, ...]:
        """What was shown and not clicked."""
        return tuple(row for row in self.shown if row not in self.likes + self.dislikes)


class Search(Protocol):
    """One search under way."""

    def page(self) -> Rows:
        """Return the items on display, (page size,)."""
        ...

    def feedback(self, feedback: Feedback) -> None:
        """Take in the clicks on a page."""
        ...

    def undo(self) -> None:
        """Take back the last feedback."""
        ...

    def scores(self) -> Doubles:
        """Return how good every item seems, (items,): higher is better."""
        ...

    def on_page(self) -> float:
        """Return how probable it is held that the target is on the page; NaN where unknown."""
        ...


class Searcher(ABC):
    """A way of searching: settings that can begin a search. Frozen dataclasses."""

    name: ClassVar[str]

    @abstractmethod
    def begin(self, catalog: Catalog, page_size: int, seed: int) -> Search:
        """Start a search; the same seed gives the same first page to every searcher."""

    def settings(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"name": self.name, **{key: _plain(value) for key, value in values.items()}}


@lru_cache(maxsize=4096)
def first_page(catalog: Catalog, page_size: int, seed: int) -> Rows:
    """Return the page with which Seeker would begin, (page size,)."""
    page = catalog.session(strategy="greedy", page_size=page_size, seed=seed).page()
    return np.array([catalog.row(item) for item in page.ids])


@dataclass(frozen=True, eq=False)
class PageContext:
    """What the next page is chosen from: the scores, (items,), and the items not yet shown."""

    space: JointSpace
    values: Doubles
    free: Rows
    count: int
    rng: np.random.Generator

    def likely(self, most: int) -> tuple[Rows, Doubles]:
        """Return the likeliest items, scores being log-probabilities, and shares that sum to 1."""
        shares = softmax(self.values)
        rows = np.argsort(-shares, kind="stable")[:most]
        return rows, shares[rows] / shares[rows].sum()

    def best(self) -> Rows:
        """Return the free items, best first."""
        return self.free[np.argsort(-self.values[self.free], kind="stable")]


class Baseline(Searcher):
    """A searcher whose scores are a formula over what was clicked so far.

    Items that were on screen do not come again, and the first page is the one Seeker begins
    with: both help the baselines, and leave only the formula to be compared.
    """

    def begin(self, catalog: Catalog, page_size: int, seed: int) -> Search:
        return BaselineSearch(self, catalog, page_size, seed)

    @abstractmethod
    def values(self, space: JointSpace, history: tuple[Feedback, ...]) -> Doubles:
        """Return the score of every item given at least one feedback, (items,)."""

    def choose(self, context: PageContext) -> Rows:
        """Choose the next page among the free items: the highest scores, ties by chance."""
        ties = context.rng.permutation(len(context.free))
        return context.free[np.lexsort((ties, -context.values[context.free]))][: context.count]

    def probabilities(self, values: Doubles) -> Doubles | None:
        """Return the scores as probabilities, (items,), where the method has any."""
        return None


class BaselineSearch:
    """A search by a baseline's formula."""

    def __init__(self, baseline: Baseline, catalog: Catalog, page_size: int, seed: int) -> None:
        self.baseline = baseline
        self.space = joint_space(catalog)
        self.size = page_size
        self.seed = seed
        self.history: tuple[Feedback, ...] = ()
        self._first = first_page(catalog, page_size, seed)
        self._seen: set[int] = set()
        self._turn = 0
        self._choose_page()

    def page(self) -> Rows:
        """Return the items on display, (page size,)."""
        return self._page

    def feedback(self, feedback: Feedback) -> None:
        """Take in the clicks on a page."""
        self._seen.update(feedback.shown)
        if feedback.likes or feedback.dislikes:
            self.history = (*self.history, feedback)
        self._turn += 1
        self._choose_page()

    def undo(self) -> None:
        """Take back the last feedback."""
        self.history = self.history[:-1]
        self._choose_page()

    def scores(self) -> Doubles:
        """Return how good every item seems, (items,)."""
        return self._values

    def on_page(self) -> float:
        """Return how probable it is held that the target is on the page."""
        shares = self.baseline.probabilities(self._values)
        return float("nan") if shares is None else float(shares[self._page].sum())

    def _choose_page(self) -> None:
        rng = np.random.default_rng([self.seed, self._turn])
        if not self.history:
            self._values = np.zeros(self.space.count)
        else:
            self._values = np.asarray(self.baseline.values(self.space, self.history), np.float64)
        if not self._turn:
            self._page = self._first
            return
        free = np.setdiff1d(np.arange(self.space.count), np.fromiter(self._seen, np.int64))
        if len(free) < self.size:
            free = np.arange(self.space.count)
        if self.history:
            context = PageContext(self.space, self._values, free, self.size, rng)
            self._page = self.baseline.choose(context)
        else:
            self._page = rng.choice(free, self.size, replace=False)


def likes_of(history: tuple[Feedback, ...]) -> list[int]:
    """Return all liked items, first things first."""
    return [row for feedback in history for row in feedback.likes]


def dislikes_of(history: tuple[Feedback, ...]) -> list[int]:
    """Return all disliked items, first things first."""
    return [row for feedback in history for row in feedback.dislikes]


def softmax(logs: Doubles) -> Doubles:
    """Return e^logs scaled to add up to 1, (items,)."""
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum())


def draw_rows(logs: Doubles, free: Rows, count: int, rng: np.random.Generator) -> Rows:
    """Draw items without replacement with probability proportional to e^logs, (count,)."""
    return free[np.argsort(-(logs[free] + rng.gumbel(size=len(free))), kind="stable")][:count]


def _plain(value: object) -> object:
    """Return a setting as plain values."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {"name": getattr(value, "name", type(value).__name__), **inner}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, int | float | str | bool) or value is None:
        return value
    return repr(value)
