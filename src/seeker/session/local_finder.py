"""The finder of a catalog that is searched in this process."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from seeker.display import ShortlistExhausted
from seeker.kernels.parallel import Interrupted, Stop, never
from seeker.models.scores import Scores
from seeker.session.belief import Belief, Posterior
from seeker.session.events import Click, Verdict
from seeker.session.finder import Finder, RankingHead
from seeker.session.protocol import SearchableCatalog
from seeker.session.rows import RowIndex
from seeker.session.state import State

VERDICTS: tuple[Verdict, ...] = ("like", "dislike")


class PagePrefetch:
    """Heads of rankings by the click that leads to them from one state and its page.

    In which order the items of the page were on screen makes no difference.
    """

    def __init__(self) -> None:
        self._state: State | None = None
        self._shown: frozenset[str] = frozenset()
        self._heads: dict[tuple[str, Verdict], RankingHead] = {}

    def of(self, state: State) -> RankingHead | None:
        """Return the head of a state's ranking, if it was found before."""
        click = state.last
        if state.before is not self._state or not isinstance(click, Click):
            return None
        if self._shown != {*click.on_screen}:
            return None
        return self._heads.get((click.item, click.verdict))

    def open(self, state: State, page: Sequence[str]) -> Iterator[Click]:
        """Yield the clicks on a state's page of which nothing is known yet, the likes first."""
        if state is not self._state:
            self._state, self._shown, self._heads = state, frozenset(page), {}
        for verdict in VERDICTS:
            for item in page:
                if (item, verdict) not in self._heads:
                    yield Click(item, verdict, tuple(page))

    def add(self, click: Click, head: RankingHead) -> None:
        """Take in what a click leads to."""
        self._heads[click.item, click.verdict] = head


PREFETCH_ITEMS = 50_000
"""From so many items on, the pages that the next click can lead to are found before it; in smaller
catalogs a page takes less than finding all of them is worth."""

CACHED_BELIEF_ITEMS = 1_000_000
"""Up to so many items a belief is kept until the next click; beyond, while somebody holds it."""

_BYTES_PER_ITEM = 8


class LocalFinder(Finder):
    """Holds scores of all items, as far as they have been needed."""

    def __init__(self, catalog: SearchableCatalog, state: State, rows: RowIndex) -> None:
        model, person = state.start.model, state.start.person
        space = model.space(list(catalog.views.values()), person, rows.departed)
        self._belief: Callable[[], Belief | None] | None = None
        self._ahead = PagePrefetch()
        super().__init__(catalog, state, rows, Scores(model, space))

    def follow(self, state: State) -> None:
        """Be about this state from now on."""
        super().follow(state)
        self._foreseen = self._ahead.of(state)

    def head(self, count: int) -> RankingHead:
        """Return the first items of the ranking, (count,) or fewer at the end of the catalog."""
        foreseen = self._foreseen
        if foreseen is not None and count <= len(foreseen.rows):
            return replace(foreseen, rows=foreseen.rows[:count])
        return super().head(count)

    def believe(self, stop: Stop = never) -> Belief:
        """Return what is believed now."""
        belief = None if self._belief is None else self._belief()
        if belief is None:
            kept = belief = self._new_belief(stop)
            few = len(self._catalog) <= CACHED_BELIEF_ITEMS
            self._belief = (lambda: kept) if few else weakref.ref(belief)
        return belief

    def _new_belief(self, stop: Stop) -> Belief:
        state = self._state

        def then() -> LocalFinder:
            """Return what this is now, also when it has moved on."""
            if self._state is state:
                return self
            return LocalFinder(self._catalog, state, self._rows)

        return Posterior(
            self._scores.everywhere(stop),
            tuple(self._catalog.views),
            self._scores.grid,
            lambda log_total: then()._scores.settings(log_total),
            lambda: then().head(state.start.page_size).rows,
            self._catalog.row,
        )

    def catch_up_in_pieces(self, between: Callable[[], None]) -> None:
        """Bring all items up to date where many clicks are pending, some at a time."""
        self._scores.catch_up_in_pieces(between)

    def refresh(self, stop: Stop) -> None:
        """Bring all bounds up to date, and find what the next page needs, or even is."""
        self._scores.catch_up(stop)
        page = self.head(self._state.start.page_size).rows.tolist()
        self._shortlist = self._ranking.shortlist()
        self._scores.anticipate(self._evidence, page, stop)
        if self._shortlist is not None and len(self._catalog) >= PREFETCH_ITEMS:
            self._look_ahead(page, stop)

    def _look_ahead(self, page: list[int], stop: Stop) -> None:
        """Find the pages that a click on one of some rows leads to, as far as the list tells."""
        ids = [item.id for item in self._catalog.items(page)]
        self._rows.learn(ids, page)
        state, kept = self._state, (self._order, self._belief, self._foreseen)
        try:
            for click in self._ahead.open(state, ids):
                if stop():
                    raise Interrupted
                self.follow(click.apply(state))
                ranking = self._ranked(replace(self._context(), listed_only=True))
                with suppress(ShortlistExhausted):  # such a page is looked for when it is asked for
                    self._ahead.add(click, RankingHead(ranking.head(len(page)), ranking.total))
        finally:
            self.follow(state)
            self._order, self._belief, self._foreseen = kept

    def release_caches(self, columns: bool = False) -> None:
        """Let go of the belief, and of columns kept for later clicks."""
        self._belief = None
        if columns:
            self._scores.store.clear()

    @property
    def asked_bytes(self) -> int:
        """About how many bytes a ranking takes that was asked for."""
        return _BYTES_PER_ITEM * len(self._catalog)
