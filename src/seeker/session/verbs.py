"""What a person can do in a search: one verb for every kind of event."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seeker.errors import BadInput
from seeker.session.base import Event
from seeker.session.events import Click, Explore, Filter, Focus, Found, Redo, Undo, Verdict
from seeker.session.examples import example_of
from seeker.session.page import Item, ids_of
from seeker.session.words import Say, Unsay
from seeker.types import Array


class SessionVerbs(ABC):
    """The verbs of a session, be it in this process or on a server."""

    @abstractmethod
    def act(self, event: Event) -> None:
        """Let something happen, or leave everything as it was."""

    def like(self, item: str, shown: Sequence[str | Item] | None = None) -> None:
        """Say that an item is like the one looked for; shown: what was on screen (the page)."""
        self.click(item, "like", shown)

    def dislike(self, item: str, shown: Sequence[str | Item] | None = None) -> None:
        """Say that an item is not like the one looked for; shown: what was on screen (the page)."""
        self.click(item, "dislike", shown)

    def clear(self, item: str) -> None:
        """Take back the verdict on an item."""
        self.click(item, "clear", ())

    def click(self, item: str, verdict: Verdict, shown: Sequence[str | Item] | None = None) -> None:
        """Give a verdict on an item; the clicked item counts as shown, too."""
        ids = shown if isinstance(shown, str) or not isinstance(shown, Iterable) else ids_of(shown)
        self.act(Click(item, verdict, ids))

    def like_example(self, example: Any) -> None:
        """Say that something that is in no catalog is like the item looked for.

        example: a picture (a path, the contents of a file, a Pillow picture, or pixels as an array
        of (height, width, 3) uint8), or vectors by view; one vector will do where there is one
        view. It counts like a like that was chosen over a sample of the catalog.
        """
        self.act(example_of(example))

    def say(self, text: str | Array | Sequence[float], view: str | None = None) -> None:
        """Give feedback in words, or as a vector r in a view (the first one unless named).

        Words are placed in a view that reads text; where there is none, they are searched for.
        """
        if not isinstance(text, str):
            self.act(Say("", view, text))  # type: ignore[arg-type]
        elif not text.strip():
            raise BadInput("There are no words to read.", "Say something in words.")
        else:
            self.act(Say(text))

    def unsay(self, text: str) -> None:
        """Let words no longer count: a text, or the words that the session began with."""
        self.act(Unsay(text))

    def filter(self, filter: Mapping[str, Any] | None) -> None:
        """Show only items that pass a filter from now on, or all again; clicks go on counting."""
        self.act(Filter(filter))

    def explore(self, level: float) -> None:
        """Explore so many times as much as usual from now on: 1 is usual, 0 the best only."""
        self.act(Explore(level))

    def focus(self, views: Mapping[str, float]) -> None:
        """Say what matters, by view: factors on how much it counts before any click, 1 as it is.

        It replaces what was said before: views that are not named matter as usual. 0 rules a view
        out, with all mixtures that it has a part in.
        """
        self.act(Focus(views))

    def found(self, item: str, reason: str | None = None) -> None:
        """Say that this is the item looked for.

        reason: "opened", "basket" or "bought", where a site knows it and nobody has said so.
        """
        self.act(Found(item, reason))

    def undo(self, count: int = 1) -> None:
        """Take back the last events that are still in effect."""
        self.act(Undo(count))

    def redo(self, count: int = 1) -> None:
        """Bring back what was undone last, as long as nothing else has happened since."""
        self.act(Redo(count))
