"""Rows of the items that a session speaks of, and which of them were seen and clicked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from seeker.errors import NotFound
from seeker.session.base import Event
from seeker.session.events import Click
from seeker.session.protocol import SearchableCatalog
from seeker.session.state import State
from seeker.types import Floats


class RowIndex:
    """The rows of the items a session speaks of.

    An item that has left the catalog since it was clicked keeps its vote: it gets a row after the
    last one. departed: the vectors of such items by view, (d,) each, in the order of these rows.
    """

    def __init__(self, catalog: SearchableCatalog, events: Iterable[Event]) -> None:
        """Give rows to all items of the events."""
        self._catalog = catalog
        self._rows: dict[str, int] = {}
        self.departed: list[Mapping[str, Floats]] = []
        for event in events:
            clicked = (event.item,) if isinstance(event, Click) else ()
            for item in (*clicked, *event.on_screen):
                if not self.known(item) and not self._remember(item) and item in clicked:
                    raise NotFound(
                        f"The session has a click on item {item!r}, of which nothing is known.",
                        "Open it with the catalog it was made with, or a later version of it.",
                    )

    def _remember(self, item: str) -> bool:
        """Give a row to an item that is not in the catalog; return whether it is remembered."""
        vectors = self._catalog.tombstones.get(item)
        if vectors is None:
            return False
        self._rows[item] = len(self._catalog) + len(self.departed)
        self.departed.append(vectors)
        return True

    def learn(self, items: Iterable[str], rows: Iterable[int]) -> None:
        """Take in where items are that were just read, so that nobody has to look them up."""
        self._rows.update(zip(items, rows, strict=True))

    def of(self, item: str) -> int:
        """Return the row of an item."""
        row = self._rows.get(item) if isinstance(item, str) else None
        if row is None:
            row = self._rows[item] = self._catalog.row(item)
        return row

    def of_known(self, items: Iterable[str]) -> list[int]:
        """Return the rows of those items that are in the catalog or remembered, in their order."""
        rows = self._rows
        return [rows[item] for item in items if item in rows or self.known(item)]

    def known(self, item: str) -> bool:
        """Whether the item is in the catalog or remembered."""
        try:
            self.of(item)
        except NotFound:
            return False
        return True


class SeenItems:
    """What a person has seen and clicked, by row.

    It is carried on from a state to the one after it; after an undo, gathered from the beginning.

    rows: what was on screen at any click, and what was liked or disliked. clicks: how often an
    item was liked or disliked.
    """

    def __init__(self, index: RowIndex) -> None:
        self.rows: set[int] = set()
        self.clicks: dict[int, int] = {}
        self._index = index
        self._state: State | None = None

    def copy(self) -> SeenItems:
        """Return the same, to be carried on in another way."""
        copy = SeenItems(self._index)
        copy.rows, copy.clicks, copy._state = {*self.rows}, {**self.clicks}, self._state
        return copy

    def follow(self, state: State) -> None:
        """Be about this state from now on."""
        before, self._state = self._state, None
        if before is not None and state.before is before and state.last is not None:
            self._add(state.last)
        else:
            self.rows, self.clicks = set(), {}
            for _, event in state.history:
                self._add(event)
        self._state = state

    def _add(self, event: Event) -> None:
        self.rows.update(self._index.of_known(event.on_screen))
        if isinstance(event, Click) and event.verdict != "clear":
            row = self._index.of(event.item)
            self.rows.add(row)
            self.clicks[row] = self.clicks.get(row, 0) + 1
