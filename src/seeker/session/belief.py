"""The belief: how probable it is of every item that it is the one looked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from seeker.kernels.parallel import BLOCK, inner, over_blocks
from seeker.models.base import Grid
from seeker.session.page import facts_html, shares_html
from seeker.types import Doubles, Rows


class Belief(ABC):
    """The posterior over items, and over what the model leaves open, at one step of a session."""

    def __init__(
        self, views: Sequence[str], grid: Grid, page_and_over: Callable[[], tuple[Rows, Rows]]
    ) -> None:
        """page_and_over(): the rows on display, and those that were seen and do not come again."""
        self._views = tuple(views)
        self._grid = grid
        self._page_and_over = page_and_over
        self._claim: float | None = None

    def __repr__(self) -> str:
        return f"<Belief: about {self.candidates:.1f} candidates>"

    def _repr_html_(self) -> str:
        facts = {
            "candidates": f"about {self.candidates:,.1f}",
            "on this page": f"{self.on_page:.0%}",
            "noise": "" if self.noise is None else f"{self.noise:.2f}",
        }
        return facts_html("Belief", facts, shares_html(self.views))

    @property
    def partial(self) -> bool:
        """Whether part of the catalog could not be asked, so that it is left out of the figures."""
        return False

    @property
    @abstractmethod
    def log_posterior(self) -> Doubles:
        """Log-probabilities, (items,) float64, in catalog order; −inf for what is ruled out."""

    @abstractmethod
    def rank(self, item: str) -> float:
        """Return an item's place by probability: 1 is best, ties share the middle place."""

    @abstractmethod
    def probability(self, item: str) -> float:
        """Return how probable it is that this item is the one looked for."""

    @property
    @abstractmethod
    def entropy(self) -> float:
        """The uncertainty about the item looked for, in nats."""

    @property
    def candidates(self) -> float:
        """How many equally probable items would be as uncertain: e to the entropy."""
        return float(np.exp(self.entropy))

    @property
    def on_page(self) -> float:
        """How probable it is that the item looked for is on the page of this step.

        Who goes on has not found it among what was on screen: items that have been seen, and do not
        come again, are left out of what it is compared with. Where the model has learned how often
        such a page held it (`Relative.claims`), it is called as probable as that.
        """
        if self._claim is None:
            page, over = self._page_and_over()
            shown = float(self._probabilities(page).sum())
            # As sets, for numpy's own difference takes longer than all else here.
            past = np.array(sorted({*over.tolist()} - {*page.tolist()}), np.int64)
            rest = 1.0 - float(self._probabilities(past).sum())
            claim = shown / max(rest, shown) if shown > 0.0 else 0.0
            self._claim = self._grid.claimed(claim)
        return self._claim

    @abstractmethod
    def _probabilities(self, rows: Rows) -> Doubles:
        """Return the probabilities of some items, (rows,)."""

    @property
    @abstractmethod
    def settings(self) -> Doubles:
        """The posterior of θ, (mixtures, noises); (1, 1) where a model leaves nothing open."""

    @property
    def views(self) -> dict[str, float]:
        """How much each view counts for this person, adding up to 1."""
        weights = self.settings.sum(axis=1) @ self._grid.mixtures
        return dict(zip(self._views, map(float, weights), strict=True))

    @property
    def noise(self) -> float | None:
        """How noisily this person judges (mean σ), or None where the model has no such thing."""
        if not len(self._grid.sigmas):
            return None
        return float(self.settings.sum(axis=0) @ self._grid.sigmas)

    def _arranged(self, weights: Doubles) -> Doubles:
        """Return weights of θ, (thetas,), by mixture and noise level, (mixtures, noises)."""
        return weights.reshape(-1, max(1, len(self._grid.sigmas)))


class Posterior(Belief):
    """A belief over items whose scores are all known here.

    settings(log total): the posterior of θ, (thetas,). row(item): its row. All of them, and
    page_and_over, as of the belief's own step.
    """

    def __init__(
        self,
        scores: Doubles,
        views: Sequence[str],
        grid: Grid,
        settings: Callable[[float], Doubles],
        page_and_over: Callable[[], tuple[Rows, Rows]],
        row: Callable[[str], int],
    ) -> None:
        """Normalise scores, (items,), in place."""
        super().__init__(views, grid, page_and_over)
        self._log_total = _normalise(scores)
        scores.setflags(write=False)
        self._logs = scores
        self._settings = settings
        self._row = row

    @property
    def log_posterior(self) -> Doubles:
        """Log-probabilities, (items,) float64, in catalog order; −inf for what is ruled out."""
        return self._logs

    def rank(self, item: str) -> float:
        """Return an item's place by probability: 1 is best, ties share the middle place."""
        mine = self._logs[self._row(item)]
        higher = np.count_nonzero(self._logs > mine)
        equal = np.count_nonzero(self._logs == mine)
        return float(higher + (equal + 1) / 2)

    def probability(self, item: str) -> float:
        """Return how probable it is that this item is the one looked for."""
        return float(np.exp(self._logs[self._row(item)]))

    @cached_property
    def entropy(self) -> float:
        """The uncertainty about the item looked for, in nats."""
        likely = self._logs[self._logs > -700.0]
        return max(0.0, -inner(np.exp(likely), likely))

    def _probabilities(self, rows: Rows) -> Doubles:
        return np.asarray(np.exp(self._logs[rows]))

    @cached_property
    def settings(self) -> Doubles:
        """The posterior of θ, (mixtures, noises)."""
        return self._arranged(self._settings(self._log_total))


def _normalise(scores: Doubles) -> float:
    """Make scores log-probabilities, in place; return log Σ exp(scores) as it was."""
    from seeker.kernels import EXACT
    from seeker.kernels.posterior import mass

    top = float(scores.max())
    parts = np.zeros(-(-len(scores) // BLOCK))

    def add_up(start: int, stop: int) -> None:
        parts[start // BLOCK] = mass(scores[start:stop], top)

    def divide(start: int, stop: int) -> None:
        if abs(top) < EXACT:
            scores[start:stop] -= log_total
        else:  # so large a number has no room for the digits of the small one
            scores[start:stop] -= top
            scores[start:stop] -= log_mass

    over_blocks(len(scores), add_up)
    log_mass = float(np.log(parts.cumsum()[-1]))
    log_total = top + log_mass
    over_blocks(len(scores), divide)
    return log_total
