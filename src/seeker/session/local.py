"""The finder of a catalog that is searched in this process."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from seeker.display import TooShort
from seeker.models.scores import Scores
from seeker.models.stopping import Interrupted, Stop, never
from seeker.session.ahead import Ahead
from seeker.session.belief import Belief
from seeker.session.finder import Finder, Head
from seeker.session.posterior import Posterior
from seeker.session.searchable import Searchable
from seeker.session.state import State
from seeker.session.whereabouts import Whereabouts

LOOKED_AHEAD = 50_000
"""From so many items on, the pages that the next click can lead to are found before it; in smaller
catalogs a page takes less than finding all of them is worth."""

KEPT_BELIEF = 1_000_000
"""Up to so many items a belief is kept until the next click; beyond, while somebody holds it."""

_PER_ITEM = 8


class LocalFinder(Finder):
    """Holds scores of all items, as far as they have been needed."""

    def __init__(self, catalog: Searchable, state: State, rows: Whereabouts) -> None:
        model, person = state.start.model, state.start.person
        space = model.space(list(catalog.views.values()), person, rows.departed)
        self._belief: Callable[[], Belief | None] | None = None
        self._ahead = Ahead()
        super().__init__(catalog, state, rows, Scores(model, space))

    def follow(self, state: State) -> None:
        """Be about this state from now on."""
        super().follow(state)
        self._foreseen = self._ahead.of(state)

    def head(self, count: int) -> Head:
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
            few = len(self._catalog) <= KEPT_BELIEF
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

    def catch_up(self, between: Callable[[], None]) -> None:
        """Bring all items up to date where many clicks are pending, some at a time."""
        self._scores.catch_up(between)

    def refresh(self, stop: Stop) -> None:
        """Bring all bounds up to date, and find what the next page needs, or even is."""
        self._scores.settle(stop)
        page = self.head(self._state.start.page_size).rows.tolist()
        self._shortlist = self._ranking.shortlist()
        self._scores.anticipate(self._evidence, page, stop)
        if self._shortlist is not None and len(self._catalog) >= LOOKED_AHEAD:
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
                ranking = self._ranked(replace(self._scene(), listed_only=True))
                with suppress(TooShort):  # such a page is looked for when it is asked for
                    self._ahead.add(click, Head(ranking.head(len(page)), ranking.total))
        finally:
            self.follow(state)
            self._order, self._belief, self._foreseen = kept

    def lighten(self, columns: bool = False) -> None:
        """Let go of the belief, and of columns kept for later clicks."""
        self._belief = None
        if columns:
            self._scores.store.clear()

    @property
    def asked_bytes(self) -> int:
        """About how many bytes a ranking takes that was asked for."""
        return _PER_ITEM * len(self._catalog)
