"""The pages that the next click can lead to, found before it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seeker.session.events import Click, Verdict
from seeker.session.finder import Head
from seeker.session.state import State

VERDICTS: tuple[Verdict, ...] = ("like", "dislike")


class Ahead:
    """Heads of rankings by the click that leads to them from one state and its page.

    In which order the items of the page were on screen makes no difference.
    """

    def __init__(self) -> None:
        self._state: State | None = None
        self._shown: frozenset[str] = frozenset()
        self._heads: dict[tuple[str, Verdict], Head] = {}

    def of(self, state: State) -> Head | None:
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

    def add(self, click: Click, head: Head) -> None:
        """Take in what a click leads to."""
        self._heads[click.item, click.verdict] = head
