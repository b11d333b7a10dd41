"""The finder of a catalog that is searched in this process."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace

import numpy as np

from seeker.display import Shortlist, ShortlistExhausted
from seeker.display.base import LocalContext
from seeker.kernels.parallel import Interrupted, Stop, never
from seeker.models.scores import DEFAULT_LIMITS, Limits, Scores
from seeker.session.belief import Belief, Posterior
from seeker.session.events import Click, Verdict
from seeker.session.finder import Finder, RankingHead, log_prior, prior_inputs, words_of
from seeker.session.protocol import SearchableCatalog
from seeker.session.rows import RowIndex
from seeker.session.start import Start
from seeker.session.state import State
from seeker.types import Rows

_VERDICTS: tuple[Verdict, ...] = ("like", "dislike")
_BYTES_PER_ITEM = 8
_QUICK_TERMS = 6
"""Terms of few items with all their columns at hand that take a millisecond or so."""


class PagePrefetch:
    """Heads of rankings by the click that leads to them from one state and its page.

    In which order the items of the page were on screen makes no difference.
    """

    def __init__(self) -> None:
        self._state: State | None = None
        self._page: frozenset[str] = frozenset()
        self._heads: dict[tuple[str, Verdict], RankingHead] = {}

    def of(self, state: State) -> RankingHead | None:
        """Return the head of a state's ranking, if it was found before."""
        click = state.last
        if state.before is not self._state or not isinstance(click, Click):
            return None
        if self._page != {*click.on_screen}:
            return None
        return self._heads.get((click.item, click.verdict))

    def missing(self, state: State, page: Sequence[str]) -> Iterator[Click]:
        """Yield the clicks on a state's page of which nothing is known yet, the likes first."""
        if state is not self._state:
            self._state, self._page, self._heads = state, frozenset(page), {}
        for verdict in _VERDICTS:
            for item in page:
                if (item, verdict) not in self._heads:
                    yield Click(item, verdict, tuple(page))

    def add(self, click: Click, head: RankingHead) -> None:
        """Take in what a click leads to."""
        self._heads[click.item, click.verdict] = head


class LocalFinder(Finder):
    """Holds scores of all items, as far as they have been needed."""

    _scores: Scores

    def __init__(
        self,
        catalog: SearchableCatalog,
        start: Start,
        rows: RowIndex,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        space = start.model.space(list(catalog.views.values()), start.person, rows.extra_vectors)
        super().__init__(catalog, rows, Scores(start.model, space, limits=limits))
        self._limits = limits
        self._shortlist: Shortlist | None = None
        self._listed: State | None = None
        self._prefetch = PagePrefetch()
        self._prefetched: RankingHead | None = None
        self._strained = False
        self._belief: Callable[[], Belief | None] | None = None

    def follow(self, state: State) -> None:
        """Be about this state from now on."""
        super().follow(state)
        self._prefetched = self._prefetch.of(state)

    def move_to(self, catalog: SearchableCatalog) -> bool:
        """Go on in a version of the catalog with the same items and vectors.

        Only filters and words have to be asked again, for they are about what is said of items;
        where they give what they gave, all that was found out stays.
        """
        state = self._state
        prior = log_prior(catalog, state.start.prior_array, prior_inputs(state))
        said = [text for text in state.texts if text.search is not None]
        words = {id(text): (text, words_of(catalog, text)) for text in said}
        terms = tuple(term for _, term in words.values())
        self._catalog, self._words = catalog, words
        before = self._scores.log_prior
        same = before is prior or (
            before is not None and prior is not None and np.array_equal(before, prior)
        )
        if not same:
            self._scores.set_prior(prior)
        if terms != self._evidence.words:
            self._evidence = replace(self._evidence, words=terms)
            self._scores.condition_on(self._evidence)
            same = False
        if not same:
            self._order = self._later = self._prefetched = None
            self._prefetch = PagePrefetch()
        self.release_caches()
        return True

    def head(self, count: int) -> RankingHead:
        """Return the first items of the ranking, (count,) or fewer at the end of the catalog."""
        prefetched = self._prefetched
        if prefetched is not None and count <= len(prefetched.rows):
            return replace(prefetched, rows=prefetched.rows[:count])
        head = super().head(count)
        self._strained |= self._ranking.strained
        return head

    def believe(self, stop: Stop = never) -> Belief:
        """Return what is believed now."""
        belief = None if self._belief is None else self._belief()
        if belief is None:
            cached = belief = self._new_belief(stop)
            few = len(self._catalog) <= self._limits.cached_belief_items
            self._belief = (lambda: cached) if few else weakref.ref(belief)
        return belief

    def _new_belief(self, stop: Stop) -> Belief:
        state = self._state

        def then() -> LocalFinder:
            """Return what this is now, also when it has moved on."""
            if self._state is state:
                return self
            finder = LocalFinder(self._catalog, state.start, self._rows, self._limits)
            finder.follow(state)
            return finder

        def page_and_over() -> tuple[Rows, Rows]:
            finder = then()
            return finder.head(state.start.page_size).rows, finder._over()

        return Posterior(
            self._scores.everywhere(stop),
            tuple(self._catalog.views),
            self._scores.grid,
            lambda log_total: then()._scores.settings(log_total),
            page_and_over,
            self._catalog.row,
        )

    @property
    def quick(self) -> bool:
        """Whether the next page takes a millisecond or so, whatever is clicked."""
        scores = self._scores
        there = scores.few and scores.space.all_columns is not None
        return there and scores.missing_terms <= _QUICK_TERMS

    def catch_up_in_pieces(self, between: Callable[[], None]) -> None:
        """Bring all items up to date where many clicks are pending, some at a time."""
        self._scores.catch_up_in_pieces(between)

    def refresh(self, stop: Stop) -> None:
        """Bring all bounds up to date, and find what the next page needs."""
        self._scores.catch_up(stop)
        page = self.head(self._state.start.page_size).rows.tolist()
        self._shortlist, self._listed = self._ranking.shortlist(), self._state
        self._scores.anticipate(self._evidence, page, self._strained, stop)

    def look_ahead(self, stop: Stop) -> None:
        """Find the pages that a click on this page leads to, as far as the shortlist tells."""
        few = len(self._catalog) < self._limits.prefetch_items
        if few or self._shortlist is None or self._listed is not self._state:
            return
        page = self.head(self._state.start.page_size).rows.tolist()
        ids = [item.id for item in self._catalog.items(page)]
        self._rows.learn(ids, page)
        for click in self._prefetch.missing(self._state, ids):
            if stop():
                raise Interrupted
            fork = self._fork()
            fork.follow(click.apply(self._state))
            ranking = fork._ranked(replace(fork._context(), listed_only=True))
            with suppress(ShortlistExhausted):  # such a page is looked for when it is asked for
                self._prefetch.add(click, RankingHead(ranking.head(len(page)), ranking.total))

    def _fork(self) -> LocalFinder:
        """Return another finder of the same session, to follow a click that may be made.

        It shares what is kept of all items, so it may be asked about some of them only.
        """
        fork = copy(self)
        fork._scores = self._scores.fork()
        fork._seen = self._seen.copy()
        return fork

    def release_caches(self, columns: bool = False) -> None:
        """Let go of the belief, and of columns kept for later clicks."""
        self._belief = None
        self._scores.release_scores()
        if columns:
            self._scores.release_columns()

    @property
    def spare_bytes(self) -> int:
        """How many of the bytes are quickly there again."""
        return self._scores.spare_bytes

    def release_sums(self) -> None:
        """Let go of these."""
        self._scores.release_sums()

    @property
    def nbytes(self) -> int:
        """How many bytes are kept here; they can be dropped and computed again."""
        return super().nbytes + (0 if self._shortlist is None else self._shortlist.nbytes)

    @property
    def ranking_bytes(self) -> int:
        """About how many bytes a ranking takes while it is computed."""
        return _BYTES_PER_ITEM * len(self._catalog)

    def _context(self) -> LocalContext:
        return LocalContext.of(self._ranking_inputs(), self._scores, self._shortlist)
