"""What rankings and sessions ask of scores, wherever these are computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from seeker.models.base import Evidence, Grid, Model, Term
from seeker.space import Space
from seeker.types import Doubles, Rows


class LogPrior(Protocol):
    """Log-probabilities of all items, such as an array, (items,); −inf keeps an item out."""

    def __getitem__(self, rows: Any, /) -> Any:
        """Return the log-probabilities at some rows, of the rows' shape."""
        ...

    @property
    def nbytes(self) -> int:
        """How many bytes this takes."""
        ...


class ItemScores(Protocol):
    """Scores of the items that are asked about, given evidence and a log-prior."""

    @property
    def model(self) -> Model:
        """The model."""
        ...

    @property
    def space(self) -> Space:
        """The space that the model measures distances in."""
        ...

    @property
    def grid(self) -> Grid:
        """The settings of the person that are averaged over."""
        ...

    @property
    def count(self) -> int:
        """How many items there are."""
        ...

    @property
    def log_prior(self) -> LogPrior | None:
        """The log-prior, or None for an even one."""
        ...

    @property
    def nbytes(self) -> int:
        """How many bytes are kept, the log-prior's with them."""
        ...

    @property
    def pending_work(self) -> float:
        """About how many multiplications it takes to bring what is kept of all items up to date."""
        ...

    def set_prior(self, log_prior: Doubles | None) -> None:
        """Put another log-prior, (items,), in the place of the one there is."""
        ...

    def set_focus(self, factors: Sequence[float] | None) -> None:
        """Let views matter by other factors, (views,), than before; None: as the model has it."""
        ...

    def condition_on(self, evidence: Evidence) -> None:
        """Make the scores those given this evidence."""
        ...

    def at(self, rows: Rows) -> Doubles:
        """Return the scores of some items, (rows,)."""
        ...

    def values(self, terms: Sequence[Term], rows: Rows) -> Doubles:
        """Return the sum of some terms and of θ's log-prior, in nats: (thetas, rows)."""
        ...
