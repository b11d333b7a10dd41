"""Rows of the items that a session speaks of, and which of them were seen and clicked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from seeker.errors import NotFound
from seeker.session.base import Event
from seeker.session.protocol import SearchableCatalog
from seeker.session.state import State
from seeker.types import Doubles, Floats


class RowIndex:
    """The rows of the items a session speaks of.

    What is not in the catalog gets a row after the last one: an item that has left it since it was
    clicked keeps its vote, and an example has one. extra_vectors: of such things by view,
    (d,) each, in the order of these rows; it grows.
    """

    def __init__(self, catalog: SearchableCatalog, events: Iterable[Event]) -> None:
        """Give rows to all items of the events."""
        self._catalog = catalog
        self._rows: dict[str, int] = {}
        self._outside: dict[int, Mapping[str, Floats]] = {}
        self._decoys: dict[tuple[int, int, float], int] = {}
        self.extra_vectors: list[Mapping[str, Floats]] = []
        for event in events:
            self.add(event)

    def add(self, event: Event) -> None:
        """Give rows to all items of an event."""
        for item, vectors in event.outside.items():
            if item not in self._rows:
                self._rows[item] = self._append(self._catalog.complete_vectors(vectors))
                self._outside[self._rows[item]] = vectors
        judged = event.judged
        for item in event.on_screen if judged is None else (judged, *event.on_screen):
            if not self.known(item) and not self._remember(item) and item == judged:
                raise NotFound(
                    f"The session has a click on item {item!r}, of which nothing is known.",
                    "Open it with the catalog it was made with, or a later version of it.",
                )

    def move_to(self, catalog: SearchableCatalog) -> None:
        """Be about another version of the catalog, in which all items have the same rows."""
        self._catalog = catalog

    def _remember(self, item: str) -> bool:
        """Give a row to an item that is not in the catalog; return whether it is remembered."""
        vectors = self._catalog.tombstones.get(item)
        if vectors is not None:
            self._rows[item] = self._append(vectors)
        return vectors is not None

    def _append(self, vectors: Mapping[str, Floats]) -> int:
        """Return a new row after the last, of something with these vectors by view."""
        self.extra_vectors.append(vectors)
        return len(self._catalog) + len(self.extra_vectors) - 1

    def decoys(self, row: int, others: Iterable[int], distance: float) -> list[int]:
        """Return rows of stand-ins for items of the catalog, each drawn towards an example.

        row: of the example. distance: the part of the way from there that is left. In views that
        the example has no vector in, they are all the average item, so nothing is told apart.
        """
        return [self._decoy(row, other, distance) for other in others]

    def _decoy(self, row: int, other: int, distance: float) -> int:
        decoy = self._decoys.get((row, other, distance))
        if decoy is None:
            vectors: dict[str, Doubles] = {}
            for name, view in self._catalog.raw_views.items():
                known = self._outside.get(row)
                if known is None:
                    start = view.rows(np.array([row]))[0]
                elif name in known:
                    start = known[name].astype(np.float64)
                else:
                    continue
                vectors[name] = start + distance * (view.rows(np.array([other]))[0] - start)
            decoy = self._append(self._catalog.complete_vectors(vectors))
            self._decoys[row, other, distance] = decoy
        return decoy

    def learn(self, items: Iterable[str], rows: Iterable[int]) -> None:
        """Take in where items are that were just read, so that nobody has to look them up."""
        self._rows.update(zip(items, rows, strict=True))

    def of(self, item: str) -> int:
        """Return the row of an item."""
        row = self._rows.get(item) if isinstance(item, str) else None
        if row is None:
            row = self._rows[item] = self._catalog.row(item)
        return row

    def of_present(self, item: str) -> int:
        """Return the row of an item of the catalog, or of an example; Gone if it has left."""
        row = self.of(item)
        if row >= len(self._catalog) and row not in self._outside:
            return self._catalog.row(item)
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
        if event.judged is not None:
            row = self._index.of(event.judged)
            self.rows.add(row)
            self.clicks[row] = self.clicks.get(row, 0) + 1
