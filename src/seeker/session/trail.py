"""What a search has left behind in the catalog, by row: what was seen, and what was clicked."""

from __future__ import annotations

from seeker.session.base import Event
from seeker.session.events import Click
from seeker.session.state import State
from seeker.session.whereabouts import Whereabouts


class Trail:
    """Carried on from a state to the one after it; after an undo, gathered from the beginning.

    seen: what was on screen at any click, and what was liked or disliked. clicks: how often an
    item was liked or disliked.
    """

    def __init__(self, rows: Whereabouts) -> None:
        self.seen: set[int] = set()
        self.clicks: dict[int, int] = {}
        self._rows = rows
        self._state: State | None = None

    def follow(self, state: State) -> None:
        """Be about this state from now on."""
        before, self._state = self._state, None
        if before is not None and state.before is before and state.last is not None:
            self._add(state.last)
        else:
            self.seen, self.clicks = set(), {}
            for _, event in state.history:
                self._add(event)
        self._state = state

    def _add(self, event: Event) -> None:
        if not isinstance(event, Click):
            return
        self.seen.update(self._rows.of_known(event.on_screen))
        if event.verdict != "clear":
            row = self._rows.of(event.item)
            self.seen.add(row)
            self.clicks[row] = self.clicks.get(row, 0) + 1
