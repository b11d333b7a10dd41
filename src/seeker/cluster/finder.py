"""The finder of a catalog over shards: the same pages, computed where the items are."""

from __future__ import annotations

from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING

from seeker.cluster.belief import MergedBelief
from seeker.cluster.context import FrontContext
from seeker.cluster.fleet import Inquiry, ShardState, SuppliedState, session_key
from seeker.cluster.messages import RefreshBounds, SessionMoment
from seeker.cluster.scores import FrontScores, front_space
from seeker.display import Ranking, RankingContext
from seeker.kernels.parallel import Interrupted, Stop, never
from seeker.session import State
from seeker.session.finder import Finder, RankingHead
from seeker.session.rows import RowIndex

if TYPE_CHECKING:
    from seeker.cluster.catalog import ClusterCatalog


class ShardFinder(Finder):
    """Reads the few vectors that were clicked or shown, and asks shards what concerns all items.

    What was found while a shard was silent is not used again: the next look may find it there.
    """

    _scores: FrontScores

    def __init__(self, catalog: ClusterCatalog, state: State, rows: RowIndex) -> None:
        start, self._fleet = state.start, catalog.fleet
        views = list(catalog.views.values())
        space = front_space(views, start.model, start.person, rows.departed)
        self._key = session_key(start.seed, start.model, start.person, rows.departed)
        self._told = SuppliedState(space)
        self._inquiry: Inquiry | None = None
        self._belief: tuple[Inquiry, MergedBelief] | None = None
        super().__init__(catalog, state, rows, FrontScores(start.model, space, self._fleet.ranges))

    def head(self, count: int) -> RankingHead:
        """Return the first items of the ranking, as far as the shards answer."""
        head = super().head(count)
        return replace(head, partial=self._asking().silent)

    def believe(self, stop: Stop = never) -> MergedBelief:
        """Return what is believed now; the shards are asked when its figures are."""
        ranking, inquiry = self._ranking, self._asking()
        if self._belief is None or self._belief[0] is not inquiry:
            size = min(self._state.start.page_size, ranking.total)
            belief = MergedBelief(
                self._scores.then(),
                tuple(self._catalog.views),
                inquiry,
                lambda: ranking.head(size),
                self._catalog.row,
            )
            self._belief = inquiry, belief
        return self._belief[1]

    def refresh(self, stop: Stop) -> None:
        """Have the shards bring their bounds up to date, unless they have more urgent things."""
        page = self.head(self._state.start.page_size).rows
        if stop():
            raise Interrupted
        self._asking().ask(RefreshBounds(tuple(page.tolist())), NoneType, stop=stop)

    def prepare(self, stop: Stop) -> MergedBelief:
        """Do in advance what the next page and the belief's figures need."""
        self.refresh(stop)
        belief = self.believe(stop)
        belief.weigh(stop)
        return belief

    def release_caches(self, columns: bool = False) -> None:
        """Let go of the belief; columns are the shards' own."""
        self._belief = None

    @property
    def asked_bytes(self) -> int:
        """Nothing: rankings and beliefs of all items are in the shards."""
        return 0

    @property
    def _ranking(self) -> Ranking:
        if self._inquiry is not None and self._inquiry.silent:
            self._order = None
        return super()._ranking

    def _asking(self) -> Inquiry:
        """Return the questions that the ranking there is was made with."""
        assert self._inquiry is not None, "there is no ranking yet"
        return self._inquiry

    def _context(self) -> FrontContext:
        context = super()._context()
        self._inquiry = Inquiry(self._fleet, self._now(context))
        return FrontContext.of(context, self._inquiry)

    def _now(self, context: RankingContext) -> ShardState:
        """Return what shards must know of this moment."""
        prior = self._scores.log_prior
        moment = SessionMoment(
            key=self._key,
            model=self._scores.model,
            person=self._state.start.person,
            evidence=self._evidence,
            rows=self._scores.rows,
            prior=None if prior is None else prior.name,
            seed=context.seed,
            step=context.step,
            clicks=context.clicks,
            later=context.later,
        )
        return ShardState(moment, prior, self._told)
