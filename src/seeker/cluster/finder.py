"""A catalog over shards, and the finder of its sessions: the same pages, computed elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from seeker.catalog import Catalog
from seeker.cluster.belief import MergedBelief
from seeker.cluster.context import FrontContext, FrontScores
from seeker.cluster.fleet import Fleet, QueryRound, RequestBuilder, SentAttachments
from seeker.cluster.messages import RefreshQuery, RefreshReply, ScoringInputs
from seeker.display import Ranking
from seeker.display.base import RankingInputs
from seeker.kernels.parallel import Interrupted, Stop, never
from seeker.models.words import NO_MATCHES
from seeker.session import Start
from seeker.session.finder import Finder, RankingHead
from seeker.session.rows import RowIndex
from seeker.space import CatalogVectors
from seeker.types import Array, Doubles, Floats


class ShardFinder(Finder):
    """Reads the few vectors that were clicked or shown, and asks shards what concerns all items.

    A ranking made while a shard was silent is not used again: the next look may find it there.
    """

    _scores: FrontScores

    def __init__(self, catalog: ClusterCatalog, start: Start, rows: RowIndex) -> None:
        views = list(catalog.views.values())
        space = start.model.space(views, start.person, rows.extra_vectors, all_items=False)
        super().__init__(catalog, rows, FrontScores(start.model, space, catalog.fleet.ranges))
        self._fleet = catalog.fleet
        self._vectors = CatalogVectors(views, rows.extra_vectors)
        self._key = ("", -1)
        self._sent = SentAttachments()
        self._queries: QueryRound | None = None
        self._belief: tuple[QueryRound, MergedBelief] | None = None

    def head(self, count: int) -> RankingHead:
        """Return the first items of the ranking, as far as the shards answer."""
        head = super().head(count)
        return replace(head, partial=self._round().partial)

    def believe(self, stop: Stop = never) -> MergedBelief:
        """Return what is believed now; the shards are asked when its figures are."""
        ranking, queries = self._ranking, self._round()
        if self._belief is None or self._belief[0] is not queries:
            size = min(self._state.start.page_size, ranking.total)
            over = self._over()
            belief = MergedBelief(
                self._scores.fork(),
                tuple(self._catalog.views),
                queries,
                lambda: (ranking.head(size), over),
                self._catalog.row,
            )
            self._belief = queries, belief
        return self._belief[1]

    def refresh(self, stop: Stop) -> None:
        """Have the shards bring their bounds up to date, unless they have more urgent things."""
        page = self.head(self._state.start.page_size).rows
        if stop():
            raise Interrupted
        query = RefreshQuery(tuple(page.tolist()))
        self._round().ask(query, RefreshReply, stop=stop)

    def prepare(self, stop: Stop) -> MergedBelief:
        """Do in advance what the next page and the belief's figures need."""
        self.refresh(stop)
        belief = self.believe(stop)
        belief.prefetch(stop)
        return belief

    def release_caches(self, columns: bool = False) -> None:
        """Let go of the belief; columns are the shards' own."""
        self._belief = None

    @property
    def ranking_bytes(self) -> int:
        """Nothing: rankings and beliefs of all items are in the shards."""
        return 0

    @property
    def _ranking(self) -> Ranking:
        if self._queries is not None and self._queries.partial:
            self._order = None
        return super()._ranking

    def _round(self) -> QueryRound:
        """Return the queries that the present ranking was made with."""
        assert self._queries is not None, "there is no ranking yet"
        return self._queries

    def _context(self) -> FrontContext:
        inputs = self._ranking_inputs()
        self._queries = QueryRound(self._fleet, self._request_builder(inputs))
        return FrontContext.of(inputs, self._scores, self._queries)

    def _request_builder(self, ranking: RankingInputs) -> RequestBuilder:
        """Return what makes requests about the session as it is now."""
        prior, said = self._scores.log_prior, self._evidence.words
        words = [term.with_matches(NO_MATCHES) for term in said]
        inputs = ScoringInputs(
            key=self._session_key(),
            views=tuple(self._catalog.views),
            model=self._scores.model,
            person=self._state.start.person,
            evidence=replace(self._evidence, words=tuple(words)),
            rows=self._scores.rows,
            prior=None if prior is None else prior.name,
            focus=self._focus_factors(self._state),
            seed=ranking.seed,
            step=ranking.step,
            clicks=ranking.clicks,
            later=ranking.later,
        )
        matches = [term.matches for term in said]
        return RequestBuilder(inputs, prior, self._vectors, matches, self._sent)

    def _session_key(self) -> str:
        """Return the name of what shards keep of this session.

        Rows beyond the catalog mean something in this session only: with each new one, there is
        another name.
        """
        start, extra_vectors = self._state.start, self._rows.extra_vectors
        if self._key[1] != len(extra_vectors):
            names = list(self._catalog.views)
            key = session_key(start.seed, start.model, names, start.person, extra_vectors)
            self._key, self._sent = (key, len(extra_vectors)), SentAttachments()
        return self._key[0]


def session_key(
    seed: int,
    model: object,
    views: Sequence[str],
    person: Mapping[str, Doubles] | None,
    extra_vectors: Sequence[Mapping[str, Floats]],
) -> str:
    """Return a name for what a shard keeps of a session; other fronts find it, too."""
    digest = hashlib.sha256(repr((seed, model, *views)).encode())
    by_view: list[Mapping[str, Array]] = [] if person is None else [person]
    for vectors in [*by_view, *extra_vectors]:
        for view in sorted(vectors):
            digest.update(repr((view, vectors[view].shape)).encode())
            digest.update(vectors[view].tobytes())
    return digest.hexdigest()[:32]


START_SECONDS = 120.0
"""How long shards may take to start and to have their rows sent."""


class ClusterCatalog(Catalog):
    """Items, filters and keyword search here at the front; distances and scores in shards."""

    fleet: Fleet

    @classmethod
    def over(cls, catalog: Catalog, fleet: Fleet) -> ClusterCatalog:
        """Return a catalog with its rows searched by shards that were made for it."""
        same = cls(
            catalog._collection,
            catalog.views,
            catalog._readers,
            catalog.folder,
            catalog.manifest,
            catalog.maps,
        )
        same._stamp = catalog._stamp
        same.fleet = fleet
        return same

    def finder(self, start: Start, rows: RowIndex) -> ShardFinder:
        """Return what computes order and belief for a session, by asking the shards."""
        return ShardFinder(self, start, rows)

    def preload(self, stop: Stop = never, first_pages: bool = True) -> None:
        """Shards compute their own distances; nothing is shared here."""

    def wait_until_ready(self, seconds: float = START_SECONDS) -> None:
        """Wait until all shards have their part of the catalog."""
        self.fleet.wait_until_ready(seconds)
