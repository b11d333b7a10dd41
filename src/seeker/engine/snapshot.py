"""What a person is shown after each thing they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seeker.session import Belief, Event, Example, Page, Session, UnderstoodWords


@dataclass(frozen=True)
class BeliefSummary:
    """A belief in a few numbers."""

    entropy: float
    candidates: float
    on_page: float
    views: dict[str, float]
    noise: float | None

    @classmethod
    def of(cls, belief: Belief) -> BeliefSummary:
        """Sum up a belief; this reads all items."""
        return cls(belief.entropy, belief.candidates, belief.on_page, belief.views, belief.noise)


@dataclass(frozen=True)
class SessionSnapshot:
    """A session at one moment.

    query: the words it began with, and said: the texts since, as far as they count. words: what
    became of them. examples: of the likes, those that are in no catalog. undone: how many things a
    redo brings back. history: the events in effect, each with the step it led to. belief: None
    where it is still to be computed.
    """

    id: str
    catalog: str
    step: int
    length: int
    query: str | None
    filter: Mapping[str, Any] | None
    said: list[str]
    words: tuple[UnderstoodWords, ...]
    exploration: float
    focus: dict[str, float]
    found: str | None
    likes: list[str]
    dislikes: list[str]
    examples: list[Example]
    undone: int
    history: list[tuple[int, Event]]
    page: Page
    belief: BeliefSummary | None

    @classmethod
    def of(
        cls, id: str, catalog: str, length: int, session: Session, belief: BeliefSummary | None
    ) -> SessionSnapshot:
        """Show a session of some catalog, of so many events."""
        state = session.state
        return cls(
            id=id,
            catalog=catalog,
            step=state.step,
            length=length,
            query=state.query,
            filter=state.filter,
            said=state.said,
            words=session.words,
            exploration=state.exploration,
            focus=dict(state.focus),
            found=state.found,
            likes=state.likes,
            dislikes=state.dislikes,
            examples=state.examples,
            undone=len(state.undone),
            history=state.history,
            page=session.page(),
            belief=belief,
        )
