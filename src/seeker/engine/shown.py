"""What a person is shown after each thing they do."""

from __future__ import annotations

from dataclasses import dataclass

from seeker.session import Belief, Page, Session


@dataclass(frozen=True)
class Summary:
    """A belief in a few numbers."""

    entropy: float
    candidates: float
    on_page: float
    views: dict[str, float]
    noise: float | None

    @classmethod
    def of(cls, belief: Belief) -> Summary:
        """Sum up a belief; this reads all items."""
        return cls(belief.entropy, belief.candidates, belief.on_page, belief.views, belief.noise)


@dataclass(frozen=True)
class Shown:
    """A session at one moment; belief: None where it is still to be computed."""

    id: str
    catalog: str
    step: int
    length: int
    likes: list[str]
    dislikes: list[str]
    page: Page
    belief: Summary | None

    @classmethod
    def of(
        cls, id: str, catalog: str, length: int, session: Session, belief: Summary | None
    ) -> Shown:
        """Show a session of some catalog, of so many events."""
        return cls(
            id=id,
            catalog=catalog,
            step=session.step,
            length=length,
            likes=session.likes,
            dislikes=session.dislikes,
            page=session.page(),
            belief=belief,
        )
