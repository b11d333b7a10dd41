"""Feedback in words, or as a vector, read as an event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seeker.errors import BadInput
from seeker.numbers import bearable, numbers
from seeker.session.searchable import Searchable
from seeker.types import Array

if TYPE_CHECKING:
    from seeker.session.events import Say


def words_said(catalog: Searchable, text: str) -> tuple[str | None, tuple[float, ...]]:
    """Return a view that reads text and the words' vector there; None: they are searched for."""
    if not text.strip():
        raise BadInput("There are no words to read.", "Say something in words.")
    if not catalog.reads_text:
        return None, ()
    view, vector = catalog.embed_text(text)
    return view, tuple(map(float, vector))


def vector_said(
    catalog: Searchable, vector: Array | Sequence[float], view: str | None
) -> tuple[str, tuple[float, ...]]:
    """Return a view and a vector r, (d,), in it, checked: the first one unless named."""
    known = list(catalog.views)
    name = known[0] if view is None else view
    if name not in known:
        raise BadInput(f"There is no view {name!r}.", f"The catalog has {known}.")
    numbers_said = numbers("The vector", vector, catalog.views[name].dimensions)
    if not bearable(numbers_said):
        raise BadInput("The vector must hold finite numbers, and none beyond 1e100.")
    return name, tuple(map(float, numbers_said))


def view_of(catalog: Searchable, said: Say) -> int:
    """Return the place of the view in which words were said, if the catalog still has it."""
    view = catalog.views.get(said.view or "")
    if view is None or view.dimensions != len(said.vector):
        raise BadInput(
            f"The session has words in view {said.view!r} of {len(said.vector)} dimensions, "
            "which this catalog does not have.",
            "Open it with the catalog it was made with, or a later version of it.",
        )
    return list(catalog.views).index(view.name)
