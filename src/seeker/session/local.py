"""The finder of a catalog that is searched in this process."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from seeker.models.scores import Scores
from seeker.models.stopping import Stop, never
from seeker.session.belief import Belief
from seeker.session.finder import Finder
from seeker.session.posterior import Posterior
from seeker.session.searchable import Searchable
from seeker.session.state import State
from seeker.session.whereabouts import Whereabouts

KEPT_BELIEF = 1_000_000
"""Up to so many items a belief is kept until the next click; beyond, while somebody holds it."""

_PER_ITEM = 8


class LocalFinder(Finder):
    """Holds scores of all items, as far as they have been needed."""

    def __init__(self, catalog: Searchable, state: State, rows: Whereabouts) -> None:
        model, person = state.start.model, state.start.person
        space = model.space(list(catalog.views.values()), person, rows.departed)
        self._belief: Callable[[], Belief | None] | None = None
        super().__init__(catalog, state, rows, Scores(model, space))

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

    def refresh(self, stop: Stop) -> None:
        """Bring all bounds up to date, and find the items that can be on the next page."""
        self._scores.settle(stop)
        page = self.head(self._state.start.page_size).rows.tolist()
        self._shortlist = self._ranking.shortlist()
        self._scores.anticipate(self._evidence, page, stop)

    def lighten(self, columns: bool = False) -> None:
        """Let go of the belief, and of columns kept for later clicks."""
        self._belief = None
        if columns:
            self._scores.store.clear()

    @property
    def asked_bytes(self) -> int:
        """About how many bytes a ranking takes that was asked for."""
        return _PER_ITEM * len(self._catalog)
