"""The pages that the next click can lead to, found before it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from seeker.session.events import Click, Verdict
from seeker.session.finder import Head
from seeker.session.state import State

VERDICTS: tuple[Verdict, ...] = ("like", "dislike")

Key: TypeAlias = tuple[str, Verdict, frozenset[str]]


class Ahead:
    """Heads of rankings by the click that leads to them from one state."""

    def __init__(self) -> None:
        self._state: State | None = None
        self._heads: dict[Key, Head] = {}

    def of(self, state: State) -> Head | None:
        """Return the head of a state's ranking, if it was found before."""
        if state.before is not self._state or not isinstance(state.last, Click):
            return None
        return self._heads.get(_key(state.last))

    def open(self, state: State, page: Sequence[str]) -> Iterator[Click]:
        """Yield the clicks on a state's page of which nothing is known yet, the likes first."""
        if state is not self._state:
            self._state, self._heads = state, {}
        for verdict in VERDICTS:
            for item in page:
                click = Click(item, verdict, tuple(page))
                if _key(click) not in self._heads:
                    yield click

    def add(self, click: Click, head: Head) -> None:
        """Take in what a click leads to."""
        self._heads[_key(click)] = head


def _key(click: Click) -> Key:
    """Return what counts of a click: not in which order items were on screen."""
    return click.item, click.verdict, frozenset(click.shown)
