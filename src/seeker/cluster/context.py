"""The front's part in a ranking: exact scores of few items; shards are asked for the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from seeker.cluster.fleet import QueryRound
from seeker.cluster.messages import (
    Query,
    TopItemsReply,
    TopProbabilitiesQuery,
    TopScoresQuery,
    TopShuffledQuery,
)
from seeker.cluster.partition import RowRange
from seeker.cluster.prior import Prior
from seeker.display.base import RankingInputs
from seeker.display.noise import (
    KeyedNoise,
    Wave,
    WaveNoise,
    noisy_probabilities,
    shuffle_values,
)
from seeker.display.ranking import ValueRanking, best_rows
from seeker.models.base import Evidence, Grid, Model, Term, focus_grid
from seeker.models.evaluator import ColumnStore, ScoreEvaluator
from seeker.space import Space
from seeker.types import Doubles, Rows


class FrontScores:
    """Scores under a model of items whose sums are kept in shards.

    Nothing is kept of all items here, so every term is computed for the items that are asked about.
    """

    def __init__(self, model: Model, space: Space, ranges: tuple[RowRange, ...]) -> None:
        grid = model.grid([view.name for view in space.views])
        self._evaluator = ScoreEvaluator(model, space, grid, ColumnStore(space, 0))
        self._ranges = ranges
        self.log_prior: Prior | None = None
        """The log-prior, or None for an even one."""
        self.rows: tuple[int, ...] = ()
        """The items that the evidence speaks of."""

    def fork(self) -> FrontScores:
        """Return these scores as they are now, whatever comes."""
        fork = copy(self)
        fork._evaluator = self._evaluator.fork()
        return fork

    @property
    def model(self) -> Model:
        """The model."""
        return self._evaluator.model

    @property
    def space(self) -> Space:
        """The space that the model measures distances in."""
        return self._evaluator.space

    @property
    def grid(self) -> Grid:
        """The settings of the person that are averaged over."""
        return self._evaluator.grid

    @property
    def count(self) -> int:
        """How many items there are."""
        return self._evaluator.count

    @property
    def nbytes(self) -> int:
        """How many bytes are kept: those of the log-prior."""
        return 0 if self.log_prior is None else self.log_prior.nbytes

    @property
    def pending_work(self) -> float:
        """About how many multiplications the shards need for all items after a replay."""
        return self._evaluator.work(self._evaluator.terms)

    def set_prior(self, log_prior: Doubles | None) -> None:
        """Put another log-prior, (items,), in the place of the one there is; it is kept small."""
        self.log_prior = None if log_prior is None else Prior(log_prior, self._ranges)

    def set_focus(self, factors: Sequence[float] | None) -> None:
        """Let views matter by other factors, (views,), than before; None: as the model has it."""
        grid = self.model.grid([view.name for view in self.space.views])
        self._evaluator.set_grid(grid if factors is None else focus_grid(grid, factors))

    def condition_on(self, evidence: Evidence) -> None:
        """Make the scores those given this evidence."""
        terms = self.model.terms(evidence, self.space)
        self._evaluator.set_terms(self._evaluator.summable(terms))
        spoken = [probe.row for term in terms for probe in self.model.probe(term)]
        shifted = [click.row for click in evidence.clicks] if evidence.texts else []
        self.rows = tuple(dict.fromkeys([*spoken, *shifted]))

    def at(self, rows: Rows) -> Doubles:
        """Return the scores of some items, (rows,)."""
        scores = self._evaluator.at(rows)
        if self.log_prior is not None:
            scores += self.log_prior[rows]
        return scores

    def values(self, terms: Sequence[Term], rows: Rows) -> Doubles:
        """Return the sum of some terms and of θ's log-prior, in nats: (thetas, rows)."""
        return self._evaluator.values(terms, rows)


class Candidates:
    """The rows that a prior leaves open and that need not come later, in their order."""

    def __init__(self, count: int, prior: Prior | None, later: Sequence[Rows]) -> None:
        self._prior = prior
        aside = np.sort(np.concatenate([np.empty(0, np.int64), *later]))
        ranks = aside if prior is None else prior.rank(aside)
        # Where those set aside stand among the others: what lies behind moves up by one for each.
        self._gaps = ranks - np.arange(len(ranks))
        self._count = (count if prior is None else int(prior.before[-1])) - len(aside)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, places: int | Rows) -> Rows:
        """Return the rows at some places, of the places' shape."""
        places = np.asarray(places, np.int64)
        flat = places.reshape(-1)
        if len(flat) and not 0 <= flat.min() <= flat.max() < self._count:
            raise IndexError(f"There are {self._count} candidates.")
        among = flat + np.searchsorted(self._gaps, flat, "right")
        rows = among if self._prior is None else self._prior.select(among)
        return rows.reshape(places.shape)


class MergedRanking(ValueRanking):
    """All items of a context by values that the shards compute.

    top(count): what every shard that answers has first, (count,) items each. values(rows): the
    values of some items, (rows,), computed at the front.
    """

    def __init__(
        self,
        total: int,
        later: tuple[Rows, ...],
        top: Callable[[int], list[TopItemsReply]],
        values: Callable[[Rows], Doubles],
    ) -> None:
        super().__init__(total, later)
        self._top = top
        self._values = values

    def values(self, rows: Rows) -> Doubles:
        """Return the values of some items, (rows,)."""
        return self._values(rows)

    def _best(self, count: int) -> Rows:
        replies = self._top(count)
        rows = np.concatenate([reply.rows for reply in replies])
        values = np.concatenate([reply.values for reply in replies])
        return best_rows(rows, values, count)


@dataclass(frozen=True, eq=False, kw_only=True)
class FrontContext(RankingInputs):
    """The moment that is ranked, at the front; what concerns all items is asked of the shards."""

    scores: FrontScores
    queries: QueryRound

    @classmethod
    def of(cls, inputs: RankingInputs, scores: FrontScores, queries: QueryRound) -> FrontContext:
        """Return the moment of some inputs."""
        return cls(**vars(inputs), scores=scores, queries=queries)

    @property
    def total(self) -> int:
        """How many items are ranked: all that the prior does not rule out."""
        prior = self.scores.log_prior
        return self.scores.count if prior is None else int(prior.before[-1])

    def candidates(self) -> Candidates:
        """Return the items that come before the later ones, by row; no list of them is made."""
        return Candidates(self.scores.count, self.scores.log_prior, self.later)

    def distances(self, one: Rows, other: Rows) -> Doubles:
        """Return distances between items, the views weighing alike: (one, other)."""
        return self.scores.space.between(one, other)

    def pooled(self, number: int, choose: Callable[[], Rows]) -> Rows:
        """Return the page of a number in the pool, found anew: searches share nothing here."""
        return choose()

    def ordered(
        self, width: float, per_click: bool = True, wave: Wave | None = None
    ) -> ValueRanking:
        """Return the items by score + width · noise; as in `RankingContext`."""
        alike = None if wave is None else WaveNoise(self, self.scores.space, wave)
        noise = KeyedNoise(self, width, per_click, alike)
        return self._merged(
            lambda count: TopScoresQuery(width, per_click, wave, count),
            lambda rows: self.scores.at(rows) + noise.at(rows),
        )

    def shuffled(self) -> ValueRanking:
        """Return the items in an order that is nothing but noise."""
        return self._merged(TopShuffledQuery, lambda rows: shuffle_values(self, rows))

    def by_probability(self, width: float, per_click: bool = True) -> ValueRanking:
        """Return the items by probability + width · noise."""
        noise = KeyedNoise(self, width, per_click)
        total = self.queries.log_total()
        return self._merged(
            lambda count: TopProbabilitiesQuery(width, per_click, total, count),
            lambda rows: noisy_probabilities(self.scores.at(rows), total, noise, rows),
        )

    def _merged(
        self, query: Callable[[int], Query], values: Callable[[Rows], Doubles]
    ) -> ValueRanking:
        """Return a ranking; query(count): what shards are asked, values(rows): as they rank."""

        def top(count: int) -> list[TopItemsReply]:
            return self.queries.ask(query(count), TopItemsReply)

        return MergedRanking(self.total, self.later, top, values)
